"""How tool calls look: presenters, in a table by tool name.

A presenter is a function from a `ToolCall` to a `Presentation`, or `None` when the arguments are not the ones it
knows; the next link of the chain then has its turn. Ours are registered as anybody's are:

    @presenter("deploy", "ship")
    def deploy(call: ToolCall) -> Presentation | None:
        return Presentation(head("Deploy", call.text("target")))

A tool may bring a render spec instead, `render_spec("weather", {…})`: the same as data, without code.
"""

from collections.abc import Callable
from importlib import import_module

import msgspec

from vantage.events import Json
from vantage.text.spans import Line
from vantage.timeline.calls import ToolCall, normal_name
from vantage.timeline.row import Block, OutputBlock, Status


class Presentation(msgspec.Struct, frozen=True):
    """What a presenter says of a call; the timeline adds status, depth and time."""

    title: Line
    blocks: list[Block] = []
    status: Status | None = None
    """Set where the outcome is not simply whether the tool failed: a command's exit code, a test's result."""
    icon: str = ""
    icon_color: str = ""
    trailing: str = ""
    cut_title: str = ""
    """`tail` or `middle` cuts a head that is too long to one line; empty wraps it."""


Presenter = Callable[[ToolCall], Presentation | None]

_BUILT_IN = ("shell", "terminal", "files", "edits", "plan", "api", "knowledge", "forwarded", "generic")
_presenters: dict[str, Presenter] = {}
_loaded = False


def presenter(*names: str) -> Callable[[Presenter], Presenter]:
    """Registers a presenter for tools of these names. The last one registered for a name counts."""
    if not names or not all(name.strip() for name in names):
        raise ValueError("a presenter needs the name of at least one tool: @presenter('deploy')")

    def register(function: Presenter) -> Presenter:
        for name in names:
            _presenters[normal_name(name)] = function
        return function

    return register


def render_spec(tool: str, spec: Json) -> None:
    """Registers a render spec for tools of this name, in all conversations.

    It is read when the tool is first met; one that is refused is reported in the rows it would have drawn.
    """
    from vantage.timeline.specs.registry import COMMON  # noqa: PLC0415

    COMMON.offer(tool, spec)


def presenter_for(tool: str) -> Presenter | None:
    load_families()
    return _presenters.get(normal_name(tool))


_discovery: Callable[[], list[str]] | None = None


def set_discovery(load: Callable[[], list[str]]) -> None:
    """Sets what is asked, once, when a tool is met that nobody knows."""
    global _discovery  # noqa: PLW0603
    _discovery = load


def discover() -> list[str] | None:
    """Looks for extensions, the first time it is called: what went wrong, or `None` when there is nothing to ask."""
    global _discovery
    load, _discovery = _discovery, None
    return load() if load is not None else None


def load_families() -> None:
    """The built-in families register when the first call is drawn; what was registered before them stays."""
    global _loaded  # noqa: PLW0603
    if not _loaded:
        _loaded = True
        mine = dict(_presenters)
        for family in _BUILT_IN:
            import_module(f"vantage.timeline.tools.{family}")
        _presenters.update(mine)


def fits(call: ToolCall, required: dict[str, type | tuple[type, ...]], **optional: type | tuple[type, ...]) -> bool:
    """Whether a call's arguments have a presenter's shape.

    A call without arguments fits: the row shows what there is. Otherwise one of the required ones must be there, and
    none may be of another type than expected.
    """
    if call.raw_args in (None, "", {}):
        return True
    if not call.args:
        return False
    for name, value in call.args.items():
        expected = required.get(name) or optional.get(name)
        if expected is not None and value is not None and not isinstance(value, expected):
            return False
    return not required or not required.keys().isdisjoint(call.args)


def error_blocks(call: ToolCall) -> list[Block]:
    """The error line under a failed call: `Error: …`, in red."""
    if not call.failed:
        return []
    return [OutputBlock(f"Error: {call.error}" if call.error else "Error", error=True)]
