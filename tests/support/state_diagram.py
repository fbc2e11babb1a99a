"""A table of transitions as a Mermaid diagram: what the docs show of a state machine is made from its table."""

from collections.abc import Mapping
from enum import Enum


def state_id(state: Enum) -> str:
    """Mermaid takes no blanks here."""
    return state.name.lower()


def label(event: Enum) -> str:
    return event.name.lower().replace("_", " ")


def mermaid(initial: Enum, transitions: Mapping[Enum, Mapping[Enum, Enum]]) -> str:
    """One arrow for all events that lead from one state to another; `[*]` is where it begins."""
    lines = ["stateDiagram-v2", f"    [*] --> {state_id(initial)}"]
    for state, row in transitions.items():
        for after in dict.fromkeys(row.values()):
            events = ", ".join(label(event) for event, target in row.items() if target is after)
            lines.append(f"    {state_id(state)} --> {state_id(after)}: {events}")
    return "\n".join(lines)
