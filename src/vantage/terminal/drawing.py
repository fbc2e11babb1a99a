"""A screen that is shown a terminal's output when somebody looks at it, or when a program asks it something.

Until then the bytes wait, so that a flood is drawn in a few large pieces, and of plain lines only the last (`floods`).
"""

from vantage.terminal import floods
from vantage.terminal.queries import Queries
from vantage.terminal.screen import Screen
from vantage.terminal.state import Reply, State

_MOST_WAITING = 4 << 20
_STRING_TERMINATOR = b"\x1b\\"
FRESH_SHELL = (
    b"\x1b[?1049l\x1b[?1047l\x1b[?47l\x1b[!p\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?2004l\x1b[?2026l"
    b"\x1b[<99u\x1b[>4;0m\x1b[m\x1b[?25h\r\n"
)
"""What a screen is shown before another shell draws on it: whatever the last program left set is unset."""


class Drawing:
    """The screen of one terminal. What it must remember beyond the screen is in the terminal's state."""

    def __init__(self, screen: Screen | None, state: State) -> None:
        self._screen = screen
        self._state = state
        self._queries = Queries(state.queries_tail)
        self._waiting: list[bytes] = []
        self._size = self._plain_from = 0
        """How many bytes wait, and from which piece on they are plain."""
        self.drawn = 0
        """Bytes that the screen was really fed, so far: what drawing it again would cost."""

    @property
    def screen(self) -> Screen | None:
        if self._waiting:
            self._show()
        return self._screen

    @screen.setter
    def screen(self, screen: Screen | None) -> None:
        self._waiting, self._size, self._plain_from = [], 0, 0
        self._screen = screen

    def save(self) -> None:
        """Into the state: what waits is shown first, so that it waits nowhere."""
        if self._waiting:
            self._show()
        self._state.queries_tail = self._queries.tail

    def add(self, data: bytes, offset: int) -> list[Reply]:
        """Output from an offset on, and what the screen answers to the questions in it."""
        replies: list[Reply] = []
        if self._screen is None:
            return replies
        state = self._state
        offset -= self._queries.held
        for piece, what in self._queries.cut(data):
            offset += len(piece)
            if what == "other":
                state.answer = b""  # what was not seen as a question has no offset to answer to
                self._wait(piece)
                continue
            screen = self.screen
            assert screen is not None
            self._feed(screen, piece)
            state.answer += screen.take_replies()
            if what == "asked":
                if state.answer:
                    replies.append(Reply(offset, state.answer, state.now))
                state.answer = b""
        if self._size >= _MOST_WAITING:
            self._show()
        return replies

    def not_plain(self) -> None:
        """What was added last has more in it than characters and line ends."""
        self._plain_from = len(self._waiting)

    def end_sequence(self, offset: int) -> list[Reply]:
        """The screen is not shown our marks, and a mark ends whatever sequence was open."""
        if self._screen is None:
            return []
        if self._queries.tail:
            return self.add(_STRING_TERMINATOR, offset - len(_STRING_TERMINATOR))
        self._wait(_STRING_TERMINATOR)
        self.not_plain()
        return []

    def fresh_shell(self) -> None:
        if self._screen is not None:
            self._wait(FRESH_SHELL)
            self.not_plain()

    def resize(self, cols: int, rows: int) -> None:
        screen = self.screen
        if screen is not None:
            screen.resize(cols, rows)

    def _wait(self, piece: bytes) -> None:
        self._waiting.append(piece)
        self._size += len(piece)

    def _show(self) -> None:
        """Feeds the screen with what waits for it; of a flood, with what it can remember."""
        waiting, plain = self._waiting, self._plain_from
        self._waiting, self._size, self._plain_from = [], 0, 0
        screen = self._screen
        if screen is None:
            return
        if plain:
            self._feed(screen, b"".join(waiting[:plain]))
        flood = None if self._state.margins else floods.passable(waiting[plain:], screen.remembers)
        if flood is not None:
            self._feed(screen, flood.before)
            screen.pass_over(flood.lines)
            self._feed(screen, flood.after)
        else:
            self._feed(screen, b"".join(waiting[plain:]))
        screen.take_replies()

    def _feed(self, screen: Screen, data: bytes) -> None:
        state = self._state
        if b"\x1b" in data or state.drawn_tail:
            whole = state.drawn_tail + data
            state.margins = floods.margins_set(whole, state.margins)
            state.drawn_tail = floods.open_sequence(whole)
        screen.feed(data)
        self.drawn += len(data)
