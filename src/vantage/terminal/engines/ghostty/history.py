"""Lines that leave the ghostty engine's screen, taken before the library drops them.

The library keeps rows that scrolled away in pages of cells and drops the oldest pages when they take too much room. The
rows are taken as text, and the library is told to forget them, so it makes no difference when they are taken: a resize
lays out only what is on the screen, and a checkpoint contains nothing else. Two rows are one line when the first one
wraps and its last cell was written.
"""

from itertools import chain

from vantage.terminal.engines.ghostty.native import check, ffi, init_sized, lib
from vantage.terminal.engines.ghostty.rows import WRAP, goes_on, is_gap
from vantage.terminal.engines.ghostty.terminal import ACTIVE, SCREEN, Cells, VtTerminal
from vantage.terminal.engines.values import Drained

_TAKEN_BYTES = 1 << 19


def budget(cols: int) -> int:
    """How many rows may leave the screen before they must be taken."""
    return _TAKEN_BYTES // (cols * 8 + 64)


class HistoryTap:
    def __init__(self, vt: VtTerminal, cells: Cells) -> None:
        self._vt, self._cells = vt, cells
        self._raw, self._raw_cell = ffi.new("GhosttyRow*"), ffi.new("GhosttyCell*")
        self._number = ffi.new("size_t*")
        self._selection = init_sized("GhosttySelection")
        self._options = init_sized("GhosttyTerminalSelectionFormatOptions")
        self._buffer = ffi.new("uint8_t[]", 4096)
        self._drained: Drained | None = None
        self._done = 0
        """Rows of the history that were taken while the library could not forget them."""

    def take(self) -> Drained | None:
        drained, self._drained = self._drained, None
        return drained

    def erased(self) -> None:
        """The program erased the history. Lines that were taken before keep their numbers."""
        skipped = self._drained.lines + self._drained.skipped if self._drained else 0
        self._drained = Drained(erased=True, skipped=skipped)
        self._done = 0

    def forgotten(self) -> None:
        """The library has no history any more."""
        self._done = 0

    def collect(self, cols: int) -> bool:
        """Takes the rows that have left the screen; returns whether there were any.

        Not while the alternate screen is shown, which hides the main screen's history.
        """
        self._cols = cols
        history = self.rows()
        first = min(self._done, history)
        self._done = history
        if first < history:
            piece = self._piece(first, history - 1)
            self._drained = piece if self._drained is None else _joined(self._drained, piece)
        return history > 0

    def _piece(self, first: int, last: int) -> Drained:
        """Rows as lines. The library leaves out blank rows at the end."""
        text = self._format(first, last, unwrap=False)
        rows = text.split(b"\n")
        blank_rows = last - first + 1 - len(rows)
        # A row that wraps is full, and no character takes more cells than it has bytes.
        wrapping: list[int] = []
        if max(map(len, rows)) >= self._cols - 1:
            full = (number for number, row in enumerate(rows) if len(row) >= self._cols - 1)
            wrapping = [number for number in full if self._wraps(first + number)]
        if not wrapping:
            return Drained(text + b"\n" * blank_rows, len(rows) + blank_rows)
        ends = [b"\n"] * len(rows)
        for number in (*wrapping, len(rows) - 1):
            ends[number] = b""
        text = b"".join(chain.from_iterable(zip(rows, ends, strict=True)))
        ended = len(rows) - len(wrapping) + blank_rows
        goes_on = wrapping[-1] == len(rows) - 1
        return Drained(text + b"\n" * (blank_rows - goes_on), ended, goes_on and not blank_rows)

    def rows(self) -> int:
        """A row of the history."""
        key = lib.GHOSTTY_TERMINAL_DATA_SCROLLBACK_ROWS
        check(lib.ghostty_terminal_get(self._vt.native, key, self._number), "tell its history")
        return int(self._number[0])

    def _wraps(self, y: int) -> bool:
        last = self._cells.ref(self._cols - 1, y, SCREEN)
        if result := lib.ghostty_grid_ref_row(last, self._raw):
            check(result, "read a row")
        flags = int(self._raw[0])
        if not flags >> WRAP & 1:
            return False
        if result := lib.ghostty_grid_ref_cell(last, self._raw_cell):
            check(result, "read a cell")
        cell = int(self._raw_cell[0])
        return goes_on(flags, self._cell(-2, y, SCREEN) if is_gap(cell) else 0, cell)

    def _cell(self, x: int, y: int, tag: int) -> int:
        """A cell of a row, counted from its end."""
        check(lib.ghostty_grid_ref_cell(self._cells.ref(self._cols + x, y, tag), self._raw_cell), "read a cell")
        return int(self._raw_cell[0])

    def row_text(self, y: int, cols: int) -> str:
        """A row of the present screen."""
        self._cols = cols
        return self._format(y, y, tag=ACTIVE).decode("utf-8", "replace").rstrip(" ")

    def _format(self, first: int, last: int, *, tag: int = SCREEN, unwrap: bool = True) -> bytes:
        """The rows as text, wrapped ones joined with `unwrap`.

        Not trimmed by the library, which would drop blanks from the middle of a line whose next row was erased.
        """
        options, selection = self._options, self._selection
        selection.start = self._cells.ref(0, first, tag)[0]
        # the library's text would continue with the wide character that did not fit into the gap
        end = self._cols - 1 - is_gap(self._cell(-1, last, tag))
        selection.end = self._cells.ref(end, last, tag)[0]
        options.emit, options.unwrap, options.trim = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN, unwrap, False
        options.selection = selection
        while True:
            result = lib.ghostty_terminal_selection_format_buf(
                self._vt.native, options[0], self._buffer, len(self._buffer), self._number
            )
            if result != lib.GHOSTTY_OUT_OF_SPACE:
                check(result, "read its history")
                return bytes(ffi.buffer(self._buffer, self._number[0]))
            self._buffer = ffi.new("uint8_t[]", self._number[0])


def _joined(first: Drained, second: Drained) -> Drained:
    between = b"" if first.open or not (first.lines or first.text) else b"\n"
    lines = first.lines + second.lines
    return Drained(first.text + between + second.text, lines, second.open, first.erased, first.skipped)
