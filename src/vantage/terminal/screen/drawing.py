"""A screen that is fed a terminal's output when a caller reads it, or when a program sends it a query.

Until then the bytes wait, so that a flood is drawn in a few large pieces, and of plain lines only the last (`floods`).
"""

from vantage.terminal.screen import floods
from vantage.terminal.screen.queries import Queries
from vantage.terminal.screen.screen import Screen
from vantage.terminal.state import Reply, State

_MAX_WAITING = 3 << 19
"""Bytes of plain lines that wait while only the last of them must be drawn (`floods`)."""
_DRAWN_AT_ONCE = 1 << 17
"""Bytes of plain output after which all of it is drawn, unless it is such a flood."""
_MAX_OTHER = 1 << 10
"""Bytes that wait with other output among them: all of it is drawn, so waiting saves nothing."""
_STRING_TERMINATOR = b"\x1b\\"
_UNSET = (
    b"\x1b7\x1b[?1049l\x1b[?1047l\x1b[?47l\x1b[!p\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?2004l\x1b[?2026l"
    b"\x1b[<99u\x1b[>4;0m\x1b[m\x1b[?25h"
)
"""Unsets whatever a program left set.

Leaving the alternate screen (1049) restores a saved cursor on the main screen, too, so the cursor is saved before.
"""
FRESH_SHELL = _UNSET + b"\r\n"
"""What a screen is shown before another shell draws on it."""


class Drawing:
    """The screen of one terminal. What must be remembered beyond the screen is in the terminal's state."""

    def __init__(self, screen: Screen | None, state: State) -> None:
        self._screen = screen
        self._state = state
        self._queries = Queries(state.queries_tail)
        self._waiting: list[bytes] = []
        self._size = self._plain_from = 0
        """How many bytes wait, and from which piece on they are plain."""
        self._known = 0
        """How many pieces were checked for that: `not_plain` is about those after them."""
        self._most = _DRAWN_AT_ONCE
        """How many may wait."""
        self.drawn = 0
        """Bytes that the screen was really fed so far, the cost of drawing it again."""

    @property
    def screen(self) -> Screen | None:
        if self._waiting:
            self._show()
        return self._screen

    @screen.setter
    def screen(self, screen: Screen | None) -> None:
        self._forget()
        self._screen = screen

    @property
    def as_it_is(self) -> Screen | None:
        """The screen without what waits to be drawn on it."""
        return self._screen

    def save(self) -> None:
        """Writes itself into the state. Waiting output is drawn first."""
        if self._waiting:
            self._show()
        self._state.queries_tail = self._queries.tail

    def add(self, data: bytes, offset: int) -> list[Reply]:
        """Feeds output from an offset on, and returns the screen's answers to the queries in it."""
        replies: list[Reply] = []
        if self._screen is None:
            return replies
        if self._size >= self._most:
            self._show_or_wait()
        self._known = len(self._waiting)
        state = self._state
        offset -= self._queries.held
        for piece, what in self._queries.cut(data):
            offset += len(piece)
            if what == "other":
                state.answer = b""  # an answer without a recognised query has no offset
                self._wait(piece)
                continue
            screen = self._screen
            self._show_as_is()
            self._feed(screen, piece)
            state.answer += screen.take_replies()
            if what == "asked":
                if state.answer:
                    replies.append(Reply(offset, state.answer, state.now, state.phase))
                state.answer = b""
        return replies

    def not_plain(self) -> None:
        """The last added bytes are more than characters and line ends."""
        if self._size > _MAX_OTHER:
            self._show_as_is()
        else:
            self._plain_from = self._known = len(self._waiting)

    def _show_as_is(self) -> None:
        """Draws what waits, without skipping any of the last added bytes: they may be more than plain lines."""
        last = self._waiting[self._known :]
        del self._waiting[self._known :]
        if self._waiting:
            self._show()
        self._forget()
        if last and self._screen is not None:
            self._feed(self._screen, b"".join(last))
            self._screen.take_replies()

    def _show_or_wait(self) -> None:
        """Plain lines of which only the last must be drawn may wait for more of them; everything else is drawn."""
        if self._most < _MAX_WAITING and not self._plain_from and self._flood() is not None:
            self._most = _MAX_WAITING
        else:
            self._show()

    def _flood(self) -> floods.Flood | None:
        screen = self._screen
        if screen is None or self._state.margins:
            return None
        return floods.passable(self._waiting[self._plain_from :], screen.remembers)

    def end_sequence(self, offset: int) -> list[Reply]:
        """The screen is not fed our marks, and a mark ends an open sequence."""
        if self._screen is None:
            return []
        if self._queries.tail:
            return self.add(_STRING_TERMINATOR, offset - len(_STRING_TERMINATOR))
        self._wait_as_is(_STRING_TERMINATOR)
        return []

    def fresh_shell(self) -> None:
        if self._screen is not None:
            self._wait_as_is(FRESH_SHELL)

    def program_died(self) -> None:
        """Leaves the alternate screen that a program could not leave itself."""
        screen = self.screen
        if screen is not None and screen.alt_screen:
            self._wait_as_is(_UNSET)

    def resize(self, cols: int, rows: int) -> None:
        screen = self.screen
        if screen is not None:
            screen.resize(cols, rows)

    def _wait_as_is(self, piece: bytes) -> None:
        self._known = len(self._waiting)
        self._wait(piece)
        self.not_plain()

    def _wait(self, piece: bytes) -> None:
        self._waiting.append(piece)
        self._size += len(piece)

    def _show(self) -> None:
        """Feeds the screen with what waits for it; of a flood, with what it can remember."""
        screen = self._screen
        if screen is None:
            self._forget()
            return
        if self._plain_from:
            self._feed(screen, b"".join(self._waiting[: self._plain_from]))
            self._waiting, self._plain_from = self._waiting[self._plain_from :], 0
        flood, waiting = self._flood(), self._waiting
        self._forget()
        if flood is not None:
            self._feed(screen, flood.before)
            screen.pass_over(flood.lines)
            self._feed(screen, flood.after)
        else:
            self._feed(screen, b"".join(waiting))
        screen.take_replies()

    def _forget(self) -> None:
        self._waiting, self._size, self._plain_from, self._known = [], 0, 0, 0
        self._most = _DRAWN_AT_ONCE

    def _feed(self, screen: Screen, data: bytes) -> None:
        state = self._state
        if b"\x1b" in data or state.drawn_tail:
            whole = state.drawn_tail + data
            state.margins = floods.margins_set(whole, state.margins)
            state.drawn_tail = floods.open_sequence(whole)
        screen.feed(data)
        self.drawn += len(data)
