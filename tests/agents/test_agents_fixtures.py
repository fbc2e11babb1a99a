"""Other agents' streams, recorded and written, beside what a person sees of them.

`VANTAGE_GOLDEN=write make test` writes the pages anew; `make record` records the streams anew.
"""

import os
import re

import pytest

from agent_streams import FOLDER, STREAMS, events, name_of, page, read
from vantage import Timeline
from vantage import events as ev
from vantage.agents import SOURCES, StrayLine, StreamReader
from vantage.events import encode_event

RECORDED = {"claude/recorded", "codex/recorded", "gemini/recorded", "opencode/recorded", "pi/recorded", "acp/gemini"}

streams = pytest.mark.parametrize("path", STREAMS, ids=name_of)


def test_every_agent_has_streams():
    assert {path.parent.name for path in STREAMS} == set(SOURCES) - {"auto", "vantage"}
    assert {name_of(path) for path in STREAMS} >= RECORDED


@streams
def test_a_person_sees(path):
    shown = page(read(path.read_bytes()))
    expected = path.with_suffix(".txt")
    if os.environ.get("VANTAGE_GOLDEN") == "write":
        expected.write_text(shown)
    assert shown == expected.read_text()


@streams
def test_the_stream_is_recognised_by_its_first_message_and_by_no_other_agents(path):
    reader = StreamReader()
    lines = path.read_bytes().splitlines(keepends=True)
    reader.feed(lines[0])
    assert reader.source == path.parent.name
    for line in lines:
        alone = StreamReader()
        alone.feed(line)
        assert alone.source in (None, path.parent.name), line
    assert read(path.read_bytes(), path.parent.name) == read(path.read_bytes())


@streams
def test_it_makes_no_difference_how_the_bytes_are_cut(path):
    data = path.read_bytes()
    reader = StreamReader()
    items = [item for index in range(len(data)) for item in reader.feed(data[index : index + 1])]
    assert [*items, *reader.finish()] == read(data)


@streams
def test_the_stream_may_end_after_any_line(path):
    lines = path.read_bytes().splitlines(keepends=True)
    whole = StreamReader()
    so_far: list = []
    for number, line in enumerate(lines):
        reader = StreamReader()
        assert reader.feed(b"".join(lines[:number])) == so_far, "what was said is not taken back"
        items = [*so_far, *reader.finish()]
        begun = {item.tool_call_id for item in items if isinstance(item, ev.ToolStart)}
        over = {item.tool_call_id for item in items if isinstance(item, ev.ToolEnd)}
        timeline = Timeline()
        for item in events(items):
            timeline.add(item)
        running = [row for row in timeline.rows if row.kind == "tool" and row.status == "running"]
        assert len(running) == len(begun - over), "open calls are shown"
        so_far += whole.feed(line)


@streams
def test_the_stream_may_end_within_a_line(path):
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.strip()]
    half = b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2]
    items = read(half)
    assert events(items) == events(read(b"".join(lines[:-1])))
    assert [item.number for item in items if isinstance(item, StrayLine)] == [len(lines)]


@streams
def test_noise_between_lines_changes_nothing(path):
    clean = [line for line in path.read_bytes().split(b"\n") if line.strip()]
    noise = [b"DEBUG 12:00 connecting", b"", clean[0][: len(clean[0]) // 2], b"[1, 2]", b"\xff\xfe{", b'"text"', b"   "]
    noisy = b"\n".join(part for index, line in enumerate(clean) for part in (noise[index % len(noise)], line))
    assert events(read(noisy)) == events(read(b"\n".join(clean)))


@streams
def test_a_window_title_before_a_message_is_no_part_of_it(path):
    clean = [line for line in path.read_bytes().split(b"\n") if line.startswith(b"{")]
    titled = b"\r\n".join(b"\x1b]0;working\x07\x1b[0m" + line for line in clean)
    assert read(titled) == read(b"\n".join(clean))


@streams
def test_no_secret_is_repeated(path):
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(len(lines) + 1):
        for item in read(b"".join(lines[:number])) if b"pty_send" in b"".join(lines) else []:
            said = item.text.encode() if isinstance(item, StrayLine) else encode_event(item)
            assert b"correct horse" not in said
            assert b"open sesame" not in said


@streams
def test_calls_begin_once_and_end_once(path):
    for kind in (ev.ToolStart, ev.ToolEnd):
        ids = [item.tool_call_id for item in read(path.read_bytes()) if isinstance(item, kind)]
        assert len(ids) == len(set(ids))
    assert all(item.tool_call_id for item in read(path.read_bytes()) if isinstance(item, ev.ToolStart | ev.ToolEnd))


def test_our_terminal_looks_the_same_whichever_agent_drives_it():
    """Claude Code and Codex keep the fields of a result, Gemini and opencode its text, which is shown as it is."""
    told = {
        name: re.sub(r"\A› .*\n\n|\nturn complete: .*\n\Z", "", (FOLDER / name / "pty.txt").read_text())
        for name in ("claude", "codex", "gemini", "opencode")
    }
    assert sorted(path.parent.name for path in FOLDER.glob("*/pty.txt")) == list(told)
    assert told["claude"] == told["codex"]
    assert told["gemini"] == told["opencode"]
    assert "• Typed a secret\n" in told["claude"]
    titles = {name: re.findall(r"^• .*?(?=$| {5})", page, re.MULTILINE) for name, page in told.items()}
    assert titles["claude"] == titles["gemini"]


def test_recordings_say_nothing_of_the_machine_they_were_made_on():
    for path in STREAMS:
        text = path.read_text()
        assert not re.search(r"/(?:tmp|root|work|Users)/", text), path
        assert set(re.findall(r"/home/(\w+)", text)) <= {"ann"}, path
        assert set(re.findall(r"127\.0\.0\.1:(\d+)", text)) <= {"8080"}, path
