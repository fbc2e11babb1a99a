"""What the pyte engine answers to programs' queries, and the strings (OSC, DCS) that they send.

Every answer consists of our own words and numbers: nothing that a program sent comes back to it as input.
"""

import re
from collections.abc import Callable
from typing import Protocol

import msgspec
from pyte import modes as pyte_modes

from vantage.terminal.engines.pyte.grid import Grid
from vantage.terminal.engines.pyte.keyboard import Keyboard
from vantage.terminal.engines.values import UNDERLINES, ColorRef
from vantage.text.palette import Rgb, rgb_of

_MAX_REPLIES = 1 << 16
"""The most bytes of replies that wait to be taken. A query beyond that is not answered."""
_DEVICES = {"": "\x1b[?62;22c", ">": "\x1b[>1;0;0c", "=": "\x1bP!|00000000\x1b\\"}
_KNOWN_MODES = {
    1, 3, 5, 6, 7, 9, 12, 25, 45, 47, 66, 67, 69, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1047, 1048,
    1049, 2004, 2026,
}  # fmt: skip
_PLAIN_MODES = {4: pyte_modes.IRM, 20: pyte_modes.LNM}
_COLORS: dict[str, Rgb] = {"10": (229, 229, 229), "11": (0, 0, 0), "12": (229, 229, 229)}
_HEX = "([0-9a-fA-F]{1,4})"
_TWO = "([0-9a-fA-F]{2})"
_SPEC = re.compile(rf"#{_TWO}{_TWO}{_TWO}\Z|rgb:{_HEX}/{_HEX}/{_HEX}\Z")
_SGR = {
    "bold": "1", "dim": "2", "italic": "3", "blink": "5", "reverse": "7", "hidden": "8", "strike": "9",
    "overline": "53",
}  # fmt: skip


class Terminal(Protocol):
    """The state that an answer may depend on."""

    cols: int
    rows: int
    shape: int
    title: str
    cwd: str

    @property
    def grid(self) -> Grid: ...
    def is_set(self, mode: int) -> bool: ...
    def alt_screen(self) -> bool: ...


class _State(msgspec.Struct, array_like=True):
    colors: dict[str, Rgb]
    modify_other_keys: int
    keyboard: tuple[list[int], list[int]]


