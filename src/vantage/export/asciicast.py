"""A terminal as an asciicast (version 3), which asciinema and its web player show."""

import json
from collections.abc import Iterator

from vantage.conversation.files import ConversationFolder, Settings
from vantage.export.recording import Moment, moments

MOST_MARKER = 200

# Kinds of moments → the codes of events. An exit is the last event: shells that ended before are marked.
_CODES = {"output": "o", "resize": "r", "marker": "m", "gap": "m"}


def asciicast(folder: ConversationFolder, settings: Settings) -> Iterator[str]:
    """The lines of the file."""
    steps = moments(folder)
    first = next((step for step in steps if step.kind == "resize"), None)
    cols, rows = map(int, first.text.split("x")) if first else (settings.cols, settings.rows)
    header = {
        "version": 3,
        "term": {"cols": cols, "rows": rows, "type": "xterm-256color"},
        "timestamp": (first.ms if first else settings.created) // 1000,
        "title": settings.name or settings.id,
        "env": {"SHELL": settings.shell},
    }
    yield json.dumps(header, ensure_ascii=False)
    last = first.ms if first else 0
    size = first.text if first else ""
    ended: Moment | None = None
    for step in steps:
        if ended is not None:
            yield _event(last, ended.ms, "m", f"the shell ended ({ended.text}); a fresh one follows")
            last, ended = ended.ms, None
        if step.kind == "exit":
            ended = step
            continue
        if step.kind == "resize":
            if step.text == size:
                continue
            size = step.text
        text = step.text if step.kind == "output" else step.text.replace("\n", " ⏎ ")[:MOST_MARKER]
        yield _event(last, step.ms, _CODES[step.kind], text)
        last = step.ms
    if ended is not None:
        yield _event(last, ended.ms, "x", ended.text)


def _event(last: int, now: int, code: str, data: str) -> str:
    return json.dumps([round((now - last) / 1000, 3), code, data], ensure_ascii=False)
