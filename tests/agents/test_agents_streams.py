"""Each agent's stream as events: no text twice, calls paired, sub-agents nested, unknown messages counted."""

import copy
import json
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_streams import FOLDER, STREAMS, events, name_of, page, read
from vantage import events as ev
from vantage.agents import SOURCES, StrayLine, StreamReader
from vantage.agents.redaction import REDACTED, Redaction
from vantage.errors import InputError
from vantage.events import encode_event, event_to_dict

ADAPTERS = {
    "claude": "claude.Claude",
    "codex": "codex.Codex",
    "gemini": "gemini.Gemini",
    "acp": "acp.Acp",
    "ag-ui": "ag_ui.AgUi",
    "pi": "pi.Pi",
    "opencode": "opencode.OpenCode",
    "vantage": "own.Own",
}


def lines(*messages: dict | str) -> bytes:
    return b"".join((one if isinstance(one, str) else json.dumps(one)).encode() + b"\n" for one in messages)


def fixture(name: str) -> list:
    return read((FOLDER / f"{name}.jsonl").read_bytes())


def of(items: list, kind: type) -> list:
    return [item for item in items if isinstance(item, kind)]


def adapter(name: str):
    module, _, cls = ADAPTERS[name].partition(".")
    return getattr(import_module(f"vantage.agents.streams.{module}"), cls)()


# the turn


@pytest.mark.parametrize(
    ("name", "finish", "usage"),
    [
        (
            "claude/everything",
            "success",
            {"input_tokens": 9520, "cached_input_tokens": 9000, "output_tokens": 800, "cost_usd": 0.1234,
             "duration_ms": 61250, "turns": 11},
        ),
        (
            "codex/plans",
            "completed",
            {"input_tokens": 6600, "cached_input_tokens": 6000, "output_tokens": 120, "reasoning_tokens": 30},
        ),
        (
            "codex/session",
            "completed",
            {"input_tokens": 6600, "cached_input_tokens": 6000, "output_tokens": 120, "reasoning_tokens": 30,
             "duration_ms": pytest.approx(1000, abs=100_000)},
        ),
        (
            "gemini/everything",
            "success",
            {"input_tokens": 5000, "cached_input_tokens": 4000, "output_tokens": 200, "duration_ms": 11000},
        ),
        (
            "opencode/everything",
            "stop",
            {"input_tokens": 2100, "cached_input_tokens": 1700, "output_tokens": 80, "reasoning_tokens": 10,
             "cost_usd": 0.015, "duration_ms": 2000},
        ),
        (
            "pi/older",
            "aborted",
            {"input_tokens": 920, "cached_input_tokens": 800, "output_tokens": 25, "cost_usd": 0.003,
             "duration_ms": 5000},
        ),
        ("ag-ui/everything", "finished", {"input_tokens": 300, "output_tokens": 40, "duration_ms": 4500}),
        ("acp/updates", "cancelled", {"context_tokens": 5300, "context_window": 200000, "cost_usd": 0.05}),
        (
            "acp/opencode",
            "end_turn",
            {"context_tokens": 1100, "context_window": 100000, "cost_usd": pytest.approx(0.00126), "input_tokens": 1100,
             "output_tokens": 20, "cached_input_tokens": 1000},
        ),
        ("acp/second-version", "end_turn", None),
    ],
)  # fmt: skip
def test_a_turn_ends_with_what_it_used(name, finish, usage):
    turn = of(fixture(name), ev.TurnComplete)[0]
    assert turn.finish == finish
    assert turn.usage == usage


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "pi"])
def test_a_refusal_is_said_once(name):
    items = fixture(f"{name}/refused")
    assert ["the model is resting" in error.message for error in of(items, ev.Error)] == [True]
    assert not of(items, ev.AssistantText)


# said once


def test_deltas_and_the_whole_are_one_message():
    for name in ("claude/recorded", "pi/recorded", "pi/older", "acp/second-version"):
        items = fixture(name)
        deltas: dict = {}
        for delta in of(items, ev.AssistantDelta):
            deltas[delta.message_id] = deltas.get(delta.message_id, "") + delta.text
        wholes = {whole.message_id: whole.text for whole in of(items, ev.AssistantText)}
        assert deltas, name
        assert wholes.keys() >= deltas.keys(), name
        assert all(wholes[key].startswith(said) for key, said in deltas.items()), name
        assert len(wholes) == len(of(items, ev.AssistantText)), name


