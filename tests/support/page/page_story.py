"""A conversation to look at: an agent mends an importer, runs its tests in a real shell, and opens an editor."""

import json
import time
from pathlib import Path
from typing import Any

from page_home import say
from places import ROOT
from server_home import Server
from terminal_home import environment

START = round(time.time() * 1000) - 180_000
"""A little before the commands, so that the pictures show one story."""
ROWS_PY = '''\
"""Rows of a CSV file, read as a stream."""

from importer.cells import parse


def read_rows(stream, size=65536):
    """Yields every row, the last one too when no newline ends it."""
    buffer = ""
    while chunk := stream.read(size):
        buffer += chunk
        *lines, buffer = buffer.split("\\n")
        for line in lines:
            yield parse(line)
    if buffer:
        yield parse(buffer)
'''
TEST_RUN = r"""
print("\033[1m============================= test session starts ==============================\033[0m")
print("collected 48 items\n")
for name, dots in (("test_cells", 21), ("test_encodings", 9), ("test_rows", 18)):
    print(f"tests/{name}.py " + "\033[32m" + "." * dots + "\033[0m")
line = "=" * 30
print(f"\n\033[32m{line} \033[1m48 passed\033[0m\033[32m in 0.31s {line}\033[0m")
"""
TABLE = """\
The importer keeps the last row now, with or without a newline at its end.

| File | Change | Tests |
|---|---|--:|
| `importer/rows.py` | flushes its buffer at the end of the stream | 2 |
| `tests/test_rows.py` | new | 2 |

1. Nothing else reads the buffer, so **no caller changes**.
2. Files of several gigabytes are still read chunk by chunk.

```python
if buffer:
    yield parse(buffer)
```
"""


def events() -> list[dict[str, Any]]:
    """What the agent says, in the order of time: the sample conversation up to its last answer, and another one."""
    told = [json.loads(line) for line in (ROOT / "examples/conversation.jsonl").read_text().splitlines()]
    answers = [n for n, event in enumerate(told) if event["type"] == "assistant_text"]
    story = [*told[: answers[-1]], {"type": "assistant_text", "text": TABLE}]
    return [{**event, "ts": START + 1200 * n} for n, event in enumerate(story)]


def project(folder: Path) -> Path:
    """The files that the commands are about."""
    place = folder / "importer-project"
    for name, text in {"importer/rows.py": ROWS_PY, "importer/cells.py": "", "tests/run.py": TEST_RUN}.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place


def tell(server: Server, folder: Path) -> str:
    """The conversation, in a home of its own; gives its id."""
    place = project(folder)
    home = folder / "user"
    home.mkdir()
    (home / ".bashrc").write_text("PS1='\\[\\e[34m\\]importer\\[\\e[0m\\] $ '\n")
    env = environment(HOME=str(home))
    for name, title in (("docs", "Write the release notes"), ("flaky", "Find the flaky test")):
        made = {"id": name, "name": title, "cwd": str(place), "env": env}
        assert server.post("/v1/conversations", made).status == 201
    server.pty("flaky", "exec_block", command="while sleep 0.2; do :; done", timeout_ms=0)
    say(server, "docs", {"type": "user_message", "text": "Write the release notes of 4.2.", "ts": START})
    made = {"id": "importer", "name": "Fix the CSV importer", "cwd": str(place), "env": env}
    assert server.post("/v1/conversations", {**made, "cols": 100, "rows": 28}).status == 201
    say(server, "importer", *events())
    server.pty("importer", "exec_block", command="ls -F --color=always importer tests")
    server.pty("importer", "exec_block", command="grep -rn 'flush_buffer' importer")
    server.pty("importer", "exec_block", command="python3 tests/run.py")
    return "importer"
