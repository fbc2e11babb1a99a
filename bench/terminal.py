"""The agent's terminal by the clock on the wall: what passes through it, what a command costs, how late a wait is."""

import asyncio
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.data.corpus import FLOOD, flood_file
from bench.run.answers import AT_END, Milliseconds
from vantage import open_terminal
from vantage.conversation.manager import Manager
from vantage.conversation.verbs.agent_terminal import AgentTerminal

Run = Callable[[], object]

COMMANDS = 200
TICKS = 200
TICKING = Path(__file__).parent / "tick.py"


class _Loop:
    """An event loop in a thread, so that a terminal stays open between rounds."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._open = AsyncExitStack()
        AT_END.append(lambda: self.run(self._open.aclose()))

    def at_end(self, work: Callable[[], Awaitable[None]]) -> None:
        self._open.push_async_callback(work)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def terminal(self, **settings: Any) -> AgentTerminal:
        return self.run(self._open.enter_async_context(open_terminal(user_rc=False, **settings)))

    def manager(self, home: Path) -> Manager:
        """One whose shells end with it."""
        return self.run(self._open.enter_async_context(_passing(home)))


@asynccontextmanager
async def _passing(home: Path) -> AsyncIterator[Manager]:
    async with Manager(home) as manager:
        try:
            yield manager
        finally:
            for settings in manager.list():
                await manager.close_conversation(settings.id)


def _timed(work: Callable[[], Awaitable[object]]) -> Callable[[], Coroutine[Any, Any, Milliseconds]]:
    async def run() -> Milliseconds:
        start = time.perf_counter()
        await work()
        return Milliseconds((time.perf_counter() - start) * 1000)

    return run


def cat_through(corpus: Path) -> Run:
    """Raw log, spool, screen, blocks and events: until the block has ended and all of it is derived."""
    path, loop = flood_file(corpus), _Loop()
    terminal = loop.terminal()
    work = _timed(lambda: terminal.exec_block(f"cat {path}", timeout_ms=600_000))
    return lambda: loop.run(work())


def cat_bare(corpus: Path) -> Run:
    """A loop that reads the terminal and throws away what it reads."""
    path = flood_file(corpus)

    def run() -> Milliseconds:
        start = time.perf_counter()
        pid, master = pty.fork()
        if pid == 0:
            os.execvp("cat", ["cat", str(path)])
        try:
            while os.read(master, 65536):
                pass
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(master)
        return Milliseconds((time.perf_counter() - start) * 1000)

    return run


def exec_true(_corpus: Path) -> Run:
    loop = _Loop()
    terminal = loop.terminal()
    loop.run(terminal.exec_block("true"))

    async def work() -> Milliseconds:
        times = []
        for _ in range(COMMANDS):
            await terminal.live.waiters.until(lambda: terminal.live.state.phase == "idle")
            start = time.perf_counter()
            await terminal.exec_block("true")
            times.append(time.perf_counter() - start)
        return Milliseconds(median(times) * 1000)

    return lambda: loop.run(work())


def fresh_bash(_corpus: Path) -> Run:
    def run() -> Milliseconds:
        times = []
        for _ in range(COMMANDS):
            start = time.perf_counter()
            subprocess.run(["bash", "-c", "true"], check=True)
            times.append(time.perf_counter() - start)
        return Milliseconds(median(times) * 1000)

    return run


async def _tick_latency(terminal: AgentTerminal) -> Milliseconds:
    """From when a program prints a line to when the wait for it returns."""
    late = []
    game = await terminal.exec_interactive(f"{sys.executable} {TICKING} {TICKS}")
    cursor = game.cursor
    for number in range(TICKS):
        found = await terminal.wait_for(f"tick {number} at [0-9]+\n", regex=True, from_cursor=cursor)
        now = time.monotonic_ns()
        late.append(now - int(re.findall("[0-9]+", found.match_text or "")[1]))
        cursor = found.cursor
    await terminal.wait_for("EOF", session_id=game.session_id)
    return Milliseconds(median(late) / 1e6)


def wait_tick(_corpus: Path) -> Run:
    loop = _Loop()
    terminal = loop.terminal()
    return lambda: loop.run(_tick_latency(terminal))


def wait_small(corpus: Path) -> Run:
    return _wait_behind(corpus, 1 << 20)


def wait_large(corpus: Path) -> Run:
    return _wait_behind(corpus, 1 << 30)


def _wait_behind(corpus: Path, size: int) -> Run:
    """The same behind a spool of a size."""
    loop = _Loop()
    terminal = loop.terminal()
    path = flood_file(corpus)
    count, rest = divmod(size, FLOOD)
    for _ in range(count):
        loop.run(terminal.exec_block(f"cat {path}", timeout_ms=600_000))
    loop.run(terminal.exec_block(f"head -c {rest} {path}", timeout_ms=600_000))
    return lambda: loop.run(_tick_latency(terminal))


def reattach_small(corpus: Path) -> Run:
    return _reattach(corpus, 1 << 20)


def reattach_large(corpus: Path) -> Run:
    return _reattach(corpus, 1 << 30)


def _reattach(corpus: Path, size: int) -> Run:
    """A new process's work until it knows what its terminal shows and runs: the manager, the files, the host."""
    home = corpus / f"home-{size}"
    path = flood_file(corpus)

    async def fill() -> None:
        async with open_terminal(home=home, user_rc=False) as terminal:
            count, rest = divmod(size, FLOOD)
            for _ in range(count):
                await terminal.exec_block(f"cat {path}", timeout_ms=600_000)
            await terminal.exec_block(f"head -c {rest} {path}", timeout_ms=600_000)

    async def work() -> Milliseconds:
        start = time.perf_counter()
        async with Manager(home) as manager:
            terminal = manager.get("main").terminal
            await terminal.status()
            await terminal.read_screen()
            return Milliseconds((time.perf_counter() - start) * 1000)

    async def end() -> None:
        async with _passing(home):
            pass

    loop = _Loop()
    loop.run(fill())
    loop.at_end(end)
    return lambda: loop.run(work())


