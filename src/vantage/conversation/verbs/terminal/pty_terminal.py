"""A conversation's terminal as its verbs use it: the live terminal, and the state between one call and the next.

Each of these objects keeps one fact and can be tested alone. A verb takes this class and its parameters.
"""

from typing import Any

import msgspec

from vantage.conversation.checks import not_dropped
from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.secret_prompts import SecretPrompts
from vantage.conversation.verbs.terminal.calls import RunningCalls
from vantage.conversation.verbs.terminal.held_input import HeldInput
from vantage.conversation.verbs.terminal.keyboard import Keyboard
from vantage.conversation.verbs.terminal.prompts import Prompts
from vantage.conversation.verbs.terminal.secret_input import SecretInput
from vantage.errors import Conflict, Do, InputError, NotFound, Unavailable
from vantage.terminal.output.echo import MAX_INPUT, EchoFilter, Typed, typed_input
from vantage.terminal.output.reading import tail
from vantage.terminal.screen.screen import Screen

TAIL_BYTES = 16 * 1024
MAX_PLACES = 64
LINE_BYTES = 4096
"""How far back the beginning of the cursor's line is searched for."""


class PtyTerminal:
    def __init__(self, live: LiveTerminal, asked: SecretPrompts) -> None:
        self.live = live
        self.asked = asked
        self.calls = RunningCalls()
        self.keyboard = Keyboard()
        self.prompts = Prompts(live)
        self.held = HeldInput(live, self.prompts)
        self.secrets = SecretInput(live)
        self.typed: Typed | None = None
        """The last input: a wait from its cursor on does not match in its echo."""
        self._input = b""
        self._places: dict[int, int] = {}
        """Cursors that calls returned, and how long the raw output was then."""
        self.command_line = ""
        """How the screen shows the last given command: the prompt, and the command after it."""
        self.starting = False
        """A command is being given to the shell."""

    @property
    def id(self) -> str:
        return self.live.id

    def screen(self) -> Screen:
        """The screen as it is now. It is the live one: read it, do not feed it."""
        screen = self.live.terminal.screen
        if screen is None:
            raise Unavailable("the screen is being drawn anew from the output", hint="try again in a moment")
        return screen

    def tail(self, lines: int) -> str:
        """The last lines of the output."""
        end = self.live.terminal.cursor
        return tail(self.live.read_spool(max(end - TAIL_BYTES, 0), end), lines)

    def note_place(self, cursor: int, raw: int) -> None:
        """Remembers where in the raw output a cursor is: output after it may have to be drawn."""
        self._places.pop(cursor, None)
        self._places[cursor] = raw
        if len(self._places) > MAX_PLACES:
            del self._places[next(iter(self._places))]

    def place_of(self, cursor: int) -> int | None:
        return self._places.get(cursor)

    def valid_cursor(self, cursor: int) -> int:
        """The cursor, if the spool has what comes after it; else an error."""
        end = self.live.terminal.cursor
        if cursor > end:
            raise InputError(
                f"cursor {cursor} is not in the spool",
                hint=f"it has {end} bytes: 0 to {end} are valid",
                facts={"cursor": cursor, "end": end},
            )
        not_dropped(cursor, self.live.derivation.dropped.spool.end)
        return cursor

    def input_written(self, data: bytes) -> None:
        """Notes what is typed now. Input that was typed at the same cursor before has not been echoed yet."""
        end = self.live.terminal.cursor
        self.note_place(end, self.live.terminal.raw)
        self._input = (self._input + data if self.typed is not None and self.typed.cursor == end else data)[:MAX_INPUT]
        self.typed = typed_input(self._input, end, self.live.read_spool(max(end - LINE_BYTES, 0), end))

    def input_echoed(self, cursor: int) -> None:
        """Notes that the terminal itself echoed what was typed at a cursor."""
        if self.typed is not None and self.typed.cursor == cursor:
            self.typed = msgspec.structs.replace(self.typed, echoed=True)

    def input_known(self, data: bytes, cursor: int) -> None:
        """Restores what an earlier process typed at a cursor."""
        before = self.live.read_spool(max(cursor - LINE_BYTES, 0), cursor)
        self._input, self.typed = data[:MAX_INPUT], typed_input(data, cursor, before)

    def typed_at(self, cursor: int) -> dict[str, Any] | None:
        """The last input in the form for the next process, if it was typed at this cursor and is short."""
        known = self.typed is not None and self.typed.cursor == cursor and len(self._input) <= LINE_BYTES
        return msgspec.to_builtins(self.typed) if known else None

    def typed_before(self, typed: dict[str, Any] | None) -> None:
        """Restores the value that `typed_at` returned in an earlier process."""
        if typed is not None and self.typed is None:
            self.typed = msgspec.convert(typed, Typed)

    def echo_at(self, cursor: int) -> EchoFilter | None:
        """Covers the echo of the last input in a wait from this cursor, if the cursor is that input's."""
        if self.typed is None or self.typed.cursor != cursor:
            return None
        return EchoFilter(self.live.read_spool, self.typed)

    def block_of(self, session_id: str) -> str:
        """The block of an interactive session, now or before."""
        block_id = self.live.block_of(session_id)
        if block_id is None:
            steps = [Do("exec_interactive", "starts one and returns its id")]
            raise NotFound(f"there is no session {session_id!r}", do=steps, facts={"session_id": session_id})
        return block_id

    def check_session(self, session_id: str | None) -> None:
        """Raises unless this session runs now; without an id it never raises."""
        active = self.live.state.block
        if session_id is None or (active is not None and active.session_id == session_id):
            return
        self.block_of(session_id)
        raise Conflict(
            f"session {session_id} has ended",
            hint="leave session_id out to type at the prompt",
            facts={"session_id": session_id},
        )

    def has_ended(self, block_id: str | None) -> bool:
        """Whether a block has ended; without one, whether nothing runs."""
        if block_id is None:
            return self.live.state.block is None
        return not self.live.block(block_id).running
