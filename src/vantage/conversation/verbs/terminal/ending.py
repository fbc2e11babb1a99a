"""The verbs that end a program or the shell, and the one that changes the terminal's size."""

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

from vantage.conversation.verbs.terminal import calls
from vantage.conversation.verbs.terminal.leaving import Running, has_prompt, leave
from vantage.conversation.verbs.terminal.params import EndSession, Resize
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import Ended, Reset, Size
from vantage.conversation.verbs.terminal.run import SHELL_START_S
from vantage.conversation.verbs.verb import NoParams, verb
from vantage.errors import Do, Unavailable
from vantage.ptyhost import processes, protocol

STEP_TIMEOUT_S = 2.0
"""How long each way of ending a program gets before the next, stronger one."""
KILL_TIMEOUT_S = 2.0
"""How long a program that was killed may take to be gone before everything in the terminal is killed."""
REPL_TIMEOUT_S = 5.0
"""Seconds for a shell or REPL, which saves its history and runs its exit hooks after the quit word."""


@verb("End what runs, politely first.", destructive=True)
async def end_session(terminal: PtyTerminal, params: EndSession) -> Ended:
    """Ends an interactive program or a running command, and says how it ended.

    A question is never answered: words are typed only where `leaving` is certain. The ways get stronger step by step.
    """
    live = terminal.live
    terminal.keyboard.check()
    await live.join_host()
    block_id = terminal.block_of(params.session_id) if params.session_id else _running(terminal)
    if live.alive or calls.repeated():
        # The program that was to end when the call was first sent: another one may run now.
        begun = await calls.begun_with(terminal, certain=live.alive and not params.session_id, block=block_id)
        block_id = begun["block"]
        if "how" in begun and terminal.has_ended(block_id):
            return Ended(how=begun["how"], typed=begun["typed"])
    if block_id is None or terminal.has_ended(block_id):
        return Ended(how="already_ended")
    if params.dry_run:
        running = None if params.force else await _foreground(terminal)
        words = leave(running) if running is not None else None
        how = "terminate" if params.force else "exit" if words else "ctrl_c"
        return Ended(how=how, typed=words.words if words else None)
    await live.ask("journal", record={"t": "end", "session": params.session_id})
    with live.hooks.ending():
        return await _end(terminal, block_id, force=params.force)


async def _end(terminal: PtyTerminal, block_id: str, *, force: bool) -> Ended:
    live = terminal.live

    async def ends(timeout_s: float, at_prompt: Running | None = None) -> bool:
        """Whether it ends in time. A program that shows its prompt, or waits for input again, is not waited for."""
        await live.input_watch.until(partial(_may_be_left, terminal, block_id, at_prompt), timeout_s)
        return terminal.has_ended(block_id)

    for how, act in _WAYS:
        if force and how != "terminate":
            continue
        running = await _foreground(terminal)
        done = await act(terminal, running)
        if done is None:
            continue
        await calls.keep(terminal, block=block_id, how=how, typed=done or None)
        timeout_s = REPL_TIMEOUT_S if running is not None and has_prompt(running) else STEP_TIMEOUT_S
        if await ends(timeout_s, running if how == "ctrl_c" else None):
            return Ended(how=how, typed=done or None)
    await _signal(terminal, "KILL")
    await calls.keep(terminal, block=block_id, how="kill", typed=None)
    if not await ends(KILL_TIMEOUT_S):
        await live.ask("kill", grace_ms=0)
        await ends(KILL_TIMEOUT_S)
    return Ended(how="kill")


def _running(terminal: PtyTerminal) -> str | None:
    block = terminal.live.state.block
    return block.block_id if block is not None else None


async def _foreground(terminal: PtyTerminal) -> Running | None:
    """The program that has the terminal, if words may be typed into it at all."""
    live = terminal.live
    sample = await live.sampler.look()
    pid, screen = sample.foreground_pid, live.terminal.screen
    if pid is None or screen is None or sample.awaiting_secret or live.hooks.is_shell(pid):
        return None  # the shell itself has the terminal: for a builtin (`read`), or for a program it is about to start
    return Running(
        arguments=processes.arguments(pid),
        line=_caret_line(terminal),
        full_screen=screen.alt_screen,
        started_by_shell=processes.parent(pid) == live.state.pid,
    )