def test_claude_says_the_same_with_and_without_partial_messages():
    every = [json.loads(line) for line in (FOLDER / "claude/recorded.jsonl").read_text().splitlines()]
    whole = [message for message in every if message["type"] != "stream_event"]
    assert page(read(lines(*whole))) == page(read(lines(*every)))


def test_a_message_that_claude_repeats_from_its_beginning():
    text = {"type": "text", "text": "Hello."}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    said = [{"type": "assistant", "message": {"id": "m", "content": content}} for content in ([text], [text, call])]
    assert [event.type for event in read(lines(*said))] == ["assistant_text", "tool_start"]


def test_a_result_without_messages_is_what_was_said():
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "Total cost: $0"}
    assert [event.text for event in of(read(lines(result)), ev.AssistantText)] == ["Total cost: $0"]


def test_threads_of_codex_number_their_items_anew():
    run = [
        {"type": "thread.started", "thread_id": "a"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Hello."}},
        {
            "type": "item.completed",
            "item": {"id": "item_1", "type": "command_execution", "command": "ls", "exit_code": 0},
        },
    ]
    assert len(of(read(lines(*run, *run)), ev.AssistantText)) == 2
    assert len(of(read(lines(*run, *run)), ev.ToolEnd)) == 2


def test_a_stream_that_is_joined_within_a_message():
    said = [json.loads(line) for line in (FOLDER / "claude/recorded.jsonl").read_text().splitlines()]
    deltas = [
        number for number, one in enumerate(said) if one.get("event", {}).get("delta", {}).get("type") == "text_delta"
    ]
    texts = [row for row in page(read(lines(*said[deltas[1] :]))).split("\n\n") if "ode first" in row]
    assert texts == ["• I'll look at the code first."]


def test_deltas_alone_are_a_message_and_the_result_does_not_repeat_them():
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}}
    result = {"type": "result", "subtype": "success", "result": "Hello."}
    assert page(read(lines({"type": "stream_event", "event": delta}, result))).startswith("• Hello.\n\nturn complete")


# calls


def test_items_without_an_id_are_kept_apart():
    codex = [{"type": "item.completed", "item": {"type": "agent_message", "text": text}} for text in ("One.", "Two.")]
    codex += [
        {"type": f"item.{stage}", "item": {"type": "command_execution", "command": command, "exit_code": 0}}
        for command in ("ls", "pwd")
        for stage in ("started", "completed")
    ]
    assert page(read(lines(*codex))) == "• One.\n\n• Two.\n\n• Ran ls\n\n• Ran pwd\n"
    calls = [{"type": "tool_use", "name": "Bash", "input": {"command": command}} for command in ("ls", "pwd")]
    results = [{"type": "tool_result", "content": content} for content in ("a", "b")]
    claude = [
        {"type": "assistant", "message": {"content": calls}},
        {"type": "user", "message": {"content": results}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "One."}]}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "One."}]}},
    ]
    assert page(read(lines(*claude))) == "• Ran ls\n  └ a\n\n• Ran pwd\n  └ b\n\n• One.\n\n• One.\n"
    opencode = [{"type": "text", "sessionID": "s", "part": {"text": text}} for text in ("One.", "Two.")]
    assert page(read(lines(*opencode))) == "• One.\n\n• Two.\n"


def test_a_search_of_which_nothing_is_known_is_shown_when_the_stream_ends():
    begun = {
        "type": "item.started",
        "item": {"id": "ws", "type": "web_search", "query": "", "action": {"type": "other"}},
    }
    assert page(read(lines(begun))) == "• Search Web\n"
    ended = {
        "id": "ws",
        "type": "web_search",
        "query": "x",
        "action": {"type": "open_page", "url": "https://example.org"},
    }
    assert page(read(lines(begun, {"type": "item.completed", "item": ended}))) == "• Fetch https://example.org\n"


