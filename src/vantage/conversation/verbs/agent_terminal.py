"""A terminal for Python programs: every verb of the table as a typed method.

`LocalTerminal` runs the verbs in this process; a server's terminal (`served`) asks for them over its socket. Both check
the parameters with the types of the table, so limits and errors are those of every other face.
"""

from abc import ABC, abstractmethod
from base64 import b64encode
from typing import Any, Literal

from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.verbs.fields import read_params
from vantage.conversation.verbs.terminal import ending, inputs, output, results, run, screen, wait
from vantage.conversation.verbs.terminal.params import DEFAULT_CONTEXT, DEFAULT_MAX_OUTPUT, DEFAULT_TIMEOUT_MS, MAX_READ
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.verb import P, R, Verb
from vantage.terminal.screen.frames import Region
from vantage.terminal.screen.screen import Screen


class AgentTerminal(ABC):
    """What a program does with one conversation's terminal.

    It has one method for each verb, hence their number.
    """

    @property
    @abstractmethod
    def id(self) -> str:
        """The conversation's id."""

    @abstractmethod
    async def call(self, verb: Verb[PtyTerminal, P, R], params: P) -> R:
        """Calls a verb and returns its result."""

    @abstractmethod
    def screen(self) -> Screen:
        """The screen as it is now."""

    async def _ask(self, verb: Verb[PtyTerminal, P, R], **fields: Any) -> R:
        params, _ = read_params(verb.params, fields)
        return await self.call(verb, params)

    async def exec_block(
        self,
        command: str,
        *,
        cwd: str | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_output: int = DEFAULT_MAX_OUTPUT,
        wait_for: str | dict[str, Any] | None = None,
    ) -> results.Ran:
        """Runs a command as if a careful person had typed it. Waits for its end, or `wait_for`, up to `timeout_ms`."""
        return await self._ask(
            run.exec_block,
            command=command,
            cwd=cwd,
            timeout_ms=timeout_ms,
            max_output=max_output,
            wait_for=wait_for,
        )

    async def exec_interactive(
        self,
        command: str,
        *,
        cwd: str | None = None,
        wait_for: str | dict[str, Any] | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_output: int = DEFAULT_MAX_OUTPUT,
    ) -> results.Started:
        """Starts a program to talk to with `send` and `keys`. `wait_for` waits for what it prints first."""
        return await self._ask(
            run.exec_interactive,
            command=command,
            cwd=cwd,
            wait_for=wait_for,
            timeout_ms=timeout_ms,
            max_output=max_output,
        )

    async def send(
        self,
        data: str | bytes,
        *,
        session_id: str | None = None,
        paste: bool = False,
        secret: bool = False,
        wait_for: str | dict[str, Any] | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_output: int = DEFAULT_MAX_OUTPUT,
    ) -> results.Cursor:
        """Types into the running program. Line ends of a text are Enter, as on a keyboard; bytes are typed unchanged.

        `wait_for` waits for the answer in the same call: it takes what `match` of the method `wait_for` takes.
        """
        what = {"data": data} if isinstance(data, str) else {"data_b64": b64encode(data).decode()}
        return await self._ask(
            inputs.send,
            session_id=session_id,
            paste=paste,
            secret=secret,
            wait_for=wait_for,
            timeout_ms=timeout_ms,
            max_output=max_output,
            **what,
        )

    async def keys(
        self,
        keys: list[str] | str,
        *,
        session_id: str | None = None,
        wait_for: str | dict[str, Any] | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_output: int = DEFAULT_MAX_OUTPUT,
    ) -> results.Cursor:
        """Presses keys by name, encoded for the modes that the program has set. `wait_for` waits for the answer."""
        return await self._ask(
            inputs.keys,
            keys=keys,
            session_id=session_id,
            wait_for=wait_for,
            timeout_ms=timeout_ms,
            max_output=max_output,
        )

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
        return await self._ask(inputs.mouse, action=action, row=row, col=col, button=button, on_text=on_text)

    async def ctrl_c(self, *, session_id: str | None = None) -> results.Cursor:
        """Interrupts, even when the program has not read what was sent before."""
        return await self._ask(inputs.ctrl_c, session_id=session_id)

    async def ctrl_d(self, *, session_id: str | None = None) -> results.Cursor:
        """End of input."""
        return await self._ask(inputs.ctrl_d, session_id=session_id)

    async def enter(self, *, session_id: str | None = None) -> results.Cursor:
        """Presses Enter."""
        return await self._ask(inputs.enter, session_id=session_id)

    async def wait_for(
        self,
        match: str | dict[str, Any],
        *,
        regex: bool = False,
        from_cursor: int | None = None,
        session_id: str | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        max_bytes: int | None = None,
        max_output: int = DEFAULT_MAX_OUTPUT,
    ) -> results.Waited:
        """Waits until something appears in the output or on the screen. Output after the cursor is never missed."""
        return await self._ask(
            wait.wait_for,
            match=match,
            regex=regex,
            from_cursor=from_cursor,
            session_id=session_id,
            timeout_ms=timeout_ms,
            max_bytes=max_bytes,
            max_output=max_output,
        )

    async def status(self) -> results.Status:
        """What the terminal does now."""
        return await self._ask(output.status)

    async def end_session(
        self, session_id: str | None = None, *, force: bool = False, dry_run: bool = False
    ) -> results.Ended:
        """Ends an interactive program: politely if it is known how, then harder. The result says which way it took."""
        return await self._ask(ending.end_session, session_id=session_id, force=force, dry_run=dry_run)

    async def reset(self) -> results.Reset:
        """Ends everything in the terminal and starts a fresh shell. History stays readable."""
        return await self._ask(ending.reset)

    async def resize(self, cols: int, rows: int) -> results.Size:
        """Changes the size of the terminal."""
        return await self._ask(ending.resize, cols=cols, rows=rows)

    async def read_raw(self, from_offset: int = 0, max_bytes: int = MAX_READ) -> results.RawRead:
        """Output byte by byte. The secret in a shell's marks is covered, so that no reader can forge them."""
        return await self._ask(output.read_raw, from_offset=from_offset, max_bytes=max_bytes)

    async def read_spool(self, from_cursor: int = 0, max_bytes: int = 1 << 16) -> results.SpoolRead:
        """Output as plain text from a cursor on, with carriage returns."""
        return await self._ask(output.read_spool, from_cursor=from_cursor, max_bytes=max_bytes)

    async def read_screen(
        self,
        *,
        at_offset: int | None = None,
        style: bool = False,
        region: Region | dict[str, Any] | None = None,
        since: int | None = None,
        cursor: bool = False,
        max_output: int = DEFAULT_MAX_OUTPUT,
    ) -> results.ScreenRead:
        """The screen now, or when the raw output had a length; with `since`, only what changed after a delta."""
        return await self._ask(
            screen.read_screen,
            at_offset=at_offset,
            style=style,
            region=region,
            since=since,
            cursor=cursor,
            max_output=max_output,
        )

    async def read_screen_deltas(self, cursor: int = 0, limit: int = 50) -> results.Deltas:
        """Changes of the screen after a number of them."""
        return await self._ask(screen.read_screen_deltas, cursor=cursor, limit=limit)

    async def screen_status(self) -> results.ScreenStatus:
        """The screen's size, title and delta cursor."""
        return await self._ask(screen.screen_status)

    async def read_scrollback(self, from_line: int | None = None, limit: int = 200) -> results.ScrollbackRead:
        """Lines that have left the screen, by their numbers; the last ones without a number."""
        return await self._ask(screen.read_scrollback, from_line=from_line, limit=limit)

    async def blocks(self, after: int = 0, limit: int = 100) -> results.Blocks:
        """Commands after a number, oldest first."""
        return await self._ask(output.blocks, after=after, limit=limit)

    async def read_block(
        self,
        block_id: str,
        *,
        max_output: int = DEFAULT_MAX_OUTPUT,
        part: Literal["head", "tail", "both"] = "both",
        search: str | None = None,
        regex: bool = False,
        context: int = DEFAULT_CONTEXT,
    ) -> results.BlockRead:
        """A command's record and output; with `search` only the lines that have it, numbered, with the lines around
        them.
        """
        return await self._ask(
            output.read_block,
            block_id=block_id,
            max_output=max_output,
            part=part,
            search=search,
            regex=regex,
            context=context,
        )

    async def search(self, query: str, *, regex: bool = False, limit: int = 50) -> results.Hits:
        """Lines of the output that have a text, or match an expression, oldest first."""
        return await self._ask(output.search, query=query, regex=regex, limit=limit)


class LocalTerminal(AgentTerminal):
    """The terminal of a conversation that this process has."""

    def __init__(self, pty: PtyTerminal) -> None:
        self.pty = pty

    @property
    def id(self) -> str:
        return self.pty.id

    @property
    def live(self) -> LiveTerminal:
        return self.pty.live

    async def call(self, verb: Verb[PtyTerminal, P, R], params: P) -> R:
        return await verb.run(self.pty, params)

    def screen(self) -> Screen:
        """The screen as it is now. It is the live one: read it, do not feed it."""
        return self.pty.screen()
