"""The chain that turns a call into a presentation: native presenter → render spec → forwarded ANSI → generic."""

from vantage.timeline.calls import ToolCall, is_foreign, normal_name
from vantage.timeline.specs.model import RenderSpec
from vantage.timeline.tools import Presentation, Presenter
from vantage.timeline.tools.forwarded import forwarded
from vantage.timeline.tools.generic import generic

_SPEC_FIRST = frozenset({"search", "grep", "glob", "task", "spawn_agent"})
"""Names that many tools have: a spec for one of them is more precise than our presenter."""


def present(
    call: ToolCall, native: Presenter | None = None, spec: RenderSpec | None = None
) -> tuple[Presentation, list[str]]:
    """The call, drawn by the first link that can, and why earlier links could not."""
    notes: list[str] = []
    for link in _links(call, native, spec, notes):
        try:
            shown = link(call)
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- an error in a presenter affects only its own rows
            name = getattr(link, "__name__", repr(link))
            notes.append(f"presenter {name} failed on {call.tool}: {type(error).__name__}: {error}")
            continue
        if shown is not None:
            return shown, notes
    return generic(call), notes


def _links(call: ToolCall, native: Presenter | None, spec: RenderSpec | None, notes: list[str]) -> list[Presenter]:
    if spec is None:
        return [native, forwarded] if native else [forwarded]
    described = _by_spec(spec, notes)
    if native is None:
        return [described, forwarded]
    if spec_comes_first(call.tool):
        return [described, native, forwarded]
    return [native, described, forwarded]


def spec_comes_first(tool: str) -> bool:
    """Whether a render spec of the tool is used before a native presenter."""
    name = normal_name(tool)
    return is_foreign(tool) or name in _SPEC_FIRST or name.startswith("web")


def _by_spec(spec: RenderSpec, notes: list[str]) -> Presenter:
    def described(call: ToolCall) -> Presentation | None:
        from vantage.timeline.specs.resolve import resolve  # noqa: PLC0415 -- most conversations have no specs
        from vantage.timeline.specs.scope import UnsupportedError  # noqa: PLC0415

        try:
            shown, missing = resolve(spec, call)
        except UnsupportedError as error:
            notes.append(f"the render spec of {call.tool} needs a newer version: {error}")
            return None
        notes.extend(missing)
        return shown

    return described