def test_pi_has_messages_of_other_roles():
    roles = [
        {"role": "bashExecution", "command": "ls", "output": "a\n", "exitCode": 0},
        {"role": "compactionSummary", "summary": "…"},
        {"role": "oracle", "content": "…"},
    ]
    items = read(lines(*({"type": "message", "id": "x", "message": message} for message in roles)))
    assert page(items).startswith("• Ran ls\n  └ a\n\n• Event message/oracle")


def test_pi_when_little_is_said_beside_the_text():
    update = {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": "All d"}}
    end = {"type": "message_end", "message": {"role": "assistant", "content": [{"type": "text", "text": "All done."}]}}
    calls = [
        {"type": "tool_execution_start", "toolCallId": "t", "toolName": "bash", "args": {"command": "ls"}},
        {"type": "tool_execution_update", "toolCallId": "t", "partialResult": "50%"},
        {"type": "tool_execution_end", "toolCallId": "t", "result": "ok"},
    ]
    assert page(read(lines(update, end, *calls))) == "• All done.\n\n• Ran ls\n  └ ok\n"


def test_sub_agents_are_nested():
    depths = {
        item.tool_call_id: item.agent.depth if item.agent else 0
        for item in fixture("claude/everything")
        if isinstance(item, ev.ToolStart)
    }
    assert (depths["t9"], depths["t10"], depths["t11"]) == (0, 1, 2)
    assert {item.agent.name for item in of(fixture("claude/everything"), ev.ToolStart) if item.agent} == {
        "reviewer",
        "lister",
    }


def test_a_command_that_failed_is_no_error_of_its_tool():
    for name in ("claude", "codex", "opencode", "pi"):
        items = fixture(f"{name}/recorded")
        failed = next(item.tool_call_id for item in of(items, ev.ToolStart) if "1 failed" in str(item.args))
        end = next(item for item in of(items, ev.ToolEnd) if item.tool_call_id == failed)
        assert not end.is_error
        assert 3 in end.details.values()
        assert end.output.strip() == "1 failed"


def test_edits_have_line_numbers_where_the_stream_has_them():
    for name in (
        "claude/recorded",
        "codex/session",
        "opencode/recorded",
        "pi/recorded",
        "pi/older",
        "acp/gemini",
        "acp/opencode",
    ):
        assert any(line.strip().startswith(("8 +", "99 +")) for line in page(fixture(name)).split("\n")), name


@pytest.mark.parametrize("name", ["claude", "codex", "pi"])
def test_a_session_file_says_what_the_stream_said(name):
    """Except for parts that only one of them has: the prompt, a sub-agent's steps, the numbers of lines."""

    def heads(stream: str) -> list[str]:
        rows = page(fixture(stream)).split("\n\n")
        heads = [row.split("\n")[0] for row in rows if row.startswith("• ")]
        return sorted(head for head in heads if not head.startswith(("• Edit", "• Add")))

    assert heads(f"{name}/session") == heads(f"{name}/recorded")


def test_claude_session_files_are_read_too():
    session = [
        {"type": "summary", "summary": "Rounding", "leafUuid": "x"},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
        {"type": "user", "timestamp": "2026-03-01T10:00:00Z", "message": {"role": "user", "content": "Hello"}},
        {"type": "assistant", "isSidechain": True, "message": {"id": "m", "content": [{"type": "text", "text": "Hi"}]}},
    ]
    user, said = read(lines(*session))
    assert (user.text, user.ts) == ("Hello", 1772359200000)
    assert said.agent.depth == 1


def test_a_call_whose_beginning_was_missed_is_shown():
    end = {
        "type": "tool_result",
        "timestamp": "2026-03-01T10:00:00Z",
        "tool_id": "c",
        "status": "success",
        "output": "x",
    }
    assert page(read(lines(end))) == "• Tool\n  └ x\n"


# unknown messages


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_unknown_messages_are_counted_and_kept(path):
    reader = StreamReader()
    items = [*reader.feed(path.read_bytes()), *reader.finish()]
    unknown = of(items, ev.UnknownEvent)
    assert reader.unknown == len(unknown)
    strange = ("hologram", "aurora", "telepathy", "daydream", "telemetry", "murmuration", "lamp", "seance")
    text = path.read_text()
    assert len(unknown) == sum(word in text for word in strange)


def test_lines_that_are_no_messages_are_numbered():
    strays = of(read(b'{"type": "turn.started"}\nnpm WARN\n\n[1]\n{"type": "turn.st'), StrayLine)
    assert [(stray.number, stray.text) for stray in strays] == [(2, "npm WARN"), (4, "[1]"), (5, '{"type": "turn.st')]
    assert all(stray.why for stray in strays)


def test_streams_one_after_the_other():
    data = b"".join(
        (FOLDER / f"{name}.jsonl").read_bytes() for name in ("codex/recorded", "claude/refused", "pi/refused")
    )
    assert [event.type for event in read(data)] == [
        event.type for name in ("codex/recorded", "claude/refused", "pi/refused") for event in fixture(name)
    ]


def test_our_own_events_are_what_they_are():
    own = [
        {"type": "error", "message": "x"},
        {"type": "tool_start", "tool": "shell", "toolCallId": "1"},
        {"type": "new"},
    ]
    reader = StreamReader()
    assert [event.type for event in reader.feed(lines(*own))] == ["error", "tool_start", "unknown"]
    assert reader.source == "vantage"


def test_a_stream_under_a_wrong_name_says_whose_it_looks_like():
    reader = StreamReader("claude")
    reader.feed((FOLDER / "codex/recorded.jsonl").read_bytes())
    assert (reader.source, reader.resembles) == ("claude", "codex")
    assert reader.unknown


def test_there_is_no_such_stream():
    with pytest.raises(InputError, match="expected one of auto, vantage, claude"):
        StreamReader("clade")


# secrets


SEND = {"data": "hunter2\n", "secret": True}


SPELLINGS = [
    "pty_send", "mcp__vantage__pty_send", "mcp_vantage_pty_send", "vantage_pty_send", "Vantage.pty_send",
    "ptySend", "PtySend", "pty-send", "PTY_SEND", "mcp:vantage.pty_send", "vantage-pty_send", "vantage/ptySend",
]  # fmt: skip


@pytest.mark.parametrize("tool", SPELLINGS)
@pytest.mark.parametrize(
    "args",
    [
        SEND,
        json.dumps(SEND),
        {"data_b64": "aHVudGVyMgo=", "secret": True},
        {"dataB64": "aHVudGVyMgo=", "secret": "true"},
        {**SEND, "secret": 1},
        {"calls": [{"name": "pty_status"}, {"name": "ptySend", "arguments": json.dumps(SEND)}]},
    ],
    ids=["object", "text", "bytes", "camelCase", "number", "batch"],
)
def test_secret_input_is_redacted(tool, args):
    start = {"type": "tool_start", "tool": tool, "toolCallId": "1", "args": args}
    end = {"type": "tool_end", "toolCallId": "1", "args": args, "error": f"refused: {json.dumps(args)}"}
    said = b"".join(map(encode_event, read(lines(start, end))))
    assert b"hunter2" not in said
    assert b"aHVudGVyMgo" not in said
    assert REDACTED.encode() in said


@pytest.mark.parametrize(
    "event",
    [
        {"type": "tool_end", "toolCallId": "another id", "output": "typed hunter2 into it"},
        {
            "type": "tool_end",
            "toolCallId": "another id",
            "error": "could not type hunter2",
            "details": {"in": "hunter2"},
        },
        {"type": "tool_output", "toolCallId": "another id", "output": "hunter2"},
        {"type": "tool_end", "toolCallId": "x", "args": SEND},
        {"type": "tool_end", "toolCallId": "x", "output": f"called with {json.dumps(SEND)}"},
        {"type": "tool_start", "tool": "type_text", "toolCallId": "9", "args": SEND},
        {
            "type": "tool_start",
            "tool": "x",
            "toolCallId": "9",
            "args": {},
            "request": {"name": "ptySend", "input": SEND},
        },
        {"type": "error", "message": "hunter2 was refused"},
        {"type": "brand_new", "call": {"name": "pty_send"}, "with": SEND},
        {"type": "brand_new", "toolCallId": "1", "delta": '{"data": "hunt'},
        {"type": "brand_new", "toolCallId": "1", "partial_json": 'er2\\n", "sec'},
    ],
)
def test_a_secret_is_redacted_where_its_call_is_not_known(event):
    start = {"type": "tool_start", "tool": "ptySend", "toolCallId": "1", "args": SEND}
    said = b"".join(map(encode_event, read(lines(start, event))))
    assert not any(word in said for word in (b"hunter2", b"hunt", b"er2"))
    assert said.count(REDACTED.encode()) >= 2


@pytest.mark.parametrize(
    "args",
    [
        {"data_b64": "aHVudGVyMgo=", "secret": True},
        {"data": "ada\nhunter2\n", "secret": True},
        {"data": ["hunter2", "\n"], "secret": True},
        {"DATA": "hunter2", "SECRET": True},
        {"text": "hunter2", "secret": True, "session_id": "s-1"},
        {"secret": True, "input": {"data": "hunter2"}},
        {"secret": True, "input": json.dumps({"data": "hunter2"})},
        {"code": "vantage.pty_send(data='hunter2', secret=True)"},
        {"code": "await ptySend({data: 'hunter2', secret: true})"},
    ],
    ids=["bytes", "two lines", "list", "capitals", "wrong name", "nested", "nested text", "Python", "JavaScript"],
)
def test_a_secret_is_redacted_however_its_call_is_made(args):
    """Also where its answer repeats it, as a value or as a name."""
    start = {"type": "tool_start", "tool": "pty_send", "toolCallId": "1", "args": args}
    if "code" not in args:
        start["label"] = "types hunter2"
    said = b"".join(map(encode_event, read(lines(start))))
    assert b"hunter2" not in said
    if "code" in args:  # a program: its data is not read, so an answer that repeats it is not recognised
        return
    end = {"type": "tool_end", "toolCallId": "1", "output": "typed hunter2", "details": {"hunter2": [{"hunter2": 1}]}}
    said = b"".join(map(encode_event, read(lines(start, end))))
    assert b"hunter2" not in said
    assert b"session_id" not in said or b'"s-1"' in said


def test_redacting_twice_is_redacting_once():
    """An agent's stream is redacted by `ingest` and again by the server, which compares what it has."""
    start = {"type": "tool_start", "tool": "pty_send", "toolCallId": "1", "args": SEND, "renderCall": "hunter2"}
    end = {"type": "tool_end", "toolCallId": "1", "output": "typed hunter2", "renderResult": "hunter2"}
    once = read(lines(start, end, {**start, "args": json.dumps(SEND)}))
    redaction = Redaction()
    assert [redaction.clean(event) for event in once] == once


def test_calls_of_other_tools_stay_as_they_are():
    events = [
        {"type": "tool_start", "tool": "pty_send", "toolCallId": "1", "args": SEND},
        {"type": "tool_start", "tool": "kubectl", "toolCallId": "2", "args": {"secret": "db", "data": "x=hunter2"}},
        {"type": "tool_end", "toolCallId": "2", "output": "hunter2 is a name in a book"},
    ]
    _, *others = read(lines(*events))
    assert [event_to_dict(event) for event in others] == events[1:]


def test_ordinary_input_is_not_redacted():
    start = {"type": "tool_start", "tool": "pty_send", "toolCallId": "1", "args": {"data": "ls\n", "secret": False}}
    assert read(lines(start))[0].args == {"data": "ls\n", "secret": False}


def test_a_gap_does_not_say_what_a_short_secret_is():
    reader = StreamReader("vantage")
    call = {"type": "tool_start", "tool": "pty_send", "toolCallId": "1", "args": {"data": "x\n", "secret": True}}
    end = {"type": "tool_end", "toolCallId": "1", "isError": True, "output": "the text would be shown"}
    (_, ended) = reader.feed("".join(f"{json.dumps(one)}\n" for one in (call, end)).encode())
    assert ended.output == REDACTED


def test_gemini_says_what_the_tool_said():
    answer = [
        {"functionResponse": {"name": "t", "response": {"content": [{"type": "text", "text": "busy: vim runs"}]}}}
    ]
    wrapped = f"MCP tool 't' reported tool error for function call: {{}} with response: {json.dumps(answer)}"
    for error, shown in ((wrapped, "busy: vim runs"), (wrapped[:-1], wrapped[:-1])):
        result = {"type": "tool_result", "tool_id": "1", "status": "error", "error": {"message": error}}
        (end,) = StreamReader("gemini").feed(f"{json.dumps(result)}\n".encode())
        assert end.error == shown


def test_a_secret_within_another_tool_or_an_unknown_message_is_redacted():
    wrapped = {
        "type": "tool_start",
        "tool": "mcp",
        "toolCallId": "1",
        "args": {"tool": "vantage_pty_send", "args": json.dumps(SEND)},
    }
    strange = {"type": "brand_new", "calls": [{"name": "mcp__vantage__pty_send", "input": SEND}]}
    said = b"".join(map(encode_event, read(lines(wrapped, strange))))
    assert b"hunter2" not in said
    assert said.count(REDACTED.encode()) == 2


def test_arguments_that_were_cut_off_may_be_secret():
    cut = [
        {"type": "TOOL_CALL_START", "toolCallId": "1", "toolCallName": "pty_send"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "1", "delta": '{"data": "hunter2\\n", "sec'},
    ]
    assert b"hunter2" not in b"".join(map(encode_event, read(lines(*cut))))


@pytest.mark.parametrize("path", [path for path in STREAMS if "pty_send" in path.read_text()], ids=name_of)
def test_half_a_message_repeats_no_secret(path):
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(max(len(lines) - 60, 0), len(lines)):
        half = lines[number][: len(lines[number]) // 2]
        for item in read(b"".join([*lines[:number], half])):
            said = item.text.encode() if isinstance(item, StrayLine) else encode_event(item)
            assert not any(word in said for word in (b"correct", b"horse", b"sesame"))


# anything


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = {
    name: [
        json.loads(line[line.index("{") :])
        for path in STREAMS
        if path.parent.name == name
        for line in path.read_text().split("\n")
        if "{" in line
    ]
    for name in ADAPTERS
    if name != "vantage"
}


@st.composite
def spoilt(draw, name: str) -> dict:
    """A message of the agent's in which some value is another."""
    message = copy.deepcopy(draw(st.sampled_from(MESSAGES[name])))
    for _ in range(draw(st.integers(0, 3))):
        place = message
        while True:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            place[key] = draw(JSON)
            break
        if not message:
            break
    return message


@pytest.mark.parametrize("name", MESSAGES)
@given(data=st.data())
def test_no_message_is_fatal(name, data):
    understood = adapter(name)
    for message in data.draw(
        st.lists(spoilt(name) | st.dictionaries(st.text(max_size=8), JSON, max_size=4), max_size=12)
    ):
        for event in understood.feed(message):
            encode_event(event)
    page(understood.finish())


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["type", "message", "item", "part", "update", "jsonrpc", "x"]), JSON),
        max_size=8,
    )
)
def test_any_object_is_read(messages):
    data = lines(*messages)
    for source in SOURCES:
        reader = StreamReader(source)
        items = [*reader.feed(data), *reader.finish()]
        assert not of(items, StrayLine)
        page(items)


