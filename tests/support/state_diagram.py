"""A table of transitions as a Mermaid diagram: what the docs show of a state machine is made from its table."""

from collections.abc import Mapping
from enum import Enum


def word(member: Enum) -> str:
    return member.name.lower().replace("_", " ")


def mermaid(initial: Enum, transitions: Mapping[Enum, Mapping[Enum, Enum]]) -> str:
    """One arrow for all events that lead from one state to another; `[*]` is where it begins."""
    lines = ["stateDiagram-v2", f"    [*] --> {word(initial)}"]
    for state, row in transitions.items():
        for after in dict.fromkeys(row.values()):
            events = ", ".join(word(event) for event, target in row.items() if target is after)
            lines.append(f"    {word(state)} --> {word(after)}: {events}")
    return "\n".join(lines)
