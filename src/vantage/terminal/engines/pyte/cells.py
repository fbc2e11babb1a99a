"""A cell of the pyte engine's grid, and the pen after an SGR sequence."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vantage.terminal.engines.values import ATTRS, UNDERLINES, ColorRef


class Cell(NamedTuple):
    data: str = " "
    """A character with the marks on it; empty for the second half of a wide one."""
    fg: ColorRef | None = None
    bg: ColorRef | None = None
    attrs: frozenset[str] = frozenset()
    link: str | None = None


BLANK_CELL = Cell()

_SWITCHED_ON = {
    1: "bold", 2: "dim", 3: "italic", 4: "underline", 5: "blink", 6: "blink", 7: "reverse", 8: "hidden", 9: "strike",
    53: "overline",
}  # fmt: skip
_ALL_UNDERLINES = ("underline", *UNDERLINES)
_SWITCHED_OFF: dict[int, tuple[str, ...]] = {
    22: ("bold", "dim"), 23: ("italic",), 24: _ALL_UNDERLINES, 25: ("blink",), 27: ("reverse",), 28: ("hidden",),
    29: ("strike",), 55: ("overline",),
}  # fmt: skip


def pen_after(pen: Cell, parameters: Sequence[int]) -> Cell:
    """The pen after SGR with these parameters."""
    rest = iter(parameters or (0,))
    for code in rest:
        if code == 0:
            pen = Cell(link=pen.link)
        elif code in _SWITCHED_ON:
            pen = pen._replace(attrs=pen.attrs | {_SWITCHED_ON[code]})
        elif code == 21 or code < 0:  # a kind of underline, in the form of `numbers_of`
            kind = UNDERLINES[-code - 2 if code < 0 else 0]
            pen = pen._replace(attrs=pen.attrs.difference(_ALL_UNDERLINES) | {"underline", kind})
        elif code in _SWITCHED_OFF:
            pen = pen._replace(attrs=pen.attrs.difference(_SWITCHED_OFF[code]))
        elif code in (38, 48, 58):
            color = _extended_color(rest)
            if color is None or code == 58:
                continue
            pen = pen._replace(fg=color) if code == 38 else pen._replace(bg=color)
        elif code in (39, 49):
            pen = pen._replace(fg=None) if code == 39 else pen._replace(bg=None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            pen = pen._replace(fg=code - 30 if code < 90 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            pen = pen._replace(bg=code - 40 if code < 100 else code - 92)
    return pen


def _extended_color(rest: Iterator[int]) -> ColorRef | None:
    """The colour after 38 or 48: `5;n` or `2;r;g;b`."""
    kind = next(rest, None)
    if kind == 5:
        number = next(rest, 256)
        return number if number <= 255 else None
    if kind == 2:
        rgb = [min(next(rest, 0), 255) for _ in range(3)]
        return "#{:02x}{:02x}{:02x}".format(*rgb)
    return None


def ordered(attrs: frozenset[str]) -> tuple[str, ...]:
    """A cell's attributes in the order of a run's."""
    names: list[str] = []
    for name in ATTRS:
        if name in attrs:
            names.append(name)
            if name == "underline":
                names += [kind for kind in UNDERLINES if kind in attrs]
    return tuple(names)