@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_bytes_are_read(data, cut):
    reader = StreamReader()
    parts = [*reader.feed(data[:cut]), *reader.feed(data[cut:]), *reader.finish()]
    assert repr(parts) == repr(read(data))


def test_lines_of_ten_megabytes():
    long = "word " * 2_000_000
    message = {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": long}}
    data = lines({"type": "turn.started"}, "x" * 10_000_000, message)
    stray, said = read(data)
    assert len(stray.text) == 10_000_000
    assert said.text == long
    reader = StreamReader()
    pieces = [item for start in range(0, len(data), 1 << 16) for item in reader.feed(data[start : start + (1 << 16)])]
    assert events(pieces) == [said]


def test_nesting_without_end():
    deep = '{"type": "assistant", "message": {"content": ' + "[" * 5000 + "]" * 5000 + "}}"
    for item in read(lines(deep, deep.replace("assistant", "brand_new"))):
        assert isinstance(item, StrayLine | ev.UnknownEvent)


# streams that are logged on their way


def test_server_sent_events_may_begin_with_any_field():
    event = {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "Hello."}
    served = b": connected\r\n\r\nretry: 1000\r\nevent: message\r\nid: 7\r\ndata: " + lines(event) + b": ping\n"
    assert page(read(served)) == "• Hello.\n"
    strays = read(b"event: message\nid: 7\nDEBUG\n" + lines(event) + b"id: 8\n")
    assert [item.text for item in of(strays, StrayLine)] == ["event: message", "id: 7", "DEBUG", "id: 8"]
    assert [item.number for item in of(strays, StrayLine)] == [1, 2, 3, 5]


def test_what_a_user_says_in_pieces_is_one_message():
    def piece(kind: str, message_id: str = "u", **more: str) -> dict:
        return {"type": f"TEXT_MESSAGE_{kind}", "messageId": message_id, **more}

    said = [piece("START", role="user"), piece("CONTENT", delta="Fix "), piece("CONTENT", delta="it.")]
    answer = [piece("START", "a", role="assistant"), piece("CONTENT", "a", delta="Done.")]
    assert page(read(lines(*said, piece("END"), *answer))) == "› Fix it.\n\n• Done.\n"
    assert page(read(lines(*said, *answer))) == "› Fix it.\n\n• Done.\n"
    assert page(read(lines(*said))) == "› Fix it.\n"


def test_a_command_in_the_clients_terminal_says_how_it_ended():
    ended = {item.tool_call_id: item.details for item in of(fixture("acp/proxied"), ev.ToolEnd)}
    assert ended["c3"] == {"exit_code": 2}
    words = [item for item in of(fixture("acp/claude"), ev.ToolEnd) if item.tool == "shell"]
    assert [(item.details, item.is_error) for item in words] == [({"exit_code": 2}, False)] * 2


def test_both_sides_of_acp_count_their_requests():
    def rpc(**fields: object) -> dict:
        return {"jsonrpc": "2.0", "id": 1, **fields}

    prompt = rpc(method="session/prompt", params={"prompt": [{"type": "text", "text": "Go"}]})
    asks = rpc(method="fs/read_text_file", params={"path": "/a"})
    refused = rpc(error={"code": -32603, "message": "Internal error", "data": {"details": "no such file"}})
    items = read(lines(prompt, asks, refused))
    assert [item.message for item in of(items, ev.Error)] == ["Internal error: no such file"]
    assert of(items, ev.TurnComplete) == []
    items = read(lines(prompt, asks, rpc(result={"content": "x"}), refused))
    assert [item.finish for item in of(items, ev.TurnComplete)] == ["error"]


def test_codex_events_over_mcp_are_what_its_older_stream_had():
    older = (FOLDER / "codex/older.jsonl").read_text().splitlines()[2:]
    wrapped = [{"jsonrpc": "2.0", "method": "codex/event", "params": json.loads(line)} for line in older]
    assert read(lines(*wrapped)) == read(lines(*older))


def test_no_picture_is_shown_as_text():
    call = {"type": "tool_use", "id": "1", "name": "shoot", "input": {}}
    for part in (
        {"type": "input_image", "image_url": "data:image/png;base64,QUFB"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUFB"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUFB"}},
    ):
        result = {"type": "tool_result", "tool_use_id": "1", "content": [part]}
        said = [
            {"type": "assistant", "message": {"content": [call]}},
            {"type": "user", "message": {"content": [result]}},
        ]
        assert page(read(lines(*said))) == "• Tool shoot {}\n  └ [image/png]\n"


