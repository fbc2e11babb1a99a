"""Installed extensions: entry points of the group `vantage.tools`, one per tool.

An entry point is named after its tool and leads to a render spec (a dict) or a presenter (a function, or one declared
with `@presenter`, which draws the tools that it names as well). They are loaded at the first unknown tool, because
listing installed packages takes longer than most programs' whole output.
"""

from collections.abc import Callable
from typing import Any

from vantage.timeline.tools import ToolPresenter
from vantage.timeline.tools.registry import ToolRegistry

GROUP = "vantage.tools"


def installed(report: Callable[[str], None] = lambda _: None) -> ToolRegistry:
    """A registry that loads the extensions when it is asked for an unknown tool.

    `report` gets a line for each extension that could not be loaded.
    """

    def discover(tools: ToolRegistry) -> list[str]:
        problems = load(tools)
        for problem in problems:
            report(problem)
        return problems

    return ToolRegistry(discovery=discover)


def load(tools: ToolRegistry) -> list[str]:
    """Adds every extension to a registry. Returns a line for each that cannot be loaded; the others are added."""
    from importlib.metadata import entry_points  # noqa: PLC0415

    problems = []
    for point in entry_points(group=GROUP):
        try:
            _add(tools, point.name, point.load())
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- an error or a sys.exit of one extension must not affect the others
            problems.append(f"extension {point.name} ({point.value}) was not loaded: {type(error).__name__}: {error}")
    return problems


def _add(tools: ToolRegistry, name: str, thing: Any) -> None:
    if isinstance(thing, dict):
        tools.render_spec(name, thing)
    elif isinstance(thing, ToolPresenter):
        tools.add(ToolPresenter((name, *thing.names), thing.function))
    elif callable(thing):
        tools.add(ToolPresenter((name,), thing))
    else:
        raise TypeError(f"expected a render spec (a dict) or a presenter (a function), got {type(thing).__name__}")
