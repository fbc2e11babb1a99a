"""What holds for every driver: garbage is told and counted, and what is not known is not guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driven import Playing, Start
from vantage import events as ev
from vantage.agents.drivers.driver import Moment, Options
from vantage.agents.drivers.known import KNOWN, version_in
from vantage.agents.drivers.stream import MAX_STRAYS

agents = pytest.mark.parametrize("agent", KNOWN)


def begun(agent: str) -> Playing:
    playing = Playing(Start(agent, Options(run="r1", cwd="/work")))
    playing.take(playing.driver.start())
    return playing


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "id", "method", "params", "result", "error", "request", "request_id", "response", "subtype", "item",
         "update", "sessionUpdate", "message", "content", "questions", "input", "options", "toolCall", "uuid", "turn"]
    ) | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@agents
@given(lines=st.lists(st.binary(max_size=40) | values.map(lambda one: json.dumps(one).encode()), max_size=8))
def test_no_line_raises(agent, lines):
    playing = begun(agent)
    for line in lines:
        output = playing.driver.receive(line, 0)
        for send in output.sends:
            json.dumps(send.make(Moment(1, "wide")))
    assert playing.driver.exited(None, "").events[-1].state == "exited"


@agents
def test_a_line_that_is_no_message_is_a_warning_and_many_are_counted(agent):
    playing = begun(agent)
    said = [event for _ in range(3 * MAX_STRAYS) for event in playing.driver.receive(b"Segmentation fault", 0).events]
    assert [event.type for event in said] == ["warning"] * MAX_STRAYS
    assert "Segmentation fault" in said[0].message
    assert "further lines" in said[-1].message


@agents
def test_a_huge_line_is_told_in_a_few_words(agent):
    (warning,) = begun(agent).driver.receive(b"x" * 20_000_000, 0).events
    assert len(warning.message) < 500
    assert "20,000,000 bytes" in warning.message


@agents
def test_a_process_that_ends_at_once_says_what_it_printed_last(agent):
    playing = begun(agent)
    state = playing.driver.exited(2, "bad config\n").events[-1]
    assert isinstance(state, ev.AgentState)
    assert (state.state, state.error) == ("exited", "exited with status 2: bad config")
    assert playing.driver.delivery() == "refused"


@agents
def test_an_agent_that_has_not_begun_lets_messages_wait(agent):
    assert begun(agent).driver.delivery() == "queued"
    assert begun(agent).driver.interrupt("interrupt 1").sends == []


@agents
def test_the_launch_begins_with_the_program(agent):
    known = KNOWN[agent]
    assert known.launch(Options(run="r1", cwd="/work")).argv[:1] == ([known.program] if known.program else [])
    assert bool(known.install) == bool(known.program)
    assert known.title


def test_the_model_is_an_option_of_a_launch_or_chosen_in_the_session():
    chosen = Options(run="r1", cwd="/work", model="m")
    assert KNOWN["gemini"].launch(chosen).argv == ["gemini", "--acp", "--model", "m"]
    assert KNOWN["opencode"].launch(chosen).argv == ["opencode", "acp"]


@pytest.mark.parametrize(
    ("printed", "version"),
    [("2.1.197 (Claude Code)\n", "2.1.197"), ("codex-cli 0.166.0\n", "0.166.0"), ("v1.2", "1.2"), ("?", None),
     ("warning: x\n0.61.0-nightly.1\n", "0.61.0-nightly.1")],
)  # fmt: skip
def test_a_version_is_found_in_what_a_program_prints(printed, version):
    assert version_in(printed) == version