def test_questions_to_a_person_and_what_was_answered():
    options = [{"label": "Red", "description": "…"}, {"label": "Blue", "description": "…"}]
    one, two = {"question": "Which colour?", "options": options}, {"question": "How many?", "options": []}
    for questions, shown in (
        ([one], "• Asked Which colour?\n  └ 1. Red\n    2. Blue\n    Blue it is.\n"),
        ([one, two], "• Asked\n  └ Which colour?\n    1. Red\n    2. Blue\n    How many?\n    Blue it is.\n"),
    ):
        call = {"type": "tool_use", "id": "1", "name": "AskUserQuestion", "input": {"questions": questions}}
        result = {"type": "tool_result", "tool_use_id": "1", "content": "Blue it is."}
        said = [
            {"type": "assistant", "message": {"content": [call]}},
            {"type": "user", "message": {"content": [result]}},
        ]
        assert page(read(lines(*said))) == shown


def test_what_people_type_into_claude_code():
    def user(said: str, **more: object) -> dict:
        return {"type": "user", "message": {"role": "user", "content": said}, "sessionId": "s", **more}

    command = "<command-name>/model</command-name>\n<command-message>model</command-message>\n"
    note = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n"
    note += '<summary>Agent "Look" finished</summary>\n'
    queued = {"type": "queued_command", "prompt": [{"type": "text", "text": "And the docs."}], "commandMode": "prompt"}
    session = [
        {"type": "mode", "mode": "normal", "sessionId": "s"},
        user(command + "<command-args>opus</command-args>"),
        user("<local-command-stdout>Set model to \x1b[1mopus\x1b[22m</local-command-stdout>"),
        user("<bash-input>ls -1</bash-input>"),
        user("<bash-stdout>a &amp; b</bash-stdout><bash-stderr></bash-stderr>"),
        user("Go on.\n<system-reminder>The user likes tea.</system-reminder>"),
        {"type": "attachment", "attachment": queued, "sessionId": "s"},
        user(note + "<result>All is well.</result>\n</task-notification>"),
        user("Is <b>this</b> right?"),
    ]
    assert page(read(lines(*session))) == (
        "› /model opus\n\n• Tool local_command\n  └ Set model to opus\n\n• Ran ls -1\n  └ a & b\n\n› Go on.\n\n"
        '› And the docs.\n\n• Task Agent "Look" finished\n  └ All is well.\n\n› Is <b>this</b> right?\n'
    )


