"""A server and hosts of other versions: it speaks to those it can, and says how to replace the others."""

import asyncio

import pytest

from old_host import TERMINAL_OPERATIONS, OldHost
from vantage.conversation.live.host.agent_link import AgentLink
from vantage.conversation.live.host.client import HostClient
from vantage.errors import Unavailable
from vantage.ptyhost import protocol


@pytest.fixture
def home(tmp_path):
    tmp_path.chmod(0o700)
    return tmp_path


async def joined(home, then):
    host = await HostClient.connect(home)
    try:
        return await then(host)
    finally:
        await host.close()


@pytest.mark.parametrize("operations", [TERMINAL_OPERATIONS, None])
def test_a_host_of_protocol_1_is_spoken_to_in_its_version(home, operations):
    old = OldHost(home, [1], operations)

    async def ask(host):
        return host.pid, host.runs_agents, host.pauses, await host.request("list")

    try:
        pid, runs_agents, pauses, listed = asyncio.run(joined(home, ask))
    finally:
        old.close()
    assert (pid, runs_agents, pauses, listed["terminals"]) == (4711, False, operations is not None, [])
    assert old.asked == [("hello", protocol.PROTOCOL), ("hello", 1), ("list", None)]


def test_it_runs_no_agents_and_the_error_says_how_to_replace_it(home):
    old = OldHost(home, [1])

    async def run(host):
        async def connected():
            return host

        link = AgentLink("a", str(home / "a"), connected)
        for call in (link.attach(), link.open(["cat"], run="r1", env={}, cwd="/"), link.write(1, b"x")):
            with pytest.raises(Unavailable, match=r"process 4711.*cannot run agents") as refused:
                await call
            assert "'vantage stop --shells' ends it and its shells" in refused.value.hint

    try:
        asyncio.run(joined(home, run))
    finally:
        old.close()
    assert [op for op, _ in old.asked] == ["hello", "hello"]


def test_a_host_that_speaks_no_version_of_ours_is_refused(home):
    newer = OldHost(home, [protocol.PROTOCOL + 1])

    async def ask(host):
        raise AssertionError(host)

    try:
        with pytest.raises(Unavailable, match="another version") as refused:
            asyncio.run(joined(home, ask))
    finally:
        newer.close()
    assert "'vantage stop --shells'" in refused.value.hint
    assert newer.asked == [("hello", protocol.PROTOCOL)]
