"""Extensions that are installed beside us: entry points of the group `vantage.tools`, one per tool.

An entry point is named after its tool and leads to a render spec (a dict) or a presenter (a function). They are looked
for when a tool is met that nobody knows: reading what is installed takes longer than most programs' whole output.
"""

from typing import Any

from vantage.timeline import tools

GROUP = "vantage.tools"


def install() -> None:
    """Lets unknown tools be looked for among the installed extensions."""
    tools.set_discovery(load)


def load() -> list[str]:
    """Registers every installed extension. Returns what went wrong, a line each; a broken one is passed over."""
    from importlib.metadata import entry_points  # noqa: PLC0415

    problems = []
    for point in entry_points(group=GROUP):
        try:
            _register(point.name, point.load())
        except Exception as error:  # noqa: BLE001 -- an extension's bug must not take the others down
            problems.append(f"extension {point.name} ({point.value}) was not loaded: {type(error).__name__}: {error}")
    return problems


def _register(name: str, thing: Any) -> None:
    if isinstance(thing, dict):
        tools.render_spec(name, thing)
    elif callable(thing):
        tools.presenter(name)(thing)
    else:
        raise TypeError(f"expected a render spec (a dict) or a presenter (a function), got {type(thing).__name__}")
