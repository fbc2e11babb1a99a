"""The verbs of an agent's terminal: run, type, wait, look, end. One implementation, whoever asks and however."""

import asyncio
import contextlib
import re
import secrets
from typing import Any

from vantage.conversation import results
from vantage.conversation.checks import at_least, directory, terminal_size, within
from vantage.conversation.endings import polite
from vantage.conversation.files import no_room
from vantage.conversation.reading_verbs import DEFAULT_MAX_OUTPUT, ReadingVerbs
from vantage.conversation.session import Session
from vantage.conversation.waits import Wait
from vantage.errors import (
    Busy,
    Conflict,
    InputError,
    KeyboardTaken,
    NotFound,
    NotRunning,
    Unavailable,
)
from vantage.ptyhost import protocol, shells
from vantage.terminal.blocks import Block, Span
from vantage.terminal.keys import ESCAPE, encode_keys
from vantage.terminal.keys import paste as paste_bytes
from vantage.terminal.match import condition
from vantage.terminal.modes import EXPECTS_COMMAND
from vantage.terminal.mouse import encode_mouse, find_text

AGENT = "agent"
"""Whose keyboard it is while no person has taken it."""
DEFAULT_TIMEOUT_MS = 30_000
SHELL_START_S = 30.0
BEGIN_S = 30.0
PATIENCE_S = 2.0
"""How long each way of ending a program gets before the next, stronger one."""
MOST_COMMAND = 16 << 20
MOST_SEND = 8 << 20
PIECE = 1 << 16
TAIL_LINES = 15
COMMAND_OVER = "]133;D;"
"""A short command's whole output is told at once, when this mark is in it."""
ESCAPE_S = 0.1
"""Between an Escape and the next key: programs that get both at once take them for Alt with that key."""
KEY_S = 0.003
"""Between keys that a program would otherwise take for a paste: tmux does when less than a millisecond is between."""
ENTER = b"\r"
ENTER_S = 0.15
"""Between a text and its Enter, where it matters: Codex waits about 120 ms to see whether a paste goes on."""
INTERRUPT = b"\x03"
INTERRUPT_S = 1.0
INTERRUPT_TRIES = 3
"""How long a shell gets to show a prompt when it was interrupted, and how often it is reminded before more is typed."""
_SURROGATES = re.compile("[\ud800-\udfff]")


