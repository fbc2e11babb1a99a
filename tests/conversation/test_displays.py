"""The instruction of a conversation over its turns: a table that was too wide is told of in the next one."""

import pytest

from vantage.conversation.displays import Displays
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.errors import InputError
from vantage.events import AssistantText, ClientConfig, TurnComplete, UserMessage
from vantage.presentation import WIDE_TABLE

TABLE = AssistantText(text="| name | what it is for |\n|---|---|\n| importer | reads the files that people send |\n")


@pytest.fixture
def displays(tmp_path):
    made = Displays(ConversationFolder(tmp_path), count_read_only=False)
    made.set_client("phone", keep=False, read_only=False, owner="", presentation={"content_width": 40})
    return made


def tells(displays):
    return WIDE_TABLE in displays.instruction()


def test_the_turn_after_a_wide_table_is_told_and_the_one_after_that_is_not(displays):
    displays.follow([UserMessage(text="Which?"), TABLE])
    assert not tells(displays), "within a turn it stays as it was"
    displays.follow([TurnComplete()])
    assert tells(displays)
    assert WIDE_TABLE not in displays.instruction("sub-agent")
    displays.follow([UserMessage(text="And now?"), AssistantText(text="Two.")])
    assert tells(displays)
    displays.follow([TurnComplete()])
    assert not tells(displays)


def test_whole_turns_may_come_at_once(displays):
    displays.follow([UserMessage(text="Which?"), TABLE, TurnComplete()])
    assert tells(displays)
    displays.follow([UserMessage(text="And?"), AssistantText(text="Two."), TurnComplete()])
    assert not tells(displays)


def test_a_turn_without_an_end_is_over_with_the_next_message(displays):
    displays.follow([UserMessage(text="Which?"), TABLE, UserMessage(text="And?")])
    assert tells(displays)
    displays.follow([UserMessage(text="So?")])
    assert not tells(displays)


def test_a_table_is_held_against_the_displays_of_its_turn(displays):
    displays.set_client("phone", keep=False, read_only=False, owner="", presentation={"content_width": 80})
    displays.follow([UserMessage(text="Which?"), TABLE])
    displays.set_client("phone", keep=False, read_only=False, owner="", presentation={"content_width": 40})
    displays.follow([TurnComplete(), UserMessage(text="And?")])
    assert not tells(displays)


def test_the_turns_of_an_agent_that_runs_here_are_those_that_it_says(displays):
    displays.driven = True
    displays.begin_turn()
    displays.follow([UserMessage(text="Which?"), TABLE, UserMessage(text="Faster!"), TurnComplete()])
    assert not tells(displays)
    displays.end_turn()
    assert tells(displays)
    displays.end_turn()
    assert tells(displays), "no turn has run since"
    displays.begin_turn()
    assert tells(displays)
    displays.end_turn()
    assert not tells(displays)


def test_events_that_are_refused_leave_nothing(displays):
    wrong = ClientConfig(client_id="phone", presentation={"content_width": -1})
    with pytest.raises(InputError):
        displays.follow([UserMessage(text="Which?"), TABLE, TurnComplete(), wrong])
    assert not tells(displays)