def _caret_line(terminal: PtyTerminal) -> str:
    """The line of the cursor, up to the cursor."""
    screen = terminal.live.terminal.screen
    return screen.row(screen.cursor.row).text[: screen.cursor.col] if screen is not None else ""


def _may_be_left(terminal: PtyTerminal, block_id: str, running: Running | None) -> bool:
    """Whether a command has ended, or shows a prompt at which it can be left."""
    if terminal.has_ended(block_id) or running is None:
        return terminal.has_ended(block_id)
    return leave(running._replace(line=_caret_line(terminal))) is not None


async def _leave(terminal: PtyTerminal, running: Running | None) -> str | None:
    words = leave(running) if running is not None else None
    if words is None:
        return None
    await terminal.live.ask("input", data=protocol.encode_data(words.keys), check="none", timeout_ms=0)
    return words.words


async def _interrupt(terminal: PtyTerminal, _: Running | None) -> str:
    await terminal.live.ask("interrupt")
    return ""


async def _interrupt_again(terminal: PtyTerminal, running: Running | None) -> str | None:
    """A key for the line editor: readline holds back a Ctrl-C that comes just before it reads, until the next key."""
    if running is None or not has_prompt(running):
        return None
    return await _interrupt(terminal, running)


async def _terminate(terminal: PtyTerminal, _: Running | None) -> str:
    await _signal(terminal, "TERM")
    await _signal(terminal, "CONT")  # a stopped program gets no other signal
    return ""


_WAYS: tuple[tuple[str, Callable[[PtyTerminal, Running | None], Awaitable[str | None]]], ...] = (
    ("exit", _leave),
    ("ctrl_c", _interrupt),
    ("exit", _leave),
    ("ctrl_c", _interrupt_again),
    ("exit", _leave),
    ("terminate", _terminate),
)
"""Ways to end a program, the weakest first: a name, and what does it.

The function returns the words that were typed, or None when nothing was done. A shell that was in the middle of a line,
or a REPL that computed, is back at its prompt after the interrupt.
"""


async def _signal(terminal: PtyTerminal, name: str) -> None:
    """To the foreground process group, which may end at this very moment.

    The shell is there then, or all the time if it has no job control. It ignores TERM, and is not to be killed.
    """
    with contextlib.suppress(Unavailable):
        await terminal.live.ask("signal", signal=name, to="foreground", spare_shell=name == "KILL")


@verb("Kill everything in the terminal and start a fresh shell.", destructive=True)
async def reset(terminal: PtyTerminal, _: NoParams) -> Reset:
    """Ends everything in the terminal and starts a fresh shell. History stays readable."""
    live = terminal.live
    terminal.keyboard.check()
    async with live.lock.ending():
        await live.join_host()
        begun = await calls.begun_with(terminal, certain=live.alive, shell=live.state.shell_id)
        if live.alive and begun["shell"] == live.state.shell_id:
            await live.ask("journal", record={"t": "reset"})
            await live.ask("kill")
            await live.waiters.until(lambda: not live.alive or live.stalled is not None)
            if live.alive:
                raise Unavailable(
                    f"no fresh shell can be started: {live.stalled}",
                    hint="the shell has ended; free some disk space",
                    do=[Do("reset", "starts a fresh one then")],
                )
        if not live.alive:
            await live.start()
        await live.waiters.until(lambda: live.state.phase in ("idle", "exited") or live.lock.overruled, SHELL_START_S)
    live.position.cursor = live.terminal.cursor
    return Reset(shell_id=live.state.shell_id, pid=live.state.pid)


@verb("Give the terminal another size.")
async def resize(terminal: PtyTerminal, params: Resize) -> Size:
    live, cols, rows = terminal.live, params.cols, params.rows
    await live.join_host()
    if live.alive:
        await live.ask("resize", cols=cols, rows=rows)
        await live.waiters.until(lambda: (live.state.cols, live.state.rows) == (cols, rows), STEP_TIMEOUT_S)
    live.remember_size(cols, rows)
    return Size(cols=cols, rows=rows)
