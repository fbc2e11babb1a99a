"""Laws of the formatter: it fits the width, prints no stray control bytes, never raises, and ignores chunking."""

import json
import re

import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st

from strategies import EVENT, TEXT
from vantage import MIN_TERMINAL_WIDTH, Formatter, FormatterConfig, Timeline, decode_event, encode_event
from vantage.errors import EventError
from vantage.timeline.row import head
from vantage.timeline.tools import Presentation, presenter
from vantage.timeline.tools.registry import ToolRegistry

SGR = re.compile(r"\x1b\[[0-9;]*m")
LINK = re.compile(r"\x1b\]8;;[!-~]*\x1b\\")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")
COLORS = FormatterConfig(background_color="#1a1b26", foreground_color="#c0caf5", hyperlinks=True)


def bare(text: str) -> str:
    return LINK.sub("", SGR.sub("", text))


@given(st.lists(EVENT, min_size=1, max_size=5), st.integers(31, 200))
def test_any_event_at_any_width_fits_and_is_clean(events, width):
    formatter = Formatter(COLORS)
    for event in events:
        out = formatter.format_event(event, width)
        shown = bare(out)
        assert CONTROL.search(shown) is None
        for line in shown.split("\n"):
            assert wcwidth.width(line) <= width
            assert line == line.rstrip(" ")


@given(st.lists(EVENT, min_size=1, max_size=5), st.integers(0, MIN_TERMINAL_WIDTH))
def test_stdout_formatting_is_clean_too(events, width):
    formatter = Formatter(FormatterConfig(plain_text=True))
    for event in events:
        assert CONTROL.search(formatter.format_event(event, width)) is None


@given(st.lists(EVENT, min_size=1, max_size=6))
def test_colour_codes_are_from_the_256_palette(events):
    formatter = Formatter(COLORS)
    for event in events:
        for codes in re.findall(r"\x1b\[([0-9;]*)m", formatter.format_event(event, 80)):
            assert re.fullmatch(r"(?:0|(?:(?:[123479]|[34]8;5;\d{1,3});?)+)", codes), codes


@given(EVENT)
def test_events_survive_the_codec(event):
    decoded = decode_event(event)
    assert decode_event(encode_event(decoded)) == decoded


@given(EVENT)
def test_a_line_and_its_object_are_the_same_event_both_ways(event):
    """Well-formed lines are decoded by a faster path, which must give the same event."""
    line = json.dumps(event)
    assert decode_event(line) == decode_event(line.encode()) == decode_event(json.loads(line))


@given(EVENT)
def test_encoding_says_what_was_said(event):
    """Nothing that came is lost, whatever its type."""

    def normal(value):
        return json.loads(json.dumps(value, sort_keys=True).replace("tool_call_id", "toolCallId"))

    said = json.loads(encode_event(decode_event(event)))
    for key, value in event.items():
        if value is not None and not (isinstance(value, bool) and value is False) and value not in ("", "append"):
            got = said.get(key)
            if key == "agent" and isinstance(value, dict):
                got = {name: got[name] for name in value if name in got}
            assert normal(got) == normal(value), key


@pytest.mark.parametrize("line", ["", "nope", "[1]", "5", '"x"', "null", '{"type": ', b"\xff\xfe", "[" * 100_000])
def test_only_what_is_no_object_is_refused(line):
    with pytest.raises(EventError):
        decode_event(line)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('{"type": "assistant_text", "text": 5}', "• 5"),
        ('{"type": "assistant_text", "text": {"a": [1]}}', '• {"a": [1]}'),
        ('{"type": "error", "message": ["x"]}', '• Error: ["x"]'),
        ('{"type": "tool_start", "tool": 7, "toolCallId": 8, "args": {}}', "• Tool 7 {}"),
        ('{"type": "assistant_text", "text": "hi", "agent": {"depth": "1"}}', "  • hi"),
        ('{"type": "assistant_text", "text": "hi", "agent": "me", "ts": "now"}', "• hi"),
        ('{"type": "tool_start", "tool": "ls", "tool_call_id": "1", "args": {"path": "x"}}', "• List x"),
        (b'{"type": "assistant_text", "text": "caf\xe9"}', "• caf\ufffd"),
        ('{"type": "assistant_text", "text": "\\ud800"}', "• \ufffd"),
        ('\ufeff{"type": "assistant_text", "text": "bom"}', "• bom"),
    ],
)
def test_fields_of_the_wrong_type_are_kept_and_shown(line, shown):
    assert Formatter(FormatterConfig(plain_text=True)).format_event(line, 80) == shown


