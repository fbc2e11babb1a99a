"""A screen as text for a terminal: styled line by line, or as one redraw of the whole screen."""

import msgspec

from vantage.export.screen.pieces import PLAIN, Piece, pieces
from vantage.terminal.engines.values import Cursor, Run
from vantage.terminal.screen.frames import ScreenSnapshot, cell_of

_ATTRIBUTES = {
    "bold": "1", "dim": "2", "italic": "3", "underline": "4", "blink": "5", "reverse": "7", "hidden": "8",
    "strike": "9", "overline": "53",
}  # fmt: skip
_UNDERLINES = {"double": "4:2", "curly": "4:3", "dotted": "4:4", "dashed": "4:5"}
_SHAPES = {"block": 2, "underline": 4, "bar": 6}


def styled_lines(snapshot: ScreenSnapshot, *, cursor: bool = False) -> list[str]:
    """The rows with SGR codes, without the empty ones at the end. The cursor is its cell, reversed."""
    if cursor and snapshot.cursor.visible:
        snapshot = _with_cursor(snapshot, snapshot.cursor)
    lines = [_line(snapshot, row) for row in range(snapshot.rows_count)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def repaint(snapshot: ScreenSnapshot) -> str:
    """Bytes that make a fresh terminal of the same size look like the screen."""
    rows = "\r\n".join(_line(snapshot, row) for row in range(snapshot.rows_count))
    parts = ["\x1b[?1049h" if snapshot.alt_screen else "", "\x1b[H\x1b[2J", rows]
    parts.append(f"\x1b[{snapshot.cursor.row + 1};{snapshot.cursor.col + 1}H\x1b[{_SHAPES[snapshot.cursor.shape]} q")
    if not snapshot.cursor.visible:
        parts.append("\x1b[?25l")
    if snapshot.title:
        parts.append(f"\x1b]2;{snapshot.title}\x1b\\")
    return "".join(parts)


def _line(snapshot: ScreenSnapshot, row: int) -> str:
    parts, at = [], 0
    for piece in pieces(snapshot, row):
        parts.append(" " * (piece.start - at) + _piece(piece))
        at = piece.start + piece.cells
    return "".join(parts)


def _piece(piece: Piece) -> str:
    if piece.run is PLAIN:
        return piece.text
    codes = _codes(piece.run)
    return f"\x1b[{codes}m{piece.text}\x1b[0m" if codes else piece.text


def _codes(run: Run) -> str:
    codes = [_ATTRIBUTES[name] for name in run.attrs if name in _ATTRIBUTES]
    codes += [_UNDERLINES[name] for name in run.attrs if name in _UNDERLINES]
    for layer, color in ((38, run.fg), (48, run.bg)):
        if isinstance(color, int):
            codes.append(f"{layer};5;{color}")
        elif color is not None:
            codes.append(f"{layer};2;{int(color[1:3], 16)};{int(color[3:5], 16)};{int(color[5:7], 16)}")
    return ";".join(codes)


def _with_cursor(snapshot: ScreenSnapshot, cursor: Cursor) -> ScreenSnapshot:
    runs = list(snapshot.runs or [()] * snapshot.rows_count)
    row: list[Run] = []
    under = Run(cursor.col, 1)
    for run in runs[cursor.row]:
        before, behind = cursor.col - run.start, run.start + run.len - cursor.col - 1
        if before < 0 or behind < 0:
            row.append(run)
            continue
        under = msgspec.structs.replace(run, start=cursor.col, len=1)
        if before:
            row.append(msgspec.structs.replace(run, len=before))
        if behind:
            row.append(msgspec.structs.replace(run, start=cursor.col + 1, len=behind))
    attrs = tuple(name for name in under.attrs if name != "reverse")
    reversed_ = (*attrs, "reverse") if attrs == under.attrs else attrs
    row.append(msgspec.structs.replace(under, attrs=reversed_))
    runs[cursor.row] = tuple(sorted(row, key=lambda run: run.start))
    texts = list(snapshot.rows)
    width = cell_of(texts[cursor.row], len(texts[cursor.row]))
    texts[cursor.row] += " " * (cursor.col - width)
    return msgspec.structs.replace(snapshot, rows=tuple(texts), runs=tuple(runs))
