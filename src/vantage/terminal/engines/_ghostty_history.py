"""Lines that leave the ghostty engine's screen, taken before the library drops them.

The library keeps rows that scrolled away in pages of cells and drops the oldest pages when they take too much room.
They are taken from it as text, each line once: `refs[0]` of the native objects follows the first row not taken yet,
`refs[1]` the row before it. When the two fall together, the program erased what was above (ED 3); when the first is
gone, so is everything (RIS), or more came at once than the library keeps.
"""

from vantage.terminal.engines._ghostty_native import ACTIVE, SCREEN, Cells, Native, check, ffi, init_sized, lib
from vantage.terminal.engines._ghostty_rows import WRAP
from vantage.terminal.engines.values import Drained

HISTORY_BYTES = 2 << 20
"""What the library may keep of rows that left the screen."""
_LONG_LINE = 64
"""Rows after which a line that has left the screen and still goes on is handed over as far as it has come."""


def room(cols: int, rows: int) -> int:
    """Bytes that the library may use: the screen itself, which counts too, and the history."""
    return HISTORY_BYTES + 2 * rows * (cols * 8 + 64)


def budget(cols: int) -> int:
    """How many rows may leave the screen before they must be taken.

    The library drops whole pages of rows, which are large beside wide rows: just after that, little more than half of
    what would fit is there. And what was counted before a piece comes on top of the piece.
    """
    return HISTORY_BYTES // (cols * 8 + 64) // 4


class HistoryTap:
    def __init__(self, native: Native, cells: Cells) -> None:
        self._native, self._cells = native, cells
        self._raw = ffi.new("GhosttyRow*")
        self._number = ffi.new("size_t*")
        self._selection = init_sized("GhosttySelection")
        self._options = init_sized("GhosttyTerminalSelectionFormatOptions")
        self._buffer = ffi.new("uint8_t[]", 4096)
        self._drained: Drained | None = None
        self._has_before = False
        self._later: tuple[int, int] | None = None
        """Where the first row not taken is, while the main screen cannot be seen (after a decode)."""
        native.refs = [cells.track(0, 0, ACTIVE), cells.track(0, 0, ACTIVE)]

    def start_over(self) -> None:
        """RIS comes. Where the main screen could not be seen since a decode, nothing else will tell of it."""
        if self._later is not None:
            self._later = None
            self._has_before = False
            self._drained = Drained(erased=True)

    def take(self) -> Drained | None:
        drained, self._drained = self._drained, None
        return drained

    def place(self) -> tuple[tuple[int, int] | None, bool]:
        return self._later or self._cells.where(self._native.refs[0]), self._has_before

    def restore(self, place: tuple[int, int] | None, *, has_before: bool, visible: bool) -> None:
        self._has_before = has_before
        if visible and place is not None:
            self._move(0, place)
            self._move(1, (0, max(place[1] - 1, 0)))
        else:
            self._later = place

    def collect(self, cols: int) -> None:
        """Take what has left the screen. Not while the alternate screen is shown, which hides the other's history."""
        self._cols = cols
        if self._later is not None:
            self._move(0, self._later)
            self._later = None
        place = self._cells.where(self._native.refs[0])
        if place is None or (self._has_before and place == self._cells.where(self._native.refs[1])):
            skipped = self._drained.lines + self._drained.skipped if self._drained else 0
            self._drained = Drained(
                erased=True, skipped=skipped
            )  # gone (RIS, too much at once) or fallen together (ED 3)
            self._has_before = False
            place = (0, 0)
            self._move(0, place)
        history = self._rows()
        x, y = place
        end = history
        while end > y and history - end < _LONG_LINE and self._wraps(end - 1):
            end -= 1
        unfinished = end < history and (end <= y or self._wraps(end - 1))
        if unfinished and history - y >= _LONG_LINE:
            end = history
        elif end <= y:
            return
        else:
            unfinished = False
        self._hand_over(x, y, end - 1, unfinished=unfinished)
        self._move(1, (0, end - 1))
        self._move(0, (0, end))
        self._has_before = True

    def _hand_over(self, x: int, y: int, last: int, *, unfinished: bool) -> None:
        blank = last + 1 if unfinished else self._blank_from(y, last)
        more = sum(row == y or not self._wraps(row - 1) for row in range(blank, last + 1))
        if blank > y:
            text = self._format(x, y, blank - 1)
            lines = text.count(b"\n") + 1 + more
            text += b"\n" * more
        else:  # only blank lines: joined by as many line feeds as there are between them
            text, lines = b"\n" * (more - 1), more
        piece = Drained(text, lines - unfinished, unfinished)
        self._drained = piece if self._drained is None else _joined(self._drained, piece)

    def _rows(self) -> int:
        key = lib.GHOSTTY_TERMINAL_DATA_SCROLLBACK_ROWS
        check(lib.ghostty_terminal_get(self._native.terminal, key, self._number), "tell its history")
        return int(self._number[0])

    def _wraps(self, y: int) -> bool:
        check(lib.ghostty_grid_ref_row(self._cells.ref(0, y, SCREEN), self._raw), "read a row")
        return bool(self._raw[0] >> WRAP & 1)

    def _blank_from(self, first: int, last: int) -> int:
        """The row from which on all are blank: the library's text has line feeds for some of them only."""
        low, high = first, last  # somewhere from low to behind high
        if not self._is_blank(last, last):
            return last + 1
        while low < high:
            middle = (low + high) // 2
            if self._is_blank(middle, last):
                high = middle
            else:
                low = middle + 1
        return high

    def _is_blank(self, first: int, last: int) -> bool:
        return not self._format(0, first, last).strip(b" \n")

    def row_text(self, y: int, cols: int) -> str:
        """A row of the screen as it is now."""
        self._cols = cols
        return self._format(0, y, y, tag=ACTIVE).decode("utf-8", "replace").rstrip(" ")

    def _format(self, x: int, y: int, last: int, *, tag: int = SCREEN) -> bytes:
        """The rows as text, wrapped ones joined.

        Not trimmed by the library, which would drop blanks from the middle of a line whose next row was erased.
        """
        options, selection = self._options, self._selection
        selection.start = self._cells.ref(x, y, tag)[0]
        selection.end = self._cells.ref(self._cols - 1, last, tag)[0]
        options.emit, options.unwrap, options.trim = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN, True, False
        options.selection = selection
        while True:
            result = lib.ghostty_terminal_selection_format_buf(
                self._native.terminal, options[0], self._buffer, len(self._buffer), self._number
            )
            if result != lib.GHOSTTY_OUT_OF_SPACE:
                check(result, "read its history")
                return bytes(ffi.buffer(self._buffer, self._number[0]))
            self._buffer = ffi.new("uint8_t[]", self._number[0])

    def _move(self, index: int, place: tuple[int, int]) -> None:
        refs = self._native.refs
        if not self._cells.move(refs[index], *place):
            lib.ghostty_tracked_grid_ref_free(refs[index])
            refs[index] = self._cells.track(0, 0, ACTIVE)

    def returned(self) -> int:
        """How many lines that were taken are on the screen again, because it has grown."""
        place = self._cells.where(self._native.refs[0], ACTIVE)
        if place is None:
            return 0
        top = self._rows()
        return sum(not self._wraps(top + y) for y in range(place[1]))


def _joined(first: Drained, second: Drained) -> Drained:
    if second.erased:
        return second
    between = b"" if first.open or not (first.lines or first.text) else b"\n"
    lines = first.lines + second.lines
    return Drained(first.text + between + second.text, lines, second.open, first.erased, first.skipped)
