"""An error in one conversation does not affect others, and the failed part is derived and drawn again."""

import asyncio
import logging
from contextlib import asynccontextmanager

import pytest

from terminal_home import environment
from vantage.conversation.live import pump
from vantage.conversation.manager import Manager
from vantage.conversation.store.derived.rebuild import rebuild
from vantage.errors import Unavailable
from vantage.terminal.core import TerminalCore
from vantage.terminal.engines import kind_of
from vantage.terminal.screen import screen

PATIENCE = 60


class Fault(Exception):
    """An exception that no code expects."""


class Fragile:
    """The real emulator, which some bytes break: when they are fed, or when the screen is looked at afterwards."""

    def __init__(self, engine):
        self.__dict__["engine"] = engine
        self.__dict__["broken"] = False

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def __setattr__(self, name, value):
        setattr(self.engine, name, value)

    def feed(self, data):
        if b"BREAK FEED" in data:
            raise Fault("fed")
        if b"BREAK LOOK" in data:
            self.__dict__["broken"] = True
        self.engine.feed(data)

    def dirty(self):
        if self.broken:
            raise Fault("looked at")
        return self.engine.dirty()

    def title(self):
        if self.broken:
            raise Fault("asked for its title")
        return self.engine.title()

    def encode(self):
        if self.broken:
            raise Fault("encoded")
        return self.engine.encode()


class FragileKind:
    def __init__(self):
        self.kind = kind_of()
        self.name, self.build = self.kind.name, self.kind.build

    def __call__(self, cols, rows):
        return Fragile(self.kind(cols, rows))

    def decode(self, data, cols, rows):
        return Fragile(self.kind.decode(data, cols, rows))


@pytest.fixture
def fragile(monkeypatch):
    kind = FragileKind()
    monkeypatch.setattr(screen, "kind_of", lambda _="auto": kind)


@asynccontextmanager
async def two(home):
    """A conversation where something breaks, and another one that shares everything with it but its files."""
    made = {"cwd": str(home), "env": environment(), "user_rc": False}
    async with Manager(home) as manager:
        first, second = manager.create(**made), manager.create(**made)
        host = await manager.host()
        try:
            await first.terminal.exec_block("echo first")
            await second.terminal.exec_block("echo second")
            yield first, second
            assert await manager.host() is host, "the connection that all conversations share was closed"
        finally:
            for each in (first, second):
                await manager.delete(each.id)


async def until(holds):
    """Repeats a request until the condition holds. Each request reaches the terminal."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if answer := await holds():
                return answer
            await asyncio.sleep(0.01)


async def shown(terminal):
    """The text on the screen; nothing while there is none."""
    try:
        return (await terminal.read_screen())["text"]
    except Unavailable as error:
        assert "anew" in str(error), error
        return ""


BROKEN = ["BREAK FEED", "BREAK LOOK"]


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.usefixtures("fragile")
async def test_an_emulator_that_raises(private_home, caplog, monkeypatch, what):
    async with two(private_home) as (first, second):
        half, rest = what.split()
        ran = await asyncio.gather(
            *(
                first.terminal.exec_block(f"printf '%s %s\\n' {half} {rest}; echo after {number}")
                for number in range(1)
            ),
            *(second.terminal.exec_block("seq 3") for _ in range(1)),
        )
        assert (ran[0].output, ran[0].exit_code) == (f"{what}\nafter 0\n", 0), "only the screen may be lost"
        assert ran[1].output == "1\n2\n3\n"
        for number in range(5):
            assert (await first.terminal.exec_block(f"echo {number}")).output == f"{number}\n"
            assert (await second.terminal.exec_block(f"echo {number}")).output == f"{number}\n"
        await first.terminal.exec_block("echo seen again")

        async def there():
            await first.terminal.exec_block("echo seen again")
            return "seen again" in await shown(first.terminal)

        await until(there)
        assert not (await first.terminal.status())["stalled"]
        assert "second" in await shown(second.terminal)
        assert any(record.exc_info and record.exc_info[0] is Fault for record in caplog.records)
        assert not [record for record in caplog.records if second.id in record.getMessage()]
        assert first.live.title == ""
        monkeypatch.undo()
        assert await rebuilt(first) == []


async def rebuilt(conversation):
    """What differs when all is derived again. The shell's prompt comes behind the end of a block."""
    await conversation.terminal.wait_for("PROMPT")
    await conversation.live.written()
    return rebuild(conversation.folder, conversation.id, check=True).differences


