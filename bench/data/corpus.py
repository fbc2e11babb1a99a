"""What is measured: one conversation, long messages, wide tables. Made up, but the same every time.

`write` puts it all into files, which ours and the peers read: both get the same bytes.
"""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from bench.data import prose

EVENTS = 2_000
START = 20_000
SMALL = 100_000
LARGE = 1_000_000
CHUNKS = 2_000
"""Pieces that `SMALL` characters arrive in; `START` and `LARGE` ones come in pieces of the same size."""
TABLES = 40

Json = dict[str, Any]


def message(size: int, seed: int = 1) -> str:
    """Markdown of at least `size` bytes of UTF-8, ending with a whole block."""
    rng = Random(seed)
    blocks: list[str] = []
    length = 0
    while length < size:
        blocks.append(prose.block(rng))
        length += len(blocks[-1].encode()) + 2
    return "\n\n".join(blocks) + "\n"


def chunks(text: str, count: int) -> list[str]:
    """A text in pieces of (almost) equal length, as a model streams it."""
    cuts = [index * len(text) // count for index in range(count + 1)]
    return [text[start:end] for start, end in pairwise(cuts)]


def first_chunks(folder: Path) -> list[str]:
    """The beginning of the small message, as it streams."""
    return chunks((folder / "small.md").read_text()[:START], CHUNKS * START // SMALL)


def tables(seed: int = 2) -> list[list[list[str]]]:
    """Tables too wide for a narrow window, the header first."""
    rng = Random(seed)
    return [prose.cells(rng, rng.randint(5, 9), rng.randint(6, 16)) for _ in range(TABLES)]


def tables_source(found: list[list[list[str]]]) -> str:
    return "\n\n".join([prose.table_source(table) for table in found]) + "\n"


def conversation(count: int = EVENTS, seed: int = 3) -> list[Json]:
    """Events as an agent sends them: turns of thinking, tool calls and messages, some of them a sub-agent's."""
    rng = Random(seed)
    events: list[Json] = []
    while len(events) < count:
        for event in _turn(rng):
            number = len(events) + 1
            events.append({**event, "seq": number, "ts": 1_700_000_000_000 + 850 * number})
    return events[:count]


def _turn(rng: Random) -> Iterator[Json]:
    yield {"type": "user_message", "text": prose.prose(rng, 1, 3)}
    for _ in range(rng.randint(2, 6)):
        if rng.random() < 0.6:
            yield {"type": "assistant_reasoning", "text": _reasoning(rng)}
        agent = {"id": prose.name(rng), "name": "explorer", "depth": 1} if rng.random() < 0.15 else None
        for event in _calls(rng):
            yield {**event, "agent": agent} if agent else event
        if rng.random() < 0.5:
            yield {"type": "assistant_text", "text": prose.prose(rng, 1, 2)}
    yield {"type": "assistant_text", "text": "\n\n".join([prose.block(rng) for _ in range(rng.randint(3, 9))])}
    if rng.random() < 0.1:
        yield {"type": rng.choice(("error", "warning", "canceled")), "message": prose.sentence(rng)}
    yield {"type": "turn_complete", "usage": {"output_tokens": rng.randint(100, 4000)}}


def _reasoning(rng: Random) -> str:
    summary = f"**{prose.heading(rng).lstrip('# ')}**\n\n" if rng.random() < 0.5 else ""
    return summary + prose.prose(rng, 2, 5)


def _calls(rng: Random) -> Iterator[Json]:
    for _ in range(rng.randint(1, 4)):
        make = rng.choices(list(_TOOLS), weights=list(_TOOLS.values()))[0]
        tool, args, end = make(rng)
        call = f"call_{rng.randrange(1 << 40):x}"
        yield {"type": "tool_start", "tool": tool, "toolCallId": call, "args": args}
        yield {"type": "tool_end", "tool": tool, "toolCallId": call, "durationMs": rng.randint(3, 9000), **end}


def _shell(rng: Random) -> tuple[str, Json, Json]:
    command = f"pytest -q {prose.path(rng)} -k {prose.name(rng)} && git diff --stat HEAD~{rng.randint(1, 9)}"
    lines = [_printed(rng) for _ in range(rng.choice((1, 3, 8, 40)))]
    code = rng.choice((0, 0, 0, 1))
    return "shell", {"command": ["bash", "-lc", command]}, {"output": "\n".join(lines), "details": {"exit_code": code}}


def _printed(rng: Random) -> str:
    if rng.random() < 0.5:
        return f"{prose.path(rng)}:{rng.randint(1, 900)}: {prose.sentence(rng)}"
    return f"{prose.name(rng):<44} {rng.uniform(0, 9):.3f}s  {rng.randint(0, 100)}%"


def _read(rng: Random) -> tuple[str, Json, Json]:
    if rng.random() < 0.1:
        return "read_file", {"path": prose.path(rng)}, {"isError": True, "error": "No such file or directory"}
    return "read_file", {"path": prose.path(rng)}, {"output": prose.code(rng)}


def _list(rng: Random) -> tuple[str, Json, Json]:
    return "ls", {"path": prose.path(rng).rpartition("/")[0] or "."}, {"output": "\n".join([prose.path(rng)] * 9)}


def _search(rng: Random) -> tuple[str, Json, Json]:
    found = [f"{prose.path(rng)}:{rng.randint(1, 900)}:{prose.sentence(rng)}" for _ in range(rng.randint(1, 20))]
    return "grep", {"pattern": prose.name(rng), "path": "src"}, {"output": "\n".join(found)}


def _edit(rng: Random) -> tuple[str, Json, Json]:
    old = prose.code(rng, "python").splitlines()
    new = [line.replace("results", "found") if rng.random() < 0.3 else line for line in old]
    args = {"file_path": prose.path(rng), "old_string": "\n".join(old), "new_string": "\n".join(new)}
    return "edit", args, {"output": "ok"}


def _patch(rng: Random) -> tuple[str, Json, Json]:
    start = rng.randint(1, 2000)
    lines = prose.code(rng, "go").splitlines()
    body = [f"{rng.choices(' +-', weights=(4, 2, 1))[0]}{line}" for line in lines]
    old, new = (sum(line[0] != sign for line in body) for sign in "+-")
    path = prose.path(rng)
    patch = [f"--- a/{path}", f"+++ b/{path}", f"@@ -{start},{old} +{start},{new} @@", *body]
    return "apply_patch", {"patch": "\n".join(patch)}, {"output": "Done!"}


def _plan(rng: Random) -> tuple[str, Json, Json]:
    count, done = rng.randint(3, 8), rng.randint(0, 3)
    steps = [
        {"step": prose.sentence(rng), "status": "completed" if index < done else "pending"} for index in range(count)
    ]
    return "update_plan", {"explanation": prose.sentence(rng), "plan": steps}, {"output": "Plan updated"}


def _unknown(rng: Random) -> tuple[str, Json, Json]:
    args = {"project": prose.name(rng), "labels": ["bug", "p1"], "limit": rng.randint(1, 50)}
    answer = {"items": [{"id": rng.randrange(10_000), "title": prose.sentence(rng)} for _ in range(rng.randint(1, 5))]}
    return "mcp__tracker__list_issues", args, {"output": json.dumps(answer)}


_TOOLS: dict[Callable[[Random], tuple[str, Json, Json]], int] = {
    _shell: 30,
    _read: 20,
    _list: 6,
    _search: 10,
    _edit: 12,
    _patch: 8,
    _plan: 6,
    _unknown: 8,
}
"""A call's maker → how often it is made."""


WEATHER = {
    "collapsed": {
        "icon": "cloud.sun", "iconColor": "cyan", "title": '{{args.location | default:"current"}}',
        "trailing": '{{output.temperature | default:"…"}}',
    },
    "expanded": {
        "blocks": [
            {"type": "kv", "pairs": [
                {"key": name.title(), "value": f"{{{{output.{name}}}}}"}
                for name in ("location", "temperature", "conditions", "wind")
            ]},
            {"type": "markdown", "content": "{{output.forecast}}"},
            {"type": "badges", "items": "{{args.tags}}", "color": "blue"},
        ]
    },
}  # fmt: skip
RESULTS = {
    "collapsed": {
        "icon": "magnifyingglass", "iconColor": "green", "title": '"{{args.query | truncate:60}}"',
        "trailing": "{{output.results | count}} results",
    },
    "expanded": {
        "blocks": [
            {"type": "list", "items": "{{output.results}}", "titleField": "title", "subtitleField": "url"}
        ]
    },
}  # fmt: skip


def spec_calls(count: int = 1000) -> list[dict[str, Json]]:
    """Calls of two tools that bring render specs: a few values and a text, and a list of results."""
    random = Random(11)
    calls: list[dict[str, Json]] = []
    for number in range(count):
        if number % 2:
            results = [{"title": prose.sentence(random), "url": f"https://example.com/{n}"} for n in range(8)]
            calls.append({"tool": "find", "args": {"query": prose.sentence(random)}, "output": {"results": results}})
        else:
            output = {"location": "Seattle", "temperature": f"{number % 30} °C", "conditions": "rain", "wind": "5 kn",
                      "forecast": f"**Later** {prose.sentence(random)}"}  # fmt: skip
            calls.append({"tool": "sky", "args": {"location": "Seattle", "tags": ["now", "wet"]}, "output": output})
    return calls


def write(folder: Path) -> None:
    """Everything, as files."""
    events = [json.dumps(event, ensure_ascii=False) for event in conversation()]
    wide = tables()
    files = {
        "conversation.jsonl": "\n".join(events) + "\n",
        "short.jsonl": "\n".join(events[:12]) + "\n",
        "small.md": message(SMALL),
        "large.md": message(LARGE),
        "tables.json": json.dumps(wide),
        "tables.md": tables_source(wide),
        "calls.json": json.dumps(spec_calls()),
    }
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")


FLOOD = 200 << 20


def flood_file(corpus: Path) -> Path:
    """200 MB of a log, made once."""
    path = corpus / "flood.log"
    if not path.exists() or path.stat().st_size < FLOOD:
        line = "2026-11-15 12:00:00 INFO worker-{} handled request {} in {} ms\n"
        block = "".join(line.format(n % 7, n, n % 311) for n in range(20_000)).encode()
        path.write_bytes((block * (FLOOD // len(block) + 1))[:FLOOD])
    return path
