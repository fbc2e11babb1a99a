"""`vantage format`, run as people run it: in a pipe, and in a terminal."""

import json
import os
import re
import subprocess

import pytest

from terminals import VANTAGE, Terminal

START = {"type": "tool_start", "tool": "shell", "toolCallId": "1", "args": {"command": "make"}}
OTHER = {"type": "tool_start", "tool": "shell", "toolCallId": "2", "args": {"command": "lint"}}
END = {"type": "tool_end", "toolCallId": "1", "output": "built\n"}
OTHER_END = {"type": "tool_end", "toolCallId": "2", "output": "clean\n"}
TEXT = {"type": "assistant_text", "text": "All **done**, and this sentence is long enough to be wrapped somewhere."}


def lines(*events: dict | str) -> bytes:
    return b"".join((event if isinstance(event, str) else json.dumps(event)).encode() + b"\n" for event in events)


def run(data: bytes, *options: str, **env: str) -> subprocess.CompletedProcess:
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "HOME": "/nonexistent", **env}
    return subprocess.run([*VANTAGE, "format", *options], input=data, capture_output=True, env=environment, timeout=60)


def out(*args: str, data: bytes, **env: str) -> str:
    done = run(data, *args, **env)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_a_pipe_gets_each_call_once_when_it_completes():
    assert out(data=lines(START, OTHER, OTHER_END, TEXT, END)) == (
        "• Ran lint\n  └ clean\n\n"
        "• All done, and this sentence is long enough to be wrapped somewhere.\n\n"
        "• Ran make\n  └ built\n"
    )


def test_calls_that_never_completed_are_shown_at_the_end():
    assert out(data=lines(START, TEXT)).split("\n\n") == [
        "• All done, and this sentence is long enough to be wrapped somewhere.",
        "• Running make\n",
    ]


def test_each_prints_every_event():
    assert out("--each", data=lines(START, END)) == "• Running make\n• Ran make\n  └ built\n"


def test_width():
    wrapped = out("--width", "40", data=lines(TEXT))
    assert wrapped == "• All done, and this sentence is long\n  enough to be wrapped somewhere.\n"
    assert out(data=lines(TEXT), COLUMNS="40") == wrapped
    assert out("--width", "30", data=lines(TEXT)).count("\n") == 1, "too narrow to wrap: one line a paragraph"


def test_streamed_messages_are_printed_once():
    deltas = [{"type": "assistant_delta", "message_id": "m", "text": text} for text in ("Hel", "lo", " there")]
    whole = {"type": "assistant_text", "message_id": "m", "text": "Hello there"}
    assert out(data=lines(*deltas)) == "• Hello there\n"
    assert out(data=lines(*deltas, whole)) == "• Hello there\n"
    assert out(data=lines(*deltas, START, whole, END)) == "• Hello there\n\n• Ran make\n  └ built\n"
    assert out(data=lines(*deltas, START, {**whole, "text": "Hello, mended"}, END)).startswith(
        "• Hello there\n\n• Hello, mended\n"
    ), "a whole that differs from its deltas is shown again"


def test_a_line_that_is_no_json_is_shown_and_reported():
    done = run(lines(TEXT, "npm WARN \x1b[31mdeprecated", "[1, 2]", END))
    assert done.returncode == 0
    shown = done.stdout.decode()
    assert "npm WARN \\x1B[31mdeprecated" in shown
    assert "[1, 2]" in shown
    assert "built" in shown
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("vantage format: line 2: not JSON")
    assert second.startswith("vantage format: line 3: an event is a JSON object")


def test_unknown_messages_are_counted_and_shown_on_request():
    data = lines({"type": "brand_new", "x": 1}, TEXT, {"type": "brand_new"})
    done = run(data)
    assert done.returncode == 0
    assert "brand_new" not in done.stdout.decode()
    assert done.stderr.decode() == "vantage format: 2 messages of unknown type not shown: -v shows them\n"
    shown = run(data, "-v")
    assert '• Event brand_new {"x": 1}' in shown.stdout.decode()
    assert shown.stderr == b""


def test_odd_line_ends():
    data = (
        json.dumps(START).encode()
        + b"\r\n\n  \n"
        + json.dumps({**END, "output": "a\u2028b"}, ensure_ascii=False).encode()
    )
    assert out(data=data) == "• Ran make\n  └ a\\u2028b\n"


def test_a_line_of_ten_megabytes():
    text = "word " * 2_000_000
    assert len(out(data=lines({"type": "assistant_text", "text": text}))) == len(text.strip()) + 3


@pytest.mark.parametrize(
    ("env", "colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ({"FORCE_COLOR": ""}, False),
    ],
)
def test_colour_in_a_pipe(env, colored):
    shown = out(data=lines(TEXT, END), **env)
    assert ("\x1b[" in shown) is colored
    if colored:
        assert "\x1b[38;5;" in shown
    assert "\x1b" not in out("--plain", data=lines(TEXT), **env)


def test_a_file(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines(TEXT))
    assert out(str(path), data=b"").startswith("• All done")


