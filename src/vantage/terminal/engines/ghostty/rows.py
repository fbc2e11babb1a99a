"""Rows of the ghostty engine, read from the library's own array of 64-bit cells.

The library is asked at import where in a cell it keeps each value. Rows without wide characters, clusters and styles
(most of them) are turned into text by a few operations on the whole row.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Any

from vantage.terminal.engines.ghostty.native import check, ffi, init_sized, lib
from vantage.terminal.engines.ghostty.terminal import ACTIVE, Cells, VtTerminal
from vantage.terminal.engines.values import ATTRS, UNDERLINES, ColorRef, Row, Run


def _shift(get: Any, key: int, kind: str) -> int:
    """The bit of a cell or row at which the library keeps a value: the lowest bit that makes it 1."""
    out = ffi.new(f"{kind}*")
    for bit in range(64):
        out[0] = 0
        if get(1 << bit, key, out) == 0 and int(out[0]) == 1:
            return bit
    raise ImportError("libghostty-vt keeps its cells in a way that this version of Vantage cannot read")


_CODEPOINT = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_CODEPOINT, "uint32_t")
_TAG = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_CONTENT_TAG, "GhosttyCellContentTag")
_STYLE = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_STYLE_ID, "uint16_t")
_WIDE = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_WIDE, "GhosttyCellWide")
_LINK = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_HAS_HYPERLINK, "bool")
WRAP = _shift(lib.ghostty_row_get, lib.GHOSTTY_ROW_DATA_WRAP, "bool")

_CODEPOINT_BITS = 0x1FFFFF
# The key by which cells form runs: the style's number, the link flag, and for background-only cells, their colour.
_LOOK = 0xFFFF << _STYLE | 1 << _LINK
_BACKGROUND_ONLY = 2 << _TAG
_CONTENT = 0xFFFFFF << _CODEPOINT | 3 << _TAG

_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "bold": lambda style: style.bold,
    "dim": lambda style: style.faint,
    "italic": lambda style: style.italic,
    "underline": lambda style: style.underline,
    "blink": lambda style: style.blink,
    "reverse": lambda style: style.inverse,
    "hidden": lambda style: style.invisible,
    "strike": lambda style: style.strikethrough,
    "overline": lambda style: style.overline,
}
"""The names in `ATTRS` → whether a GhosttyStyle has it."""
_StyleParts = tuple[ColorRef | None, ColorRef | None, tuple[str, ...]]
# Styles by the bytes of the library's struct, because decoding it field by field is expensive.
_STYLES: dict[bytes, _StyleParts] = {}
_MAX_STYLES = 4096
_NO_STYLE: _StyleParts = (None, None, ())


class RowReader:
    """The rows of one terminal that changed since they were last read."""

    def __init__(self, vt: VtTerminal, cells: Cells) -> None:
        self._vt, self._cells = vt, cells
        self._texts: dict[int, str] = {}
        self._gaps: set[int] = set()
        """Rows that, when they were last read, had a gap at their end before a wide character that did not fit."""
        self._number = ffi.new("uint16_t*")
        self._size = ffi.new("size_t*")
        self._raw = ffi.new("GhosttyRow*")
        self._view = ffi.new("GhosttyCellsView*")
        self._style_out = init_sized("GhosttyStyle")
        self._style_bytes = ffi.buffer(self._style_out)

    def update(self) -> Any:
        """The library's snapshot of the screen, updated. It is made at the first read."""
        vt = self._vt
        if vt.render is None:
            render = ffi.new("GhosttyRenderState*")
            vt.iterator, vt.cells = (
                ffi.new("GhosttyRenderStateRowIterator*"),
                ffi.new("GhosttyRenderStateRowCells*"),
            )
            check(lib.ghostty_render_state_new(ffi.NULL, render), "draw")
            check(lib.ghostty_render_state_row_iterator_new(ffi.NULL, vt.iterator), "draw")
            check(lib.ghostty_render_state_row_cells_new(ffi.NULL, vt.cells), "draw")
            vt.render = render[0]
        check(lib.ghostty_render_state_update(vt.render, vt.native), "draw")
        return vt.render

    def dirty(self) -> list[tuple[int, Row]]:
        state, iterator = self.update(), self._vt.iterator
        lib.ghostty_render_state_get(state, lib.GHOSTTY_RENDER_STATE_DATA_ROW_ITERATOR, iterator)
        number, raw, view = self._number, self._raw, self._view
        rows = []
        while lib.ghostty_render_state_row_iterator_next_dirty(iterator[0], number):
            lib.ghostty_render_state_row_get(iterator[0], lib.GHOSTTY_RENDER_STATE_ROW_DATA_RAW, raw)
            lib.ghostty_render_state_row_get(iterator[0], lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW, view)
            cells = ffi.buffer(view.ptr, view.len * 8)
            row = self._row(number[0], raw[0], cells)
            self._texts[number[0]] = row.text
            rows.append((number[0], row))
            if is_gap(int.from_bytes(cells[-8:], "little")):
                self._gaps.add(number[0])
            elif self._gaps:
                self._gaps.discard(number[0])
        lib.ghostty_render_state_clean(state)
        return rows

    def has_stale_gap(self, rows: list[tuple[int, Row]]) -> bool:
        """Whether a row before one of these, but not in them, may have lost its gap.

        The library closes the gap when the wide character after it is overwritten, and reports only that row as
        changed.
        """
        if not self._gaps:
            return False
        changed = {number for number, _ in rows}
        return any(gap + 1 in changed and gap not in changed for gap in self._gaps)

    def is_stale(self, y: int, x: int, text: str) -> bool:
        """Whether a row has, or may have, another text than when it was last read.

        A mark on the blank before the cursor cannot be recognised: the library leaves such a blank out.
        """
        known = self._texts.get(y)
        return known is not None and (known != text or known[max(x - 1, 0) : x].strip() == "")

    def forget(self) -> None:
        """Reads everything anew."""
        self._vt.free_render()
        self._texts.clear()
        self._gaps.clear()

    def _row(self, y: int, flags: int, cells: Any) -> Row:
        wrapped = bool(flags >> WRAP & 1) and goes_on(flags, *memoryview(cells).cast("Q")[-2:])
        every = _every_cell(len(cells) // 8)
        bits = int.from_bytes(cells, "little")
        codepoints = (bits >> _CODEPOINT) & every.codepoint
        if bits & every.special:
            # Background-only cells have no character. The second half of a wide one is dropped as U+FFFF; the gap
            # before one that did not fit is a blank.
            codepoints &= ~((bits >> (_TAG + 1) & every.one) * _CODEPOINT_BITS)
            halves = bits >> (_WIDE + 1) & every.one
            codepoints |= (halves & ~(bits >> _WIDE)) * 0xFFFF
        text = codepoints.to_bytes(len(cells), "little").decode("utf-32-le", "replace")[::2]
        if bits & every.special:
            clusters = bits >> _TAG & ~(bits >> (_TAG + 1)) & every.one
            if clusters:
                text = self._with_marks(text, clusters)
            text = text.replace("\uffff", "")
        return Row(text.replace("\0", " ").rstrip(" "), self._runs(y, cells) if bits & every.look else (), wrapped)

    def _with_marks(self, text: str, clusters: int) -> str:
        """The text of a row, one character a cell, with the marks that the library keeps separately."""
        self._open_cells()
        characters = list(text)
        for x, flag in enumerate(clusters.to_bytes(len(text) * 8, "little")[::8]):
            if flag:
                characters[x] = self._cluster(x)
        return "".join(characters)

    def _open_cells(self) -> bool:
        vt = self._vt
        key = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS
        check(lib.ghostty_render_state_row_get(vt.iterator[0], key, vt.cells), "read a row")
        return True

    def _cluster(self, x: int) -> str:
        cells = self._vt.cells[0]
        lib.ghostty_render_state_row_cells_select(cells, x)
        length = ffi.new("uint32_t*")
        lib.ghostty_render_state_row_cells_get(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_LEN, length)
        codepoints = ffi.new("uint32_t[]", max(length[0], 1))
        lib.ghostty_render_state_row_cells_get(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_BUF, codepoints)
        return "".join(map(chr, codepoints[0 : length[0]]))

    def _runs(self, y: int, cells: Any) -> tuple[Run, ...]:
        runs: list[Run] = []
        known: dict[int, _StyleParts] = {}
        opened = False
        start = 0
        for look, group in groupby(memoryview(cells).cast("Q"), _look):
            length = sum(1 for _ in group)
            if look:
                opened = opened or self._open_cells()
                key = look & ~(1 << _LINK)
                if key not in known:
                    known[key] = self._style(start, look)
                self._add_runs(runs, y, start, length, known[key], linked=bool(look >> _LINK & 1))
            start += length
        return tuple(runs)

    def _add_runs(self, runs: list[Run], y: int, start: int, length: int, style: _StyleParts, *, linked: bool) -> None:
        if not linked:
            before = runs[-1] if runs else None
            if (
                before
                and before.start + before.len == start
                and (before.fg, before.bg, before.attrs, before.link) == (*style, None)
            ):
                runs[-1] = Run(before.start, before.len + length, *style)
            elif style != _NO_STYLE:
                runs.append(Run(start, length, *style))
            return
        for link, group in groupby(
            range(start, start + length), lambda x: self._link(x, y)
        ):  # neighbours may have other targets
            columns = list(group)
            runs.append(Run(columns[0], len(columns), *style, link or None))

    def _style(self, x: int, look: int) -> _StyleParts:
        tag = look >> _TAG & 3
        content = look >> _CODEPOINT & 0xFFFFFF
        if tag == 2:
            return None, content & 0xFF, ()
        if tag == 3:
            return None, f"#{content & 0xFF:02x}{content >> 8 & 0xFF:02x}{content >> 16:02x}", ()
        cells = self._vt.cells[0]
        lib.ghostty_render_state_row_cells_select(cells, x)
        lib.ghostty_render_state_row_cells_get(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE, self._style_out)
        known = bytes(self._style_bytes)
        if known not in _STYLES:
            if len(_STYLES) > _MAX_STYLES:
                _STYLES.clear()
            _STYLES[known] = _style(self._style_out)
        return _STYLES[known]

    def _link(self, x: int, y: int) -> str:
        ref = self._cells.ref(x, y, ACTIVE)
        lib.ghostty_grid_ref_hyperlink_uri(ref, ffi.NULL, 0, self._size)
        buffer = ffi.new("uint8_t[]", max(self._size[0], 1))
        if lib.ghostty_grid_ref_hyperlink_uri(ref, buffer, len(buffer), self._size):
            return ""
        return bytes(ffi.buffer(buffer, self._size[0])).decode("utf-8", "replace")


def is_gap(cell: int) -> bool:
    """Whether a cell is the gap before a wide character that did not fit."""
    return cell >> _WIDE & 3 == 3


def goes_on(flags: int, before: int, last: int) -> bool:
    """Whether the next row continues one with these flags and last two cells.

    A row that is not full does not continue, even if it once wrapped: the library's snapshots do not keep that.
    """
    cell = before if is_gap(last) else last
    written = cell >> _CODEPOINT & _CODEPOINT_BITS and not cell >> (_TAG + 1) & 1
    return bool(flags >> WRAP & 1 and (written or cell >> _WIDE & 3 == 2))


class _Every:
    """Bit masks over a whole row of cells at once."""

    __slots__ = ("codepoint", "look", "one", "special")

    def __init__(self, cells: int) -> None:
        ones = int.from_bytes(b"\1\0\0\0\0\0\0\0" * cells, "little")
        self.one = ones
        self.codepoint = ones * _CODEPOINT_BITS
        self.special = ones * (3 << _WIDE | 3 << _TAG)
        self.look = ones * (_LOOK | _BACKGROUND_ONLY)


_MASKS: dict[int, _Every] = {}


def _every_cell(cells: int) -> _Every:
    masks = _MASKS.get(cells)
    if masks is None:
        masks = _MASKS[cells] = _Every(cells)
    return masks


def _look(cell: int) -> int:
    return cell & _LOOK if not cell & _BACKGROUND_ONLY else cell & (_CONTENT | 1 << _LINK)


def _style(style: Any) -> _StyleParts:
    attrs = [name for name in ATTRS if _ATTRIBUTES[name](style)]
    if style.underline > 1:
        attrs.insert(attrs.index("underline") + 1, UNDERLINES[min(style.underline, 5) - 2])
    return _color(style.fg_color), _color(style.bg_color), tuple(attrs)


def _color(color: Any) -> ColorRef | None:
    if color.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
        return int(color.value.palette)
    if color.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
        rgb = color.value.rgb
        return f"#{rgb.r:02x}{rgb.g:02x}{rgb.b:02x}"
    return None