@pytest.mark.parametrize("times", [1, 3])
async def test_a_derivation_that_raises(private_home, monkeypatch, caplog, times):
    """The error is reported and the derivation retried: everything is derived once, in order."""
    monkeypatch.setattr(pump, "RETRY_S", 0.05)
    left = times
    feed = TerminalCore.feed

    def failing(self, data):
        nonlocal left
        if b"BREAK" in data and left:
            left -= 1
            raise Fault
        return feed(self, data)

    async with two(private_home) as (first, second):
        monkeypatch.setattr(TerminalCore, "feed", failing)
        ran, other = await asyncio.gather(
            first.terminal.exec_block("printf '%s\\n' BREAK; seq 3"), second.terminal.exec_block("seq 3")
        )
        assert (ran.output, other.output) == ("BREAK\n1\n2\n3\n", "1\n2\n3\n")
        assert (await first.terminal.exec_block("echo on")).output == "on\n"
        assert not (await first.terminal.status())["stalled"]
        assert left == 0
        events = [event.type for event in first.events.read() if event.type.startswith("agent_block")]
        assert events == ["agent_block_begin", "agent_block_end"] * 3
        words = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
        assert len(words) == times
        assert all(first.id in each and "cannot be derived" in each for each in words), words
        monkeypatch.undo()
        assert await rebuilt(first) == []


async def test_a_derivation_that_always_raises(private_home, monkeypatch):
    """Its status says so, it is tried again less and less often, and what does not depend on it still answers."""
    monkeypatch.setattr(pump, "RETRY_S", 0.01)
    tries = 0
    feed = TerminalCore.feed

    def failing(self, data):
        nonlocal tries
        if b"BREAK" in data:
            tries += 1
            raise Fault
        return feed(self, data)

    async with two(private_home) as (first, second):
        monkeypatch.setattr(TerminalCore, "feed", failing)
        ran = asyncio.ensure_future(
            first.terminal.exec_block("printf '%s\\n' BREAK; echo after", timeout_ms=PATIENCE * 1000)
        )

        async def said():
            return (await first.terminal.status())["stalled"]

        assert "cannot be derived (Fault" in await until(said)
        assert (await second.terminal.exec_block("echo fine")).output == "fine\n"
        assert (await first.terminal.read_block("b1")).output == "first\n"
        before = tries
        for _ in range(20):
            assert (await second.terminal.exec_block("echo fine")).output == "fine\n"
        assert tries - before < 20
        monkeypatch.setattr(TerminalCore, "feed", feed)
        assert (await ran).output == "BREAK\nafter\n"


async def test_a_condition_that_raises_is_one_caller_s(private_home):
    def broken():
        if first.live.terminal.cursor > start:
            raise Fault
        return False

    async with two(private_home) as (first, second):
        start = first.live.terminal.cursor
        waiting = asyncio.ensure_future(first.live.waiters.until(broken))
        await asyncio.sleep(0)
        assert (await first.terminal.exec_block("echo on")).output == "on\n"
        with pytest.raises(Fault):
            await waiting
        assert (await second.terminal.exec_block("echo on")).output == "on\n"


HEAVY = {
    "full resets": (b"\x1bc" * 10_000, 10_000 / 1024),
    "colours": (b"\x1b[31mred\x1b[0m line of text\r\n" * 20_000, 20_000 * 27 / (1 << 16)),
}
"""What is printed, and in how many turns at least it is derived."""


@pytest.mark.parametrize("what", HEAVY)
async def test_a_flood_leaves_others_their_turn(private_home, what):
    """However much there is to derive at once, it is done in small pieces: the loop turns between them."""
    data, least = HEAVY[what]
    turns = 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with Manager(private_home) as manager:
        conversation = manager.create("flooded")
        conversation.folder.raw.write_bytes(data)
        conversation.folder.journal.write_bytes(b"")
        other = asyncio.ensure_future(others())
        await conversation.live.join_host()
        other.cancel()
        assert conversation.live.terminal.raw == len(data)
        assert turns >= least
        await manager.delete("flooded")
