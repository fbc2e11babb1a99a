"""The chain that turns a call into a presentation: native presenter → render spec → forwarded ANSI → generic."""

from collections.abc import Callable

from vantage.timeline.calls import ToolCall, is_foreign, normal_name
from vantage.timeline.specs.model import RenderSpec
from vantage.timeline.tools import Presentation, Presenter, presenter_for
from vantage.timeline.tools.forwarded import forwarded
from vantage.timeline.tools.generic import generic

Link = Callable[[ToolCall], Presentation | None]

_SPEC_FIRST = frozenset({"search", "grep", "glob", "task", "spawn_agent"})
"""Names so common that whoever brings a spec for one knows better than our presenter."""


def present(call: ToolCall, spec: RenderSpec | None = None) -> tuple[Presentation, list[str]]:
    """The call by the first link that knows it, and why earlier ones did not serve."""
    notes: list[str] = []
    for link in _links(call, spec, notes):
        try:
            shown = link(call)
        except Exception as error:  # noqa: BLE001 -- one presenter's bug must not take the transcript down
            name = getattr(link, "__name__", repr(link))
            notes.append(f"presenter {name} failed on {call.tool}: {type(error).__name__}: {error}")
            continue
        if shown is not None:
            return shown, notes
    return generic(call), notes


def _links(call: ToolCall, spec: RenderSpec | None, notes: list[str]) -> list[Link]:
    native: Presenter | None = presenter_for(call.tool)
    if spec is None:
        return [native, forwarded] if native else [forwarded]
    described = _by_spec(spec, notes)
    if native is None:
        return [described, forwarded]
    name = normal_name(call.tool)
    if is_foreign(call.tool) or name in _SPEC_FIRST or name.startswith("web"):
        return [described, native, forwarded]
    return [native, described, forwarded]


def _by_spec(spec: RenderSpec, notes: list[str]) -> Link:
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
