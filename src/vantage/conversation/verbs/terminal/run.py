"""The verbs that run a command: to its end, or as a program to talk to.

Commands are given to the shell one at a time: a command is refused while something runs, and the shell is locked until
it has begun the command.
"""

import asyncio
import contextlib
import re
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from vantage.conversation.checks import directory
from vantage.conversation.store.files.disk_errors import no_room
from vantage.conversation.verbs.terminal import calls, turn
from vantage.conversation.verbs.terminal.output import alternate_screen, is_picture, output_of, so_far
from vantage.conversation.verbs.terminal.params import ExecBlock, ExecInteractive
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import Ran, Started, set_awaited
from vantage.conversation.verbs.terminal.screen import selected_now
from vantage.conversation.verbs.verb import verb
from vantage.errors import Busy, Conflict, Do, InputError, Unavailable
from vantage.ptyhost import protocol, shells
from vantage.terminal.modes import EXPECTS_COMMAND
from vantage.terminal.output.blocks import Block
from vantage.terminal.state import Pending

SHELL_START_S = 30.0
BEGIN_S = 30.0
SOON_S = 0.5
"""Seconds that a shell gets to begin a command before the terminal's settings are sampled continuously."""
MAX_COMMAND = 16 << 20
TAIL_LINES = 5
LINE_END = "\n"
MAX_SHOWN = 100
COMMAND_OVER = "]133;D;"
"""The host reports a short command's whole output at once, when this mark is in it."""
SECOND_TERMINAL = Do("exec_block", "with another conversation id runs it in a second terminal")
_SURROGATES = re.compile("[\ud800-\udfff]")


class Command(msgspec.Struct, frozen=True):
    """A command that is being given to the shell."""

    text: str
    cwd: str | None
    origin: str
    """`exec` or `interactive`."""
    session_id: str | None = None


class Begun(msgspec.Struct, frozen=True):
    block: Block
    note: str
    """Set when the shell is not the one that the caller knew."""


@verb("Run a shell command and return its output and exit code.")
async def exec_block(terminal: PtyTerminal, params: ExecBlock) -> Ran:
    """Runs a command as if a careful person had typed it. Waits up to `timeout_ms` for its end or its question."""
    wait = await turn.asked(terminal, params)
    live = terminal.live
    begun = await turn.acted(wait, _give(terminal, Command(params.command, params.cwd, "exec")))
    block = begun.block
    ran = Ran(
        block_id=block.block_id, seq=block.seq, ts_begin=block.ts_begin, cursor=block.spool.start, note=begun.note
    )
    ran = await turn.waited(terminal, wait, ran, block.block_id)
    if wait is None and params.timeout_ms:
        over = partial(live.is_over, block.seq)
        set_awaited(ran, await live.input_watch.until(over, params.timeout_ms / 1000))
    has_waited = wait is not None or params.timeout_ms > 0
    ran.running = not live.is_over(block.seq)
    block = live.block(block.block_id)
    if has_waited and not ran.running:
        await _report(terminal, ran, block, params.max_output)
    if has_waited and block.alt_screen:
        shown = await alternate_screen(terminal, so_far(terminal, block), params.max_output)
        ran.screen, ran.selected = shown.text, shown.selected
    if ran.awaiting is not None and ran.screen is None and is_picture(terminal, so_far(terminal, block)):
        ran.selected = selected_now(terminal.screen())
    return ran


@verb("Start a program to talk to: a REPL, a debugger, an editor.")
async def exec_interactive(terminal: PtyTerminal, params: ExecInteractive) -> Started:
    """Starts a program to talk to with `send`, `keys` and `wait_for`."""
    wait = await turn.asked(terminal, params)
    command = Command(params.command, params.cwd, "interactive", f"s-{secrets.token_hex(4)}")
    begun = await turn.acted(wait, _give(terminal, command))
    block = begun.block
    started = Started(
        session_id=block.session_id,
        block_id=block.block_id,
        seq=block.seq,
        ts_begin=block.ts_begin,
        cursor=block.spool.start,
        note=begun.note,
    )
    return await turn.waited(terminal, wait, started, block.block_id)


async def _report(terminal: PtyTerminal, ran: Ran, block: Block, max_output: int) -> None:
    """The result fields of a command that has ended."""
    reading = await output_of(terminal, block, max_output, "both")
    ran.exit_code = block.exit_code
    ran.done_because = block.done_because
    ran.duration_ms = block.duration_ms
    ran.cwd = terminal.live.state.cwd
    ran.output = reading.text
    ran.omitted = reading.omitted
    ran.omitted_bytes = reading.omitted_bytes
    ran.truncated = reading.omitted is not None
    if block.done_because == "lost" and terminal.live.state.unhooked:
        ran.note = "this command has replaced the shell or disabled its hooks, so its end is not seen: it needs a reset"