@given(TEXT, st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_deltas_end_where_the_whole_message_is(text, cuts):
    whole, pieces = Timeline(), Timeline()
    whole.add({"type": "assistant_text", "text": text})
    position = 0
    for cut in cuts:
        pieces.add({"type": "assistant_delta", "message_id": "m", "text": text[position : position + cut]})
        position += cut
    pieces.add({"type": "assistant_delta", "message_id": "m", "text": text[position:]})
    pieces.add({"type": "turn_complete"})
    if text.strip():
        assert [row.blocks for row in pieces.rows] == [row.blocks for row in whole.rows]
    assert all(row.status == "none" for row in pieces.rows)


SEED_NAMES = {
    "AssistantText": "assistant_text",
    "AssistantReasoning": "assistant_reasoning",
    "ToolCall": "tool_start",
    "ToolComplete": "tool_end",
    "Error": "error",
    "Warning": "warning",
    "Canceled": "canceled",
    "AssistantTurnComplete": "turn_complete",
    "UserMessage": "user_message",
}


@pytest.mark.parametrize(("name", "type"), SEED_NAMES.items())
@pytest.mark.parametrize("spelling", ["{}", "EventType{}", "{}EventType"])
def test_other_names_of_events(name, type, spelling):
    event = {"type": spelling.format(name), "text": "hi", "message": "hi", "tool": "shell", "toolCallId": "1"}
    for given_as in (event, json.dumps(event), json.dumps(event).encode()):
        assert decode_event(given_as).type == type


def test_a_call_in_other_words_is_a_call():
    formatter = Formatter(FormatterConfig(plain_text=True))
    call = {"type": "EventTypeToolCall", "tool": "shell", "toolCallId": "1", "args": {"command": "go test ."}}
    assert formatter.format_event(call, 80) == "• Running go test ."
    assert formatter.format_event({"type": "ToolComplete", "toolCallId": "1", "output": "ok"}, 80) == (
        "• Ran go test .\n  └ ok"
    )
    assert formatter.format_event({"type": "AssistantTurnComplete"}, 80) == ""
    assert decode_event({"type": "EventType"}).type == "unknown"


def test_the_whole_replaces_its_deltas():
    timeline = Timeline()
    timeline.add({"type": "assistant_delta", "message_id": "m", "text": "hal"})
    assert timeline.rows[0].status == "running"
    timeline.add({"type": "assistant_text", "message_id": "m", "text": "whole"})
    assert [(row.status, row.blocks[0].content) for row in timeline.rows] == [("none", "whole")]


def test_rows_keep_their_place_and_id():
    timeline = Timeline()
    first = timeline.add({"type": "tool_start", "tool": "shell", "toolCallId": "a", "args": {"command": "sleep 9"}})
    timeline.add({"type": "assistant_text", "text": "meanwhile"})
    timeline.add({"type": "tool_output", "toolCallId": "a", "output": "so "})
    timeline.add({"type": "tool_output", "toolCallId": "a", "output": "far"})
    assert timeline.row(first).blocks[0].content == "so far"
    assert timeline.add({"type": "tool_end", "toolCallId": "a", "durationMs": 1.6}) == first
    assert [(row.text, row.status, row.duration_ms) for row in timeline.rows] == [
        ("Ran sleep 9", "ok", 2),
        ("", "none", None),
    ]


def test_a_call_id_may_be_used_again():
    timeline = Timeline()
    for command in ("one", "two"):
        timeline.add({"type": "tool_start", "tool": "shell", "toolCallId": "x", "args": {"command": command}})
        timeline.add({"type": "tool_end", "toolCallId": "x"})
    assert [row.text for row in timeline.rows] == ["Ran one", "Ran two"]


def test_a_presenter_that_fails_is_passed_over_and_said_so():
    @presenter("shaky_tool")
    def shaky(call):
        raise RuntimeError("boom")

    timeline = Timeline(ToolRegistry(shaky))
    timeline.add({"type": "tool_end", "tool": "shaky_tool", "args": {}, "output": "still here"})
    (row,) = timeline.rows
    assert row.text == "Tool shaky_tool {}"
    assert row.diagnostics == ["presenter shaky failed on shaky_tool: RuntimeError: boom"]


def test_extensions_register_through_the_same_door():
    @presenter("Deploy", "ship")
    def deploy(call):
        return Presentation(head("Deploy", call.text("target")))

    event = {"type": "tool_start", "tool": "mcp__ops__ship", "args": {"target": "prod"}}
    config = FormatterConfig(plain_text=True)
    assert Formatter(config, ToolRegistry(deploy)).format_event(event, 80) == "• Deploy prod"
    assert Formatter(config).format_event(event, 80) == '• Tool mcp__ops__ship {"target": "prod"}', "it knows no deploy"


def codes_of(config: FormatterConfig) -> dict[str, int]:
    out = Formatter(config).format_event({"type": "tool_start", "tool": "ls", "args": {"path": "x"}}, 80)
    accent, colorful = (int(number) for number in re.findall(r"38;5;(\d+)", out))
    return {"accent": accent, "colorful": colorful}


def luminance(number: int) -> float:
    from vantage.text.palette import rgb_of

    red, green, blue = rgb_of(number)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours_are_derived_from_the_ground():
    unknown, dark, light = (
        FormatterConfig(),
        FormatterConfig(background_color=(0, 0, 0)),
        FormatterConfig(background_color="#ffffff"),
    )
    assert codes_of(unknown) == codes_of(dark)
    assert 80 < luminance(codes_of(dark)["accent"]) < 220, "dimmer than white, brighter than black"
    assert 20 < luminance(codes_of(light)["accent"]) < 160
    assert luminance(codes_of(light)["colorful"]) < 110 < luminance(codes_of(dark)["colorful"])
    assert codes_of(FormatterConfig(accent_color=99, colorful_color="#ff0000")) == {"accent": 99, "colorful": 196}
    assert codes_of(FormatterConfig(foreground_color="#000000")) == codes_of(light), "dark ink means light paper"


@pytest.mark.parametrize("color", [256, -1, "red", "#12345", (1, 2), (1, 2, 999)])
def test_a_colour_that_is_none_is_refused_with_what_is_expected(color):
    with pytest.raises(ValueError, match=r"a colour is a number from 0 to 255, '#rrggbb' or \(r, g, b\)"):
        Formatter(FormatterConfig(accent_color=color))


def test_tab_width():
    formatter = Formatter(FormatterConfig(plain_text=True, tab_width=2))
    assert (
        formatter.format_event({"type": "tool_end", "tool": "shell", "args": {"command": "x"}, "output": "a\tb"}, 80)
        == "• Ran x\n  └ a  b"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb", "• a{tab}b"),
        ("**a\tb** `c\td`", "• a{tab}b c{tab}d"),
        ("# a\tb", "• a{tab}b"),
        ("- a\tb", "• - a{tab}b"),
        ("> a\tb", "• │ a{tab}b"),
        ("```\na\tb\n```", "• a{tab}b"),
        ("<p>a\tb</p>", "• <p>a{tab}b</p>"),
    ],
)
def test_a_tab_is_as_many_spaces_in_prose(text, expected):
    for width in (1, 2, 8):
        formatter = Formatter(FormatterConfig(plain_text=True, tab_width=width))
        shown = formatter.format_event({"type": "assistant_text", "text": text}, 80)
        assert shown == expected.format(tab=" " * width)


