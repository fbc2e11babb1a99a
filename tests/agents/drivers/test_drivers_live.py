"""Real agents, driven: the conversations that are recorded, played again, and what the model was told in each turn."""

import json

import pytest

from conversations import AGAIN, AGENTS, NARROW, TALK, WIDE, driven, is_installed, resume, stop, talk
from driven import written
from scripted_model import ScriptedModel
from vantage import events as ev

agents = pytest.mark.parametrize("name", [name for name in AGENTS if is_installed(name)])


def told(model: ScriptedModel) -> list[str]:
    """What the model was told, request by request, without asides."""
    return [text for _, body in model.requests if TALK in (text := json.dumps(body, ensure_ascii=False))]


@agents
def test_a_conversation_goes_on_in_another_process(name, tmp_path):
    with driven(name, tmp_path, "run1") as (it, model):
        talk(it)
    assert [one.finish for one in it.events if isinstance(one, ev.TurnComplete)].count("exited") == 0
    asked = told(model)
    first = [one for one in asked if WIDE in one and NARROW not in one]
    assert first, "the first turn has the display of its moment"
    assert NARROW in asked[-1], "the second has another"
    assert "No notes, please." in asked[-1]
    assert (tmp_path / "project/counted").exists()
    assert not (tmp_path / "project/note.md").exists()
    assert "I leave it at that." in "".join(one.text for one in it.events if isinstance(one, ev.AssistantDelta))
    assert not [one for one in it.events if isinstance(one, ev.UnknownEvent)], written(it.records)
    if not AGENTS[name].resumes:
        return

    with driven(name, tmp_path, "run2", resume=it.driver.session) as (later, model):
        resume(later)
    assert AGAIN in told(model)[-1]
    assert not [one for one in later.events if isinstance(one, ev.Request)], "our tools need no approval"
    (end,) = [one for one in later.events if isinstance(one, ev.ToolEnd)]
    assert "pty_exec_block" in str(end.tool)
    assert "No targets" in str(end.output)


@agents
def test_a_turn_is_interrupted_while_it_waits_and_while_it_works(name, tmp_path):
    with driven(name, tmp_path, "run1") as (it, _):
        stop(it)
    closed = [one.why for one in it.events if isinstance(one, ev.RequestClosed)]
    assert closed in (["withdrawn"], ["answered_elsewhere"])
    assert [one.finish for one in it.events if isinstance(one, ev.TurnComplete)].count("interrupted") == 2
    assert len([one for one in it.events if isinstance(one, ev.Canceled)]) == 2
    assert not (tmp_path / "project/asked").exists()