async def _give(terminal: PtyTerminal, command: Command) -> Begun:
    """Makes the shell begin a command. A second command at the same time is refused as `busy`."""
    live = terminal.live
    _check_command(command.text)
    await live.join_host()
    if (block := await _given_before(terminal, command)) is not None:
        return _begun_at(terminal, Begun(block, ""))
    terminal.keyboard.check()
    await terminal.prompts.line_taken()
    _check_idle(terminal)
    if command.cwd is not None:
        home = live.settings.env.get("HOME", "~")
        cwd = directory(command.cwd, live.state.cwd or live.settings.cwd, home)
        command = msgspec.structs.replace(command, cwd=cwd)
    async with live.lock.keeping():
        _check_idle(terminal)
        terminal.starting = True
        try:
            await terminal.prompts.line_emptied()
            note = await _ready_shell(terminal)
            block = await _type(terminal, command)
        finally:
            terminal.starting = False
    return _begun_at(terminal, Begun(block, note))


def _begun_at(terminal: PtyTerminal, begun: Begun) -> Begun:
    """Notes where the command's own output begins: a wait without a cursor starts there."""
    block = begun.block
    terminal.live.position.cursor = block.spool.start
    terminal.note_place(block.spool.start, block.raw.start)
    return begun


async def _given_before(terminal: PtyTerminal, command: Command) -> Block | None:
    """The block of this call's command if the shell has it already, from this server or from an earlier one."""
    live, call = terminal.live, calls.current()
    if call is None:
        return None
    request, pending = call.call_id, live.state.pending
    if pending is not None and pending.id == request:
        live.given.expect(request)
        block = await _begun(terminal, request, None)
    elif (block_id := live.block_for(request)) is not None:
        block = live.block(block_id)
    else:
        return None
    if (block.cmd, block.origin) != (command.text, command.origin):
        raise Conflict(f"call {request} ran another command", hint="use another call_id")
    return block


def _check_command(command: str) -> None:
    if "\0" in command:
        raise InputError("the command has a NUL character in it", hint="no shell takes one: write it as \\0 for printf")
    if _SURROGATES.search(command):
        raise InputError("the command has half a character in it (a lone surrogate)", hint="no text can hold one")
    if len(command) > MAX_COMMAND:
        raise InputError(f"the command has {len(command):,} characters", hint="write it to a file and run that")


def _check_idle(terminal: PtyTerminal) -> None:
    state = terminal.live.state
    if not terminal.starting and state.phase in EXPECTS_COMMAND:
        return
    active = state.block or state.pending
    if active is None:
        raise Busy(
            "another command is being started", do=[Do("wait_for", "waits until the shell is ready", match="PROMPT")]
        )
    if active.origin == "interactive":
        session_id = active.session if isinstance(active, Pending) else active.session_id
        steps = [
            Do("send", "types into it"),
            Do("keys", "presses keys in it"),
            Do("wait_for", "waits for what it prints"),
            Do("read_screen", "shows it"),
            Do("end_session", "ends it", session_id=session_id),
            SECOND_TERMINAL,
        ]
        raise Busy(f"an interactive session runs ({_short(active.cmd)})", do=steps, facts={"session_id": session_id})
    steps = [
        Do("wait_for", "waits for its end", match="PROMPT"),
        *([Do("read_block", "shows its output so far", block_id=state.block.block_id)] if state.block else ()),
        Do("send", "answers it if it asks something"),
        Do("ctrl_c", "interrupts it"),
        Do("end_session", "ends it"),
        SECOND_TERMINAL,
    ]
    facts = {"block_id": state.block.block_id} if state.block else {}
    raise Busy(f"a command runs ({_short(active.cmd)})", do=steps, facts=facts)


def _short(command: str) -> str:
    line = command.strip().split("\n", 1)[0]
    return line if len(line) <= 60 else line[:59] + "…"


async def _ready_shell(terminal: PtyTerminal) -> str:
    """Waits until a shell is at its prompt. Returns a note for the caller when it is not the shell it knew."""
    live = terminal.live

    def settled() -> bool:
        return live.state.phase in ("idle", "exited")

    def settled_or_stalled() -> bool:
        return settled() or live.link.stalled != "" or live.lock.overruled

    _check_followed(terminal)
    known = live.state.phase != "none"
    if live.alive:  # it may end before its prompt
        if not settled():
            await _let_output_flow(terminal)
        ready = await live.waiters.until(settled_or_stalled, SHELL_START_S)
    fresh = not live.alive
    if fresh:
        await live.start()
        ready = await live.waiters.until(settled_or_stalled, SHELL_START_S)
    _check_overruled(terminal)
    if live.link.stalled and not settled():
        raise Unavailable(f"the terminal is stalled: {live.link.stalled}", hint="free some disk space: nothing is lost")
    if live.state.phase == "exited":
        raise Unavailable("the shell ended while it started", hint=f"it said: {terminal.tail(TAIL_LINES)!r}")
    if not ready:
        raise Unavailable(
            f"the shell shows no prompt after {SHELL_START_S:.0f} s",
            hint=f"its last output: {terminal.tail(TAIL_LINES)!r}",
            do=[Do("read_screen", "shows it"), Do("reset", "starts a fresh one (user_rc: false may help)")],
        )
    return "the shell had ended: this runs in a fresh one" if fresh and known else ""


