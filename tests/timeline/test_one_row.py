"""A command that an agent runs through our own tools is one row: the call, and the block of its terminal."""

import pytest

from vantage import Timeline, decode_event, render
from vantage.presentation import PresentationContext

CALL = {"type": "tool_start", "tool": "mcp__vantage__pty_exec_block", "toolCallId": "c1", "args": {"command": "make"}}
BEGIN = {"type": "agent_block_begin", "block_id": "b1", "cmd": "make", "origin": "exec"}
DELTA = {"type": "agent_block_delta", "block_id": "b1", "text": "built\n"}
END = {
    "type": "agent_block_end",
    "block_id": "b1",
    "exit_code": 0,
    "done_because": "mark",
    "duration_ms": 5,
    "bytes": 6,
}
DONE = {"type": "tool_end", "toolCallId": "c1", "output": '{"block_id": "b1", "output": "built"}'}


def drawn(*events):
    timeline = Timeline()
    for event in events:
        timeline.add(decode_event(event))
    rows = timeline.rows
    return [render([row], PresentationContext(), surface="plain") for row in rows]


@pytest.mark.parametrize("count", range(1, 6))
def test_every_moment_has_one_row(count):
    assert len(drawn(*(CALL, BEGIN, DELTA, END, DONE)[:count])) == 1


def test_the_row_is_that_of_the_command():
    (row,) = drawn(CALL, BEGIN, DELTA)
    assert row == "• Running make\n  └ built"
    (row,) = drawn(CALL, BEGIN, DELTA, END, DONE)
    assert row == "• Ran make\n  └ built"


@pytest.mark.parametrize("tool", ["mcp:vantage.pty_exec_block", "vantage_pty_exec_block", "pty_exec_interactive"])
def test_every_agents_name_of_the_tool_is_known(tool):
    assert len(drawn({**CALL, "tool": tool}, BEGIN, END, DONE)) == 1


def test_a_command_goes_on_after_its_call():
    (row,) = drawn(CALL, BEGIN, {**DONE, "output": '{"block_id": "b1", "running": true}'}, DELTA)
    assert row.startswith("• Running make")
    (row,) = drawn(CALL, BEGIN, DONE, DELTA, {**END, "exit_code": 2})
    assert row.startswith("• Ran make")


def test_a_call_that_fails_says_why():
    (row,) = drawn(CALL, {**DONE, "output": None, "error": "the terminal runs vim"})
    assert "the terminal runs vim" in row


def test_other_commands_have_rows_of_their_own():
    assert len(drawn(CALL, {**BEGIN, "cmd": "ls"})) == 2
    assert len(drawn(CALL, {**BEGIN, "origin": "typed"})) == 2
    assert len(drawn(CALL, BEGIN, END, DONE, {**BEGIN, "block_id": "b2"})) == 2
    assert len(drawn({**CALL, "tool": "shell"}, BEGIN)) == 2
