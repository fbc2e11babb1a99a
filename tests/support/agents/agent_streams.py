"""The recorded and written streams of agents, and how tests read them."""

import json
from pathlib import Path

from places import FIXTURES
from vantage import Formatter, FormatterConfig, Timeline
from vantage.agents import StrayLine, StreamReader
from vantage.events import TurnComplete

FOLDER = FIXTURES / "agents"
STREAMS = sorted(FOLDER.glob("*/*.jsonl"))
WIDTH = 100


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def read(data: bytes, source: str = "auto") -> list:
    reader = StreamReader(source)
    return [*reader.feed(data), *reader.finish()]


def events(items: list) -> list:
    return [item for item in items if not isinstance(item, StrayLine)]


def page(items: list) -> str:
    """What a person sees, and below it how the turns ended, which is not shown."""
    timeline, formatter = Timeline(), Formatter(FormatterConfig(plain_text=True))
    turns = []
    for item in items:
        if isinstance(item, StrayLine):
            timeline.add({"type": "assistant_text", "text": item.text})
            continue
        timeline.add(item)
        if isinstance(item, TurnComplete):
            turns.append(f"turn complete: {item.finish} {json.dumps(item.usage)}")
    rows = [formatter.format_row(row, WIDTH) for row in timeline.rows]
    return "\n\n".join([*rows, *turns]) + "\n"
