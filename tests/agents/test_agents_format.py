"""`vantage format --from …`, run as people run it: on every agent's stream, in a pipe and while it is written."""

import json
import os
import subprocess

import pytest

from agent_streams import FOLDER, STREAMS, name_of, page, read
from terminals import VANTAGE, Terminal
from vantage.agents import SOURCES

FIRST = sorted(
    {path.parent.name: path for path in STREAMS if path.stem in ("recorded", "everything", "gemini")}.items()
)


def run(data: bytes, *options: str) -> subprocess.CompletedProcess:
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "HOME": "/nonexistent"}
    return subprocess.run([*VANTAGE, "format", *options], input=data, capture_output=True, env=environment, timeout=60)


def rows(text: str) -> set[str]:
    return set(text.strip("\n").split("\n\n"))


@pytest.mark.parametrize(
    ("source", "path"), FIRST, ids=lambda value: value if isinstance(value, str) else name_of(value)
)
def test_a_stream_is_shown(source, path):
    shown = run(path.read_bytes(), "--width", "100", "-v")
    assert shown.returncode == 0
    assert shown.stderr == b""
    seen = "\n\n".join(
        row for row in page(read(path.read_bytes())).split("\n\n") if not row.startswith("turn complete")
    )
    assert rows(shown.stdout.decode()) == rows(seen)
    named = run(path.read_bytes(), "--width", "100", "-v", "--from", source)
    assert named.stdout == shown.stdout


def test_all_agents_are_shown_here():
    assert {source for source, _ in FIRST} == set(SOURCES) - {"auto", "vantage"}


def test_unknown_messages_of_an_agent_are_counted_and_shown_on_request():
    data = (FOLDER / "claude/everything.jsonl").read_bytes()
    done = run(data)
    assert done.stderr.decode() == "vantage format: 2 messages of unknown type not shown: -v shows them\n"
    assert b"hologram" not in done.stdout
    assert b"Event system/aurora" in run(data, "-v").stdout


def test_a_wrong_name_gets_a_hint():
    done = run((FOLDER / "codex/refused.jsonl").read_bytes(), "--from", "claude")
    assert done.returncode == 0
    assert "--from codex may know them" in done.stderr.decode()


def test_a_name_that_does_not_exist():
    done = run(b"", "--from", "clade")
    assert done.returncode == 2
    for source in SOURCES:
        assert source in done.stderr.decode()


def test_a_stream_is_shown_while_it_is_written():
    started = {
        "id": "item_0",
        "type": "command_execution",
        "command": "make",
        "aggregated_output": "",
        "status": "in_progress",
    }
    ended = {**started, "aggregated_output": "built\n", "exit_code": 0, "status": "completed"}
    reader, writer = os.pipe()
    terminal = Terminal([*VANTAGE, "format"], columns=60, lines=12, stdin=reader)
    os.close(reader)
    for message in ({"type": "thread.started", "thread_id": "t"}, {"type": "item.started", "item": started}):
        os.write(writer, json.dumps(message).encode() + b"\n")
    terminal.wait_for(lambda t: t.shown == ["• Running make"])
    os.write(writer, json.dumps({"type": "item.completed", "item": ended}).encode() + b"\n")
    terminal.wait_for(lambda t: t.shown == ["• Ran make", "  └ built"])
    os.close(writer)
    assert terminal.finish() == 0


def test_a_reply_is_shown_while_it_streams():
    lines = (FOLDER / "claude/cut-off.jsonl").read_bytes().splitlines(keepends=True)
    reader, writer = os.pipe()
    terminal = Terminal([*VANTAGE, "format"], columns=60, lines=12, stdin=reader)
    os.close(reader)
    os.write(writer, b"".join(lines[:4]))
    terminal.wait_for(lambda t: t.shown == ["• Running"])
    os.write(writer, lines[4])
    terminal.wait_for(lambda t: t.shown == ["• Running the build."])
    os.write(writer, b"".join(lines[5:]))
    os.close(writer)
    assert terminal.finish() == 0
    assert terminal.shown.count("• Running the build.") == 1, "the whole message after its deltas is no second one"


@pytest.mark.parametrize("surface", ["html", "telegram", "slack", "plain"])
def test_every_surface_shows_a_stream(surface):
    done = run((FOLDER / "opencode/recorded.jsonl").read_bytes(), "--surface", surface)
    assert done.returncode == 0
    assert b"The total includes the tax now." in done.stdout


def test_the_page_about_agents_names_every_stream():
    text = (FOLDER.parents[2] / "docs/agents.md").read_text()
    for source in SOURCES:
        assert f"`{source}`" in text or f"--from {source}" in text
