"""How tool calls look: presenters, and the helpers that they share.

A presenter is a function from a `ToolCall` to a `Presentation`. It returns `None` when the arguments do not have the
shape that it expects; the next link of the chain is asked then. `@presenter` says which tools a function draws:

    @presenter("deploy", "ship")
    def deploy(call: ToolCall) -> Presentation | None:
        return Presentation(head("Deploy", call.text("target")))

Nothing is registered by that. A `ToolRegistry` is made of presenters and render specs, and given to a timeline:
`Timeline(ToolRegistry(deploy))`. The built-in presenters are declared the same way.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from vantage.text.spans import Line
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import Block, OutputBlock, Status


class Presentation(msgspec.Struct, frozen=True):
    """What a presenter returns for a call; the timeline adds status, depth and time."""

    title: Line
    blocks: list[Block] = []
    status: Status | None = None
    """Set if the outcome is not just whether the tool failed: a command's exit code, a test's result."""
    icon: str = ""
    icon_color: str = ""
    trailing: str = ""
    cut_title: str = ""
    """`tail` or `middle` cuts a head that is too long to one line; empty wraps it."""


Presenter = Callable[[ToolCall], Presentation | None]


@dataclass(frozen=True, slots=True)
class ToolPresenter:
    """A presenter and the names of the tools that it draws."""

    names: tuple[str, ...]
    function: Presenter

    def __call__(self, call: ToolCall) -> Presentation | None:
        return self.function(call)


def presenter(*names: str) -> Callable[[Presenter], ToolPresenter]:
    """Declares a function as the presenter of tools with these names."""
    if not names or not all(name.strip() for name in names):
        raise ValueError("a presenter needs the name of at least one tool: @presenter('deploy')")
    return lambda function: ToolPresenter(names, function)


def fits(call: ToolCall, required: dict[str, type | tuple[type, ...]], **optional: type | tuple[type, ...]) -> bool:
    """Whether a call's arguments have a presenter's shape.

    A call without arguments fits: the row shows what there is. Otherwise one of the required ones must exist, and none
    may be of another type than expected.
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