class AgentTerminal(ReadingVerbs):
    """What an agent, or a program, does with one conversation's terminal."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.keyboard = AGENT
        self._cursor: int | None = None
        self._giving = False
        """A command is on its way into the shell."""
        self._entered: tuple[str, int] | None = None
        """The prompt at which a line was typed last: the shell's next word is about that line."""
        self._interrupted: tuple[str, int] | None = None
        """The last prompt when the shell was interrupted: it may lose what comes before it shows another."""

    @property
    def id(self) -> str:
        return self.session.id

    # running

    async def exec_block(
        self,
        command: str,
        *,
        cwd: str | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_output: int = DEFAULT_MAX_OUTPUT,
    ) -> results.Ran:
        """Runs a command as if a careful person had typed it. Waits for its end up to `timeout_ms`."""
        at_least("max_output", max_output, 1)
        at_least("timeout_ms", timeout_ms, 0)
        block, note = await self._give(command, cwd, "exec", None)
        ran = results.Ran(
            block_id=block.block_id, seq=block.seq, ts_begin=block.ts_begin, cursor=block.spool.start, note=note
        )
        if timeout_ms:
            await self.session.until(lambda: self.session.is_over(block.seq), timeout_ms / 1000)
        ran.running = not self.session.is_over(block.seq)
        if timeout_ms and not ran.running:
            self._report(ran, self.session.block(block.block_id), max_output)
        return ran

    def _report(self, ran: results.Ran, block: Block, max_output: int) -> None:
        """What is known of a command that has ended."""
        reading = self._output(block, max_output, "both")
        ran.exit_code = block.exit_code
        ran.done_because = block.done_because
        ran.duration_ms = block.duration_ms
        ran.cwd = self.session.state.cwd
        ran.output = reading.text
        ran.omitted = reading.omitted
        ran.omitted_bytes = reading.omitted_bytes
        ran.truncated = reading.omitted is not None

    async def exec_interactive(self, command: str, *, cwd: str | None = None) -> results.Started:
        """Starts a program to talk to with `send`, `keys` and `wait_for`."""
        session_id = f"s-{secrets.token_hex(4)}"
        block, note = await self._give(command, cwd, "interactive", session_id)
        return results.Started(
            session_id=session_id,
            block_id=block.block_id,
            seq=block.seq,
            ts_begin=block.ts_begin,
            cursor=block.spool.start,
            note=note,
        )

    async def _give(self, command: str, cwd: str | None, origin: str, session_id: str | None) -> tuple[Block, str]:
        """Has the shell begin a command. One at a time: whoever comes second is told what to do instead."""
        _check_command(command)
        self._check_keyboard()
        await self.session.join_host()
        await self._line_taken()
        self._check_idle()
        if cwd is not None:
            settings, state = self.session.settings, self.session.state
            cwd = directory(cwd, state.cwd or settings.cwd, settings.env.get("HOME", "~"))
        self._giving = True
        try:
            note = await self._ready_shell()
            block = await self._type(command, cwd, origin, session_id)
        finally:
            self._giving = False
        self._cursor = block.spool.start
        return block, note

    async def _line_taken(self) -> None:
        """A line that was typed at the prompt comes first: until the shell runs it, or shows another prompt."""
        await self.session.until(lambda: not self._at_prompt() or self._prompt() != self._entered, PATIENCE_S)
        self._entered = None
        await self._interrupt_taken()

    async def _interrupt_taken(self) -> None:
        """Until a shell that was interrupted shows another prompt, unless it ignores interrupts.

        One that comes between a prompt and the reading of what is typed there is thought of at the next key, which is
        lost (bash): once more is what a person would do too. One that comes into the making of a prompt leaves none.
        """
        if self._interrupted is None or self.session.state.phase not in ("prompting", "idle"):
            return
        for _ in range(INTERRUPT_TRIES):
            if await self.session.until(self._prompts_again, INTERRUPT_S):
                break
            if self.session.state.phase == "idle":
                await self.session.ask("interrupt")
                continue
            sample = await self.session.look_at_terminal()
            if not sample.canonical and self.session.is_shell(sample.foreground_pid):
                await self.session.poke()
        self._interrupted = None

    def _prompts_again(self) -> bool:
        state = self.session.state
        if state.phase == "idle":
            return self._prompt() != self._interrupted or state.kind in shells.KEEP_THEIR_PROMPT
        return not self._at_prompt()

    def _prompt(self) -> tuple[str, int]:
        """The shell's last prompt: each shell counts its own."""
        return self.session.state.shell_id, self.session.state.cycle

    def _at_prompt(self) -> bool:
        return self.session.state.phase in ("starting", "prompting", "idle")

    def _check_idle(self) -> None:
        state = self.session.state
        if not self._giving and state.phase in EXPECTS_COMMAND:
            return
        active = state.block or state.pending
        if active is not None and active.origin == "interactive":
            what = f"an interactive session runs ({_short(active.cmd)})"
            raise Busy(what, hint="use send, keys and wait_for to talk to it, or end_session to end it")
        what = f"a command runs ({_short(active.cmd)})" if active is not None else "another command is being started"
        raise Busy(what, hint="wait_for PROMPT, read it with read_block, or ctrl_c to interrupt it")

    def _check_keyboard(self, by: str = AGENT) -> None:
        if self.keyboard == by:
            return
        if by != AGENT:
            raise KeyboardTaken(f"{self.keyboard} has the keyboard", hint="take it first: take_keyboard")
        raise KeyboardTaken(f"{self.keyboard} has the keyboard", hint="wait until it is given back, then try again")

    async def _ready_shell(self) -> str:
        """A shell at its prompt; what to say when it is not the one the caller knew."""
        session = self.session

        def settled() -> bool:
            return session.state.phase in ("idle", "exited")

        def settled_or_stalled() -> bool:
            return settled() or session.host_stalled != ""

        known = session.state.phase != "none"
        if session.alive:  # it may end before its prompt
            ready = await session.until(settled_or_stalled, SHELL_START_S)
        fresh = not session.alive
        if fresh:
            await session.start()
            ready = await session.until(settled_or_stalled, SHELL_START_S)
        if session.host_stalled and not settled():
            raise Unavailable(
                f"the terminal is stalled: {session.host_stalled}", hint="free some disk space: nothing is lost"
            )
        if session.state.phase == "exited":
            raise Unavailable("the shell ended while it started", hint=f"it said: {self._tail(5)!r}")
        if not ready:
            raise Unavailable(
                f"the shell shows no prompt after {SHELL_START_S:.0f} s",
                hint=f"its last output: {self._tail(5)!r}; look with read_screen, or reset (user_rc: false may help)",
            )
        return "the shell had ended: this runs in a fresh one" if fresh and known else ""

    async def _type(self, command: str, cwd: str | None, origin: str, session_id: str | None) -> Block:
        session = self.session
        state = session.state
        request = secrets.token_hex(6)
        folder = session.shell_folder(state.shell_id)
        try:
            typed = shells.type_command(shells.Shell(state.kind, ""), folder, command, cwd=cwd)
        except OSError as error:
            raise no_room(error) from error
        session.expect(request)
        try:
            failed = await session.tell(
                "input",
                data=protocol.encode_data(typed.data),
                check="none",
                record={"t": "exec", "id": request, "cmd": command, "origin": origin, "session": session_id},
                echo_off=typed.echo_off,
                expects=COMMAND_OVER,
            )
            await session.until(
                lambda: session.begun(request) is not None or failed.done() or session.host_stalled != "", BEGIN_S
            )
            await session.untell(failed)
        finally:
            block_id = session.expect_no_more(request)
        if block_id is None and session.host_stalled:
            hint = "free some disk space, then look for it with blocks"
            raise Unavailable(f"the command is run when there is room: {session.host_stalled}", hint=hint)
        if block_id is None:
            raise Unavailable(
                f"the shell did not begin the command within {BEGIN_S:.0f} s",
                hint=f"its last output: {self._tail(5)!r}; look with read_screen, ctrl_c, or reset",
            )
        return session.block(block_id)

    # typing

    async def send(
        self,
        data: str | bytes,
        *,
        session_id: str | None = None,
        paste: bool = False,
        secret: bool = False,
        by: str = AGENT,
    ) -> results.Cursor:
        """Types into whatever runs. Line ends of a text are Enter, as on a keyboard; bytes go as they are.

        `paste` brackets it where the program asked for that. Such a program may take text and Enter that come at once
        for a paste too: so the last Enter of a text comes by itself.
        """
        text = data.replace("\r\n", "\r").replace("\n", "\r").encode() if isinstance(data, str) else bytes(data)
        if len(text) > MOST_SEND:
            raise InputError(f"{len(text):,} bytes at once are too many", hint=f"at most {MOST_SEND:,}; write a file")
        pieces = [text]
        if paste and self.session.terminal.screen is not None:
            pieces = [paste_bytes(text.decode("utf-8", "replace"), self.session.terminal.screen.modes)]
        elif isinstance(data, str) and text.endswith(ENTER) and len(text) > 1 and self._watches_for_pastes():
            pieces = [text[:-1], ENTER]
        return await self._input(pieces, session_id, secret=secret, pause=ENTER_S, by=by)

    def _watches_for_pastes(self) -> bool:
        """Whether a program runs that tells pastes from what is typed."""
        screen = self.session.terminal.screen
        return screen is not None and screen.modes.bracketed_paste and not self._at_prompt()

    async def keys(self, keys: list[str] | str, *, session_id: str | None = None, by: str = AGENT) -> results.Cursor:
        """Presses keys by name, encoded for the modes the program has set."""
        pieces = encode_keys([keys] if isinstance(keys, str) else keys, self.screen().modes)
        return await self._input(pieces, session_id, by=by)

    async def mouse(
        self,
        action: str = "click",
        *,
        row: int | None = None,
        col: int | None = None,
        button: str | None = None,
        on_text: str | None = None,
    ) -> results.Clicked:
        """Points at a cell, or at a text that is visible."""
        screen = self.screen()
        if on_text is not None:
            row, col = find_text(screen, on_text)
        if row is None or col is None:
            raise InputError("where to is missing", hint="give row and col, or on_text with what is visible there")
        within("row", row, 0, screen.rows_count - 1)
        within("col", col, 0, screen.cols - 1)
        await self._input([encode_mouse(action, row, col, screen.modes, button=button)], None)
        return results.Clicked(row=row, col=col)

    async def ctrl_c(self, *, session_id: str | None = None) -> results.Cursor:
        """Interrupts, even when the program has not read what was sent before."""
        await self._check_input(session_id)
        cursor = self.session.terminal.cursor
        self._interrupted = self._prompt()
        await self.session.ask("interrupt")
        return self._typed_at(cursor)

    async def ctrl_d(self, *, session_id: str | None = None) -> results.Cursor:
        return await self._input([b"\x04"], session_id, check="none")

    async def enter(self, *, session_id: str | None = None) -> results.Cursor:
        return await self._input([ENTER], session_id)

    async def _input(
        self,
        pieces: list[bytes],
        session_id: str | None,
        *,
        secret: bool = False,
        check: str = "open",
        pause: float = KEY_S,
        by: str = AGENT,
    ) -> results.Cursor:
        await self._check_input(session_id, by)
        whole = b"".join(pieces)
        if not whole.startswith(INTERRUPT):
            await self._interrupt_taken()
        cursor = self.session.terminal.cursor
        if secret:
            check = "secret"
        elif self.session.settings.allow_secret_input:
            check = "none"
        if self._at_prompt() and (b"\r" in whole or b"\n" in whole):
            self._entered = self._prompt()
        if whole.endswith(INTERRUPT):
            self._interrupted = self._prompt()
        written = 0
        for number, piece in enumerate(pieces):
            if number:
                await asyncio.sleep(ESCAPE_S if pieces[number - 1].endswith(ESCAPE) else pause)
            for start in range(0, len(piece), PIECE):
                part = piece[start : start + PIECE]
                answer = await self.session.ask("input", data=protocol.encode_data(part), check=check)
                if answer["written"] < len(part):
                    raise Conflict(
                        f"the program does not read its input: {written + answer['written']:,} of {len(whole):,} bytes"
                        " were written, and the rest was dropped",
                        hint="look with read_screen; ctrl_c interrupts it",
                    )
                written += len(part)
        return self._typed_at(cursor)

    async def _check_input(self, session_id: str | None, by: str = AGENT) -> None:
        self._check_keyboard(by)
        await self.session.join_host()
        if not self.session.alive:
            raise NotRunning("there is no shell", hint="exec_block or exec_interactive starts one")
        if session_id is not None:
            active = self.session.state.block
            if active is None or active.session_id != session_id:
                raise self._no_session(session_id)

    def _no_session(self, session_id: str) -> Conflict | NotFound:
        if self._block_of(session_id) is not None:
            return Conflict(f"session {session_id} has ended", hint="leave session_id out to type at the prompt")
        return NotFound(f"there is no session {session_id!r}", hint="exec_interactive starts one and says its id")

    def _typed_at(self, cursor: int) -> results.Cursor:
        self._cursor = cursor
        return results.Cursor(cursor=cursor)

    # waiting

    async def wait_for(
        self,
        match: Any,
        *,
        regex: bool = False,
        from_cursor: int | None = None,
        session_id: str | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_bytes: int | None = None,
    ) -> results.Waited:
        """Until something appears in the output or on the screen. Never misses what came after the cursor."""
        at_least("timeout_ms", timeout_ms, 0)
        await self.session.join_host()
        start = self._start(from_cursor)
        block_id = self._waited_on(session_id)
        wait = Wait(
            self.session,
            condition(match, start, regex=regex),
            start,
            max_bytes,
            over=lambda: self._ended(block_id),
            ends=block_id is not None and self.session.block(block_id).origin == "interactive",
        )
        fired = await wait.run(timeout_ms / 1000)
        found = wait.found()
        cursor = start
        if found is not None:
            cursor = found.end
        elif fired is not None and fired.kind == "eof":
            # where it ended: the prompt behind it is still to be found
            cursor = max(start, self.session.block(block_id).spool.end) if block_id else self.session.terminal.cursor
        elif fired is not None and fired.kind == "quiet_ms":
            cursor = self.session.terminal.cursor
        self._cursor = cursor
        return results.Waited(
            matched=fired is not None,
            cursor=cursor,
            reason=wait.reason,
            match_text=found.text if found else None,
            match_span=Span(found.start, found.end) if found else None,
            tail=self._tail(TAIL_LINES, start if fired else 0),
        )

    def _start(self, from_cursor: int | None) -> int:
        end = self.session.terminal.cursor
        if from_cursor is not None:
            return self._valid(from_cursor)
        if self._cursor is None:
            active = self.session.state.block
            return active.spool.start if active else end
        return min(self._cursor, end)

    def _waited_on(self, session_id: str | None) -> str | None:
        """The block whose end is meant by EOF."""
        active = self.session.state.block
        if session_id is None:
            return active.block_id if active else None
        block_id = self._block_of(session_id)
        if block_id is None:
            raise self._no_session(session_id)
        return block_id

    def _ended(self, block_id: str | None) -> bool:
        if block_id is None:
            return self.session.state.block is None
        return not self.session.block(block_id).running

    def _block_of(self, session_id: str) -> str | None:
        return self.session.block_of(session_id)

    # ending

    async def end_session(self, session_id: str, *, force: bool = False) -> results.Ended:
        """Ends an interactive program: politely where we know how, then harder. Says which way it took."""
        self._check_keyboard()
        await self.session.join_host()
        block_id = self._block_of(session_id)
        if block_id is None:
            raise self._no_session(session_id)
        if self._ended(block_id):
            return results.Ended(how="already_ended")
        await self.session.ask("journal", record={"t": "end", "session": session_id})
        for how, act in (("exit", self._leave), ("ctrl_c", self._interrupt), ("terminate", self._terminate)):
            if force and how != "terminate":
                continue
            if await act() and await self.session.until(lambda: self._ended(block_id), PATIENCE_S):
                return results.Ended(how=how)
        await self._signal("KILL")
        if not await self.session.until(lambda: self._ended(block_id), PATIENCE_S):
            await self.session.ask("kill", grace_ms=0)
            await self.session.until(lambda: self._ended(block_id), PATIENCE_S)
        return results.Ended(how="kill")

    async def _leave(self) -> bool:
        sample = await self.session.look_at_terminal()
        words = polite(sample.foreground)
        if words is None or sample.awaiting_secret or self.session.is_shell(sample.foreground_pid):
            return (
                False  # the shell itself has the terminal for a builtin (`read`), or for a program it is about to start
            )
        await self.session.ask("input", data=protocol.encode_data(words), check="none")
        return True

    async def _interrupt(self) -> bool:
        await self.session.ask("interrupt")
        return True

    async def _terminate(self) -> bool:
        await self._signal("TERM")
        await self._signal("CONT")  # a stopped program hears nothing else
        return True

    async def _signal(self, name: str) -> None:
        """To what has the terminal now; it may end at this very moment."""
        with contextlib.suppress(Unavailable):
            await self.session.ask("signal", signal=name, to="foreground")

    async def reset(self) -> results.Reset:
        """Ends everything in the terminal and starts a fresh shell. History stays readable."""
        self._check_keyboard()
        session = self.session
        await session.join_host()
        if session.alive:
            await session.ask("journal", record={"t": "reset"})
            await session.ask("kill")
            await session.until(lambda: not session.alive)
        await session.start()
        await session.until(lambda: session.state.phase in ("idle", "exited"), SHELL_START_S)
        self._cursor = session.terminal.cursor
        return results.Reset(shell_id=session.state.shell_id, pid=session.state.pid)

    async def resize(self, cols: int, rows: int) -> results.Size:
        terminal_size(cols, rows)
        session = self.session
        await session.join_host()
        if session.alive:
            await session.ask("resize", cols=cols, rows=rows)
            await session.until(lambda: (session.state.cols, session.state.rows) == (cols, rows), PATIENCE_S)
        session.remember(cols=cols, rows=rows)
        return results.Size(cols=cols, rows=rows)

    # the keyboard

    def take_keyboard(self, client: str) -> None:
        """A person types now; the agent is told so until they give it back."""
        self.keyboard = person(client)

    def release_keyboard(self, client: str) -> None:
        if self.keyboard == person(client):
            self.keyboard = AGENT


def person(client: str) -> str:
    """How somebody who has the keyboard is called."""
    return f"client:{client}"


def _check_command(command: str) -> None:
    if not isinstance(command, str):
        raise InputError(f"command is a text, not {type(command).__name__}")
    if "\0" in command:
        raise InputError("the command has a NUL character in it", hint="no shell takes one: write it as \\0 for printf")
    if _SURROGATES.search(command):
        raise InputError("the command has half a character in it (a lone surrogate)", hint="no text can hold one")
    if len(command) > MOST_COMMAND:
        raise InputError(f"the command has {len(command):,} characters", hint="write it to a file and run that")


def _short(command: str) -> str:
    line = command.strip().split("\n", 1)[0]
    return line if len(line) <= 60 else line[:59] + "…"