class Answers:
    """Replies that wait to be taken, and their state beside the terminal's: colours and keyboard flags."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._replies = bytearray()
        self._colors: dict[str, Rgb] = {}
        self.keyboard = Keyboard(terminal.alt_screen)

    def reset(self) -> None:
        self._colors = {}
        self.keyboard.reset()

    def take(self) -> bytes:
        taken = bytes(self._replies)
        self._replies.clear()
        return taken

    def _say(self, text: str) -> None:
        if len(self._replies) + len(text) <= _MAX_REPLIES:
            self._replies += text.encode()

    # Sequences

    def device(self, kind: str) -> None:
        """DA1, DA2, DA3"""
        self._say(_DEVICES[kind])

    def status(self, what: int, prefix: str) -> None:
        """DSR 5, DSR 6 and DECXCPR"""
        if what == 5 and not prefix:
            self._say("\x1b[0n")
        elif what == 6:
            grid = self._terminal.grid
            row = grid.cursor.y + 1
            if pyte_modes.DECOM in grid.mode and grid.margins:
                row -= grid.margins.top
            self._say(f"\x1b[{prefix}{row};{min(grid.cursor.x, grid.columns - 1) + 1}R")

    def mode(self, mode: int, prefix: str) -> None:
        """DECRQM"""
        if prefix:
            state = (1 if self._terminal.is_set(mode) else 2) if mode in _KNOWN_MODES else 0
        else:
            state = (1 if _PLAIN_MODES[mode] in self._terminal.grid.mode else 2) if mode in _PLAIN_MODES else 0
        self._say(f"\x1b[{prefix}{mode};{state}$y")

    def version(self) -> None:
        """XTVERSION"""
        self._say("\x1bP>|vantage\x1b\\")

    def size(self, what: int) -> None:
        rows, cols = self._terminal.rows, self._terminal.cols
        sizes = {14: f"\x1b[4;{rows * 16};{cols * 8}t", 16: "\x1b[6;16;8t", 18: f"\x1b[8;{rows};{cols}t"}
        self._say(sizes.get(what, ""))

    def keyboard_flags(self) -> None:
        self._say(f"\x1b[?{self.keyboard.flags()}u")

    # Strings

    def string(self, kind: str, text: str, end: str) -> None:
        if kind == "]":
            self._command(text, end)
        elif kind == "P" and text.startswith("$q"):
            self._setting(text[2:])

    def _command(self, text: str, end: str) -> None:
        """OSC"""
        number, _, rest = text.partition(";")
        if number in {"0", "2"}:
            self._terminal.title = rest
        elif number == "7":
            self._terminal.cwd = rest
        elif number == "8":
            _, _, address = rest.partition(";")
            pen = self._terminal.grid.cursor
            pen.attrs = pen.attrs._replace(link=address or None)
        elif number == "4":
            parts = rest.split(";")
            for color, spec in zip(parts[::2], parts[1::2], strict=False):
                if color.isdecimal() and int(color) < 256:
                    self._color(f"4;{int(color)}", spec, end)
        elif number in _COLORS:
            for place, spec in zip(range(int(number), 13), rest.split(";"), strict=False):
                self._color(str(place), spec, end)
        elif number in {"104", "110", "111", "112"}:
            chosen = {f"4;{part}" for part in rest.split(";") if part} if number == "104" else {number[1:]}
            for name in [
                name for name in self._colors if name in chosen or (number == "104" and not rest and ";" in name)
            ]:
                del self._colors[name]

    def _color(self, name: str, spec: str, end: str) -> None:
        if spec != "?":
            if parsed := _SPEC.match(spec):
                self._colors[name] = _rgb(*(part for part in parsed.groups() if part))
            return
        default = _COLORS[name] if name in _COLORS else rgb_of(int(name[2:]))
        red, green, blue = self._colors.get(name, default)
        self._say(f"\x1b]{name};rgb:{red * 257:04x}/{green * 257:04x}/{blue * 257:04x}{end}")

    def _setting(self, what: str) -> None:
        """DECRQSS"""
        grid = self._terminal.grid
        top, bottom = grid.margins or (0, grid.lines - 1)
        settings: dict[str, Callable[[], str]] = {
            "m": self._pen,
            "r": lambda: f"{top + 1};{bottom + 1}",
            " q": lambda: str(self._terminal.shape or 2),
        }
        if what in settings:
            self._say(f"\x1bP1$r{settings[what]()}{what}\x1b\\")
        elif len(what) <= 2:
            self._say("\x1bP0$r\x1b\\")

    def _pen(self) -> str:
        pen = self._terminal.grid.cursor.attrs
        codes = ["0", *(code for name, code in _SGR.items() if name in pen.attrs)]
        if "underline" in pen.attrs:
            kind = next((n for n, name in enumerate(UNDERLINES, 2) if name in pen.attrs), 1)
            codes.append("4" if kind == 1 else f"4:{kind}")
        for base, color in ((30, pen.fg), (40, pen.bg)):
            if color is not None:
                codes.append(_sgr_color(base, color))
        return ";".join(codes)

    def encode(self) -> bytes:
        keyboard = self.keyboard
        return msgspec.msgpack.encode(_State(self._colors, keyboard.modify_other_keys, keyboard.stacks))

    def decode(self, data: bytes) -> None:
        state = msgspec.msgpack.decode(data, type=_State)
        self._colors = state.colors
        self.keyboard.modify_other_keys, self.keyboard.stacks = state.modify_other_keys, state.keyboard


def _rgb(*parts: str) -> Rgb:
    red, green, blue = (round(int(part, 16) * 255 / (16 ** len(part) - 1)) for part in parts)
    return (red, green, blue)


def _sgr_color(base: int, color: ColorRef) -> str:
    if isinstance(color, str):
        return "{}:2::{}:{}:{}".format(base + 8, *rgb_of(color))
    if color < 8:
        return str(base + color)
    return str(base + 52 + color) if color < 16 else f"{base + 8}:5:{color}"
