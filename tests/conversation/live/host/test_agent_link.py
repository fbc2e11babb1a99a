"""An agent through the server's connection to the host: typed answers, events of each agent, errors with a way out."""

import asyncio
import os
import sys

import pytest

from agent_harness import ECHO
from host_harness import MARK, PATIENCE, Home
from vantage.conversation.live.host.agent_link import AgentLink, Lengths
from vantage.conversation.live.host.client import HostClient
from vantage.errors import InputClosed, InputFull, NotRunning, OutOfOrder, TooLarge, Unavailable
from vantage.ptyhost.protocol import MAX_PENDING


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    home.client()  # so that the host is known, and ended after the test
    yield home
    home.finish()


class Joined:
    """A connection, its links, and the events that came."""

    def __init__(self, home: Home, host: HostClient):
        self.home = home
        self.host = host
        self.events: list[dict] = []
        self._came = asyncio.Event()
        host.on_event = self._take

    def _take(self, message):
        self.events.append(message)
        self._came.set()

    def link(self, name="a") -> AgentLink:
        async def connected():
            return self.host

        return AgentLink(name, str(self.home.path / "conversations" / name / "agent"), connected)

    async def run(self, *argv, name="a", run="r1") -> AgentLink:
        link = self.link(name)
        await link.attach()
        env = {"PATH": os.environ["PATH"], MARK: str(self.home.path)}
        await link.open(argv or (sys.executable, "-c", ECHO), run=run, env=env, cwd="/")
        return link

    async def until(self, holds):
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._came.clear()
                await self._came.wait()


def in_host(home, test):
    async def run():
        host = await HostClient.connect(home.path)
        try:
            await test(Joined(home, host))
        finally:
            await host.close()

    asyncio.run(run())


def test_a_run_from_start_to_end(home):
    async def test(joined):
        link = joined.link()
        assert (await link.attach()) == (False, None, None, 0, 0, "", Lengths(0, 0, 0))
        started = await link.open(
            [sys.executable, "-c", ECHO], run="r1", env={MARK: str(home.path)}, cwd="/", record={"mode": "plan"}
        )
        assert started.run == "r1"
        journal = await link.write(1, b"one\n", {"key": "say 1"})
        folder = home.path / "conversations/a/agent"
        assert b'"key":"say 1"' in (folder / "stream.index").read_bytes()[:journal]
        await joined.until(lambda: joined.events[-1:] and joined.events[-1]["offset"] == len(b"got one\n"))
        found = await link.attach()
        assert (found.alive, found.pid, found.run, found.n, found.pending) == (True, started.pid, "r1", 1, 0)
        await link.close_input()
        await joined.until(lambda: joined.events[-1]["event"] == "exit")
        assert (await link.attach()).alive is False
        await link.forget()

    in_host(home, test)


def test_a_message_out_of_order_says_which_was_the_last(home):
    async def test(joined):
        link = await joined.run()
        await link.write(1, b"one\n")
        with pytest.raises(OutOfOrder, match="expected message 2") as refused:
            await link.write(1, b"one\n")
        assert refused.value.facts["last"] == 1
        await link.kill()

    in_host(home, test)


def test_events_of_two_agents_do_not_replace_each_other(home):
    async def test(joined):
        first, second = await joined.run(name="a"), await joined.run(name="b")
        joined.events.clear()
        # One message with both events: the client reads them at once.
        lines = [
            b'{"event":"output","agent":"%s","offset":%d,"journal":1,"stderr":0}\n' % each
            for each in ((b"a", 1), (b"b", 2), (b"a", 3))
        ]
        data = b"".join(lines)
        joined.host.get_buffer(-1)[: len(data)] = data
        joined.host.buffer_updated(len(data))
        assert [(event["agent"], event["offset"]) for event in joined.events] == [("b", 2), ("a", 3)]
        await first.kill()
        await second.kill()
        await joined.until(lambda: {each["agent"] for each in joined.events if each["event"] == "exit"} == {"a", "b"})

    in_host(home, test)


def test_errors_speak_of_an_agent(home):
    async def test(joined):
        link = joined.link()
        await link.attach()
        with pytest.raises(Unavailable, match="cannot run no-such-agent: No such file or directory"):
            await link.open(["no-such-agent"], run="r1", env={"PATH": "/bin"}, cwd="/")
        await joined.run("sleep", "1000")
        with pytest.raises(TooLarge, match="at most 67,108,864 bytes"):
            await link.write(1, b"x" * (MAX_PENDING + 1))
        await link.write(1, b"x" * 100_000)
        with pytest.raises(InputFull) as full:
            await link.write(2, b"x" * MAX_PENDING)
        assert "interrupt it" in full.value.hint
        await link.close_input()
        with pytest.raises(InputClosed):
            await link.write(2, b"x")
        await link.kill(0)
        with pytest.raises(NotRunning) as ended:
            await link.write(2, b"x")
        assert "new run" in ended.value.hint

    in_host(home, test)
