"""The host reads about half a second of work ahead of what is derived, so an interrupt shows its prompt soon."""

import asyncio

import pytest

from host_harness import Client
from terminal_home import environment
from vantage.conversation.live.host.read_ahead import FIRST, MAX, MIN, TARGET_S, ReadAhead
from vantage.conversation.manager import Manager

PATIENCE = 60
FLOODS = {
    "lines": "yes",
    "queries": r"yes $'\e[6n\e[c'",
    "colours": r"yes $'\e[31mred\e[0m \e[1;32mgreen\e[0m text'",
    "blank lines": "yes ''",
    "tabs": r"yes $'\t'",
    "cursor movement": r"yes $'\e[5;10Hx\e[2;3Hyy\e[K' | tr -d '\n'",
    "wide characters": "yes '日本語日本語 漢字'",
    "the alternate screen": r"yes $'\e[?1049hx\e[?1049l'",
    "a line without an end": r"yes | tr -d '\n'",
    "full resets": r"yes $'\ec'",
    "random bytes": "cat /dev/urandom",
}
OVER = 1 << 17
"""Bytes that the host may read beyond a window: a turn's, and what it reads to its end at some requests."""


class Work:
    """A server that derives `rate` bytes a second, a host that prints as much as it may, and their clock."""

    def __init__(self, rate: float):
        self.rate, self.now, self.raw = rate, 0.0, 0
        self.ahead = ReadAhead(self.move, lambda: self.now)
        self.window = self.ahead.begin(0)
        self.moves = 0

    def move(self, upto: int) -> None:
        self.window = upto
        self.moves += 1

    def derive(self, size: int) -> None:
        size = min(size, self.window - self.raw)
        self.ahead.working()
        self.now += size / self.rate
        self.raw += size
        self.ahead.derived(self.raw)


@pytest.mark.parametrize("rate", [20e3, 100e3, 1e6, 5e6, 50e6])
def test_the_window_is_about_half_a_second_of_work(rate):
    work = Work(rate)
    for _ in range(2000):
        work.derive(8192)
    assert MIN <= work.window - work.raw <= max(MIN, rate * TARGET_S)
    assert work.window - work.raw >= min(rate * TARGET_S / 8, MAX / 2, MIN / 2)


def test_a_fast_flood_moves_the_window_seldom():
    work = Work(100e6)
    for _ in range(3000):
        work.derive(1 << 16)
    assert work.moves < 3000 * (1 << 16) / (MAX / 2) + 20


def test_time_without_work_does_not_count():
    work = Work(50e6)
    for _ in range(1000):
        work.derive(4096)
        work.ahead.idle()
        work.now += 1.0
    assert work.ahead.begin(0) >= FIRST


@pytest.mark.parametrize("name", FLOODS)
async def test_the_prompt_comes_however_slow_a_flood_is_to_draw(private_home, name):
    settings = {"cwd": "/", "env": environment(), "user_rc": False}
    async with Manager(private_home) as manager:
        conversation = manager.create("flood", **settings)
        live, terminal = conversation.live, conversation.terminal
        await terminal.exec_interactive(FLOODS[name])
        most = 0

        def flooded() -> bool:
            nonlocal most
            most = max(most, conversation.folder.raw.stat().st_size - live.terminal.raw)
            return live.terminal.raw > 3 * FIRST

        assert await live.waiters.until(flooded, PATIENCE)
        assert most <= MAX + OVER
        await terminal.ctrl_c()
        assert (await terminal.wait_for("PROMPT", timeout_ms=PATIENCE * 1000)).matched
        assert (await terminal.exec_block("echo on")).output == "on\n"
        await manager.delete("flood")


async def paused(conversation) -> int:
    """The length of the output once the host reads no more, though there is more to read: seen in five of its turns."""
    sizes = [-1]
    async with asyncio.timeout(PATIENCE):
        while len(sizes) < 5:
            answer = await conversation.live.ask("state")
            size = conversation.folder.raw.stat().st_size
            is_full = answer["unread_output"] > 0 and size - conversation.live.terminal.raw >= MIN
            sizes = [*sizes, size] if is_full and sizes[-1] == size else [size]
    return sizes[-1]


async def test_a_slow_server_holds_the_program_up_and_a_server_that_leaves_does_not(private_home):
    """While nothing is derived the output is bounded; when the server has ended the program continues."""
    settings = {"cwd": "/", "env": environment(), "user_rc": False}
    async with Manager(private_home) as manager:
        conversation = manager.create("flood", **settings)
        await conversation.terminal.exec_interactive("yes")
        conversation.live.told = lambda _message: None
        size = await paused(conversation)
        assert size - conversation.live.terminal.raw <= MAX + OVER
    client = Client(private_home)
    client.attach("flood")
    while client.event("output", "flood")["offset"] < size + 2 * MAX:
        pass
    client.close()
    async with Manager(private_home) as manager:
        conversation = manager.get("flood")
        await conversation.live.join_host()
        await conversation.terminal.ctrl_c()
        assert (await conversation.terminal.wait_for("PROMPT", timeout_ms=PATIENCE * 1000)).matched
        await manager.delete("flood")


async def test_a_host_that_cannot_pause_is_not_asked_to(private_home):
    """One of an earlier version refuses the operation: everything else works."""
    settings = {"cwd": "/", "env": environment(), "user_rc": False}
    async with Manager(private_home) as manager:
        host = await manager.host()
        assert host.pauses
        host.pauses = False
        asked, ask = [], host.ask

        def seen(op, **fields):
            asked.append((op, "upto" in fields))
            return ask(op, **fields)

        host.ask = seen
        conversation = manager.create("flood", **settings)
        assert (await conversation.terminal.exec_block(f"head -c {3 * FIRST} /dev/zero | wc -c")).exit_code == 0
        assert (await conversation.terminal.exec_block(f"yes | head -c {3 * FIRST}")).exit_code == 0
        assert asked
        assert not [op for op, window in asked if op == "window" or window]
        await manager.delete("flood")