def wait_beside_flood(corpus: Path) -> Run:
    """How late a wait is in one terminal while another one is flooded."""
    loop = _Loop()
    path = flood_file(corpus)

    manager = loop.manager(corpus / f"flooded-{os.getpid()}")

    async def set_up() -> tuple[AgentTerminal, AgentTerminal]:
        quiet, loud = (manager.create(name, env=os.environ, user_rc=False).terminal for name in ("quiet", "loud"))
        await loud.exec_block("true")
        return quiet, loud

    quiet, loud = loop.run(set_up())

    async def work() -> Milliseconds:
        await loud.exec_block(f"while cat {path}; do :; done", timeout_ms=0)
        try:
            return await _tick_latency(quiet)
        finally:
            await loud.ctrl_c()
            await loud.wait_for("PROMPT")

    return lambda: loop.run(work())


def conversations_memory(corpus: Path) -> Run:
    """Megabytes that an idle conversation costs host and server together, of 200; shells are not counted."""
    count = 200

    async def work() -> Milliseconds:
        home = corpus / f"many-{os.getpid()}-{time.monotonic_ns()}"
        async with _passing(home) as manager:
            first = manager.create("first", env=os.environ, user_rc=False)
            await first.terminal.exec_block("true")
            host = (await manager.host()).pid
            before = _memory(os.getpid()) + _memory(host)
            for number in range(count):
                conversation = manager.create(f"c{number}", env=os.environ, user_rc=False)
                await conversation.terminal.exec_block("echo hello")
            after = _memory(os.getpid()) + _memory(host)
        return Milliseconds((after - before) / count)

    return lambda: asyncio.run(work())


def screen_at(corpus: Path) -> Run:
    """A look at any moment of a log of 200 MB: the slowest of twenty."""
    loop = _Loop()
    terminal = loop.terminal()
    loop.run(terminal.exec_block(f"cat {flood_file(corpus)}", timeout_ms=600_000))
    end = terminal.live.terminal.raw

    async def work() -> Milliseconds:
        times = []
        for number in range(20):
            start = time.perf_counter()
            await terminal.read_screen(at_offset=(end * (2 * number + 1)) // 40, style=True)
            times.append(time.perf_counter() - start)
        return Milliseconds(max(times) * 1000)

    return lambda: loop.run(work())


def sixty_milliseconds(_corpus: Path) -> Run:
    return lambda: Milliseconds(60.0)


def two_megabytes(_corpus: Path) -> Run:
    return lambda: Milliseconds(2.0)


def _memory(pid: int) -> float:
    """Megabytes that are this process's alone."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