def test_specs_for_the_tools_of_a_stream(tmp_path):
    gadget = {"type": "tool_end", "tool": "gadget", "args": {"x": 5}}
    spec = {"collapsed": {"title": "gadget {{args.x}}", "icon": "gear"}}
    folder = tmp_path / "home" / "specs"
    folder.mkdir(parents=True)
    (tmp_path / "gadget.json").write_text(json.dumps(spec))
    assert out("--specs", str(tmp_path / "gadget.json"), data=lines(gadget)).endswith(" gadget 5\n")
    (folder / "gadget.json").write_text(json.dumps(spec))
    (folder / "broken.json").write_text('{"collapsed": {}}')
    done = run(lines(gadget), VANTAGE_HOME=str(tmp_path / "home"))
    assert done.returncode == 0
    assert done.stdout.decode().endswith(" gadget 5\n")
    assert "broken.json" in done.stderr.decode()
    assert "'title' is missing" in done.stderr.decode()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["--width", "many"], "many"),
        (["--surface", "paper"], "paper"),
        (["--nonsense"], "--nonsense"),
        (["--each", "--surface", "html"], "--each"),
    ],
)
def test_wrong_usage(options, says):
    done = run(b"", *options)
    assert done.returncode == 2
    assert done.stdout == b""
    assert says in done.stderr.decode()


def test_a_reader_that_leaves_early():
    command = f"{VANTAGE[0]} -m vantage format - | head -n 1"
    data = lines(*[TEXT] * 5000)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], input=data, capture_output=True, timeout=60)
    assert done.stdout.decode().startswith("• All done")
    assert done.stderr == b""


def test_running_calls_are_replaced_on_a_terminal():
    reader, writer = os.pipe()
    terminal = Terminal([*VANTAGE, "format"], columns=60, lines=12, stdin=reader)
    os.close(reader)
    os.write(writer, lines(START, OTHER))
    terminal.wait_for(lambda t: t.shown == ["• Running make", "", "• Running lint"])
    os.write(writer, lines({"type": "tool_output", "toolCallId": "1", "output": "step 1\n"}))
    terminal.wait_for(lambda t: t.shown == ["• Running make", "  └ step 1", "", "• Running lint"])
    os.write(writer, lines(OTHER_END))
    terminal.wait_for(lambda t: t.shown == ["• Ran lint", "  └ clean", "", "• Running make", "  └ step 1"])
    terminal.resize(40, 12)
    os.write(writer, lines(TEXT))
    message = ["• All done, and this sentence is long", "  enough to be wrapped somewhere."]
    terminal.wait_for(
        lambda t: t.shown == ["• Ran lint", "  └ clean", "", *message, "", "• Running make", "  └ step 1"]
    )
    os.write(writer, lines(END))
    os.close(writer)
    assert terminal.finish() == 0
    assert terminal.shown == ["• Ran lint", "  └ clean", "", *message, "", "• Ran make", "  └ built"]
    assert b"\x1b[1;38;5;" in terminal.raw, "a terminal gets colours"


def test_a_message_that_streams_past_the_window_ends_up_whole():
    reader, writer = os.pipe()
    terminal = Terminal([*VANTAGE, "format"], columns=40, lines=6, stdin=reader)
    os.close(reader)
    items = [f"item {number}" for number in range(30)]
    for item in items:
        os.write(writer, lines({"type": "assistant_delta", "message_id": "m", "text": f"- {item}\n"}))
        terminal.wait_for(lambda t, item=item: any(item in line for line in t.shown))
    os.close(writer)
    assert terminal.finish() == 0
    assert [line.strip("• ") for line in terminal.everything] == [f"- {item}" for item in items]


def test_without_colour_on_a_dumb_terminal():
    reader, writer = os.pipe()
    terminal = Terminal([*VANTAGE, "format"], stdin=reader, TERM="dumb")
    os.close(reader)
    os.write(writer, lines(START, END))
    os.close(writer)
    assert terminal.finish() == 0
    assert b"\x1b" not in terminal.raw
    assert terminal.shown == ["• Ran make", "  └ built"]


def test_help_names_every_option():
    shown = subprocess.run([*VANTAGE, "format", "--help"], capture_output=True, text=True, timeout=60).stdout
    assert set(re.findall(r"--[\w-]+", shown)) >= {
        "--from",
        "--surface",
        "--width",
        "--plain",
        "--each",
        "--specs",
        "--verbose",
    }


def test_a_mistyped_command_gets_a_suggestion():
    done = subprocess.run([*VANTAGE, "fromat"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "did you mean 'format'?" in done.stderr


def test_a_table_of_a_message_that_never_ended_is_shown_at_the_end():
    delta = {
        "type": "assistant_delta",
        "message_id": "m",
        "text": "Before.\n\n| name | colour |\n|---|---|\n| pear | green |",
    }
    for options in ([], ["--surface", "html"], ["--surface", "slack"], ["--surface", "plain"]):
        assert "pear" in out(*options, data=lines(delta)), options