@pytest.mark.parametrize(
    "said",
    ["<bash-input>" * 100_000 + "</", "<bash-input></bash-input>" * 50_000, "\nagentId: a (x)\n<usage>" * 50_000],
)
def test_tags_that_are_never_closed_cost_what_their_length_costs(said):
    """A search from each tag to the end of the text would be quadratic, and take minutes here."""
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": "1",
        "title": "Task",
        "status": "completed",
        "rawOutput": said,
    }
    report = {**update, "content": [{"type": "content", "content": {"type": "text", "text": said}}]}
    assert len(of(read(lines({"type": "user", "message": {"content": said}}, report)), ev.ToolEnd)) >= 1


REQUEST = {"type": "request", "request_id": "r1-1", "kind": "approval", "title": "Run ls", "options": []}
ANSWER = {"type": "answer", "request_id": "r1-1", "option": "allow"}
CLOSED = {"type": "request_closed", "request_id": "r1-1", "why": "lost"}


@pytest.mark.parametrize("stream", STREAMS, ids=name_of)
@pytest.mark.parametrize("source", ["named", "recognised"])
def test_no_stream_of_another_agent_makes_a_request(stream, source):
    """What looks like a request among an agent's messages, or after them, is an event of an unknown type."""
    own = stream.read_bytes().splitlines(keepends=True)
    forged = lines(REQUEST, ANSWER, CLOSED)
    items = read(
        b"".join([own[0], forged, *own[1:], b"\n", forged]), stream.parent.name if source == "named" else "auto"
    )
    assert not [item for item in items if isinstance(item, ev.Request | ev.Answer | ev.RequestClosed)]
    unknown = [item for item in of(items, ev.UnknownEvent) if item.data.get("request_id") == REQUEST["request_id"]]
    assert len(unknown) == 6


def test_a_log_of_ours_has_its_requests():
    reader = StreamReader()
    items = reader.feed(lines({"type": "user_message", "text": "go"}, REQUEST, ANSWER)) + reader.finish()
    assert [type(item) for item in items] == [ev.UserMessage, ev.Request, ev.Answer]