def test_a_table_is_measured_with_its_tabs():
    formatter = Formatter(FormatterConfig(plain_text=True, tab_width=1))
    table = "| x | y |\n|---|---|\n| a\tb | c |"
    lines = formatter.format_event({"type": "assistant_text", "text": table}, 80).split("\n")
    assert lines[3] == "  │ a b │ c │"
    assert len({len(line) for line in lines}) == 1


def test_links_are_attached_where_the_terminal_has_them():
    event = {"type": "assistant_text", "text": "[docs](https://example.com) and [bad](javascript:alert(1))"}
    out = Formatter(FormatterConfig(hyperlinks=True)).format_event(event, 80)
    assert "\x1b]8;;https://example.com\x1b\\docs\x1b]8;;\x1b\\" in out
    assert "\x1b]8;;javascript" not in out
    assert "\x1b]8" not in Formatter().format_event(event, 80)


def test_closed_rows_are_forgotten():
    formatter = Formatter()
    for _ in range(50):
        formatter.format_event({"type": "assistant_text", "text": "hi"}, 80)
        formatter.format_event({"type": "tool_start", "tool": "ls", "toolCallId": "1", "args": {}}, 80)
        formatter.format_event({"type": "tool_end", "toolCallId": "1"}, 80)
    assert formatter._timeline.rows == []