def _check_followed(terminal: PtyTerminal) -> None:
    """Refuses a command for a shell without running hooks: neither its output nor its end would be seen."""
    if terminal.live.alive and terminal.live.state.unhooked:
        raise Unavailable(
            "the shell no longer says when a command begins and ends: a command before has disabled its hooks",
            hint=f"its last output: {terminal.tail(TAIL_LINES)!r}",
            do=[Do("reset", "starts a fresh shell")],
        )


async def _let_output_flow(terminal: PtyTerminal) -> None:
    """A Ctrl-S that was typed before would keep the prompt from being printed."""
    with contextlib.suppress(Unavailable):  # a host of an earlier version cannot do this
        await terminal.live.ask("flow")


def _shown(terminal: PtyTerminal, command: str) -> str:
    """The line with which the shell will show a command: after its prompt. A long command is shown in part."""
    screen = terminal.live.terminal.screen
    if screen is None or screen.alt_screen:
        return ""
    lines, at = screen.unwrapped()
    return f"{lines[at].rstrip()} {command.strip().partition(LINE_END)[0][:MAX_SHOWN]}"


async def _type(terminal: PtyTerminal, command: Command) -> Block:
    """Types a command at the prompt, and waits until the shell has begun it."""
    live, call = terminal.live, calls.current()
    request = call.call_id if call is not None else secrets.token_hex(6)
    folder, shell = live.hooks.folder(live.state.shell_id), shells.Shell(live.state.kind, "")
    try:
        editor = shell.kind != "bash" or live.hooks.in_editor() or not (await live.sampler.look()).canonical
        typed = shells.type_command(shell, folder, command.text, cwd=command.cwd, editor=editor)
    except OSError as error:
        raise no_room(error) from error
    terminal.command_line = _shown(terminal, command.text)
    record = {
        "t": "exec",
        "id": request,
        "cmd": command.text,
        "origin": command.origin,
        "session": command.session_id,
    }
    # A journal that cannot be written now may get an earlier server's record later: the host knows both.
    once = {"call": {"id": request, "at": 0, "end": 1, "size": 1}} if call is not None else {}
    live.given.expect(request)
    failed: asyncio.Future[dict[str, Any]] | None = None
    try:
        failed = await live.tell(
            "input",
            data=protocol.encode_data(typed.data),
            check="none",
            record=record,
            echo_off=typed.echo_off,
            expects=COMMAND_OVER,
            **once,
        )
    finally:
        if failed is None:
            live.given.forget(request)
    return await _begun(terminal, request, failed)


async def _begun(terminal: PtyTerminal, request: str, failed: "asyncio.Future[dict[str, Any]] | None") -> Block:
    """The block of an expected command, once the shell has begun it. `failed` ends if it cannot be typed."""
    live = terminal.live

    def decided() -> bool:
        begun = live.given.begun(request) is not None
        return begun or (failed is not None and failed.done()) or live.link.stalled != "" or live.lock.overruled

    try:
        await _begins(terminal, decided)
        if failed is not None:
            await live.link.cancel_failure(failed)
    finally:
        block_id = live.given.forget(request)
    if block_id is not None:
        _check_followed(terminal)
        return live.block(block_id)
    _check_overruled(terminal)
    if live.link.stalled:
        raise Unavailable(
            f"the command is run when there is room: {live.link.stalled}",
            hint="free some disk space",
            do=[Do("blocks", "lists it once it has begun")],
        )
    raise Unavailable(
        f"the shell did not begin the command within {BEGIN_S:.0f} s",
        hint=f"its last output: {terminal.tail(TAIL_LINES)!r}",
        do=[Do("read_screen", "shows it"), Do("ctrl_c", "interrupts it"), Do("reset", "starts a fresh one")],
    )


async def _begins(terminal: PtyTerminal, decided: Callable[[], bool]) -> None:
    """Waits until a command has begun or cannot begin. If it does not begin soon, the shell may have lost its hooks."""
    live = terminal.live
    if await live.waiters.until(decided, SOON_S):
        return
    await _let_output_flow(terminal)
    live.sampler.watch()
    try:
        await live.waiters.until(decided, BEGIN_S - SOON_S)
    finally:
        live.sampler.unwatch()


def _check_overruled(terminal: PtyTerminal) -> None:
    if terminal.live.lock.overruled:
        raise Conflict(
            "the terminal was reset or closed before the shell began the command",
            hint="give it again when that is done",
            do=[Do("blocks", "lists what ran")],
        )
