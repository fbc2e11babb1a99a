"""An agent, started and talked to from Python."""

import asyncio

import pytest

import vantage
from agent_conversation import SCRIPTED, Driven
from terminal_home import environment
from vantage.errors import Busy, NotRunning


@pytest.fixture
def work(server):
    with vantage.connect(server.home) as client, server.conversation() as id:
        yield client.conversation(id)


def test_an_agent_is_started_told_interrupted_and_ended(server, work):
    with pytest.raises(NotRunning):
        work.say("hello")
    assert work.agent().state == "none"
    assert work.start_agent("claude", command=SCRIPTED, env=environment()).agent == "claude"
    with pytest.raises(Busy):
        work.start_agent("claude", command=SCRIPTED)
    driven = Driven(server, work.id)
    driven.until_state("idle")
    assert work.say("text hello\nhang").delivery == "now"
    driven.until(lambda _: driven.texts() == ["hello"], "text")
    assert work.interrupt()
    driven.until_turns(1)
    assert not work.interrupt()
    assert work.end_agent().state == "exited"


def test_the_same_with_asyncio(server, work):
    async def talk():
        again = await (await vantage.connect_async(server.home)).conversation(work.id)
        await again.start_agent("claude", command=SCRIPTED, env=environment())
        said = await again.say("text hello")
        return said, again

    said, again = asyncio.run(talk())
    assert said.delivery in ("now", "queued")
    Driven(server, work.id).until_turns(1)
    assert asyncio.run(again.agent()).state == "idle"
    assert not asyncio.run(again.interrupt())
    assert asyncio.run(again.end_agent()).state == "exited"
