"""Colour tokens → codes of the 256-colour palette, derived from the terminal's foreground and background.

The first sixteen palette entries belong to the user's theme, so they are never chosen; a colour that is requested by
number is used unchanged.
"""

from typing import Literal

import msgspec

from vantage.text.style import Color, Style

Rgb = tuple[int, int, int]
ColorValue = int | str | Rgb
"""A 256-palette number, `#rrggbb`, or `(r, g, b)`."""

_STEPS = (0, 95, 135, 175, 215, 255)
# Common values of the theme's sixteen colours (xterm's defaults): only for judging light and dark.
_SYSTEM: tuple[Rgb, ...] = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
    (255, 255, 255),
)  # fmt: skip

# token → (on a dark background, on a light one); "accent" and "colorful" are derived instead.
_TOKENS: dict[str, tuple[int, int]] = {
    "green": (78, 28),
    "red": (203, 124),
    "yellow": (179, 94),
    "blue": (111, 25),
    "cyan": (117, 30),
    "purple": (141, 91),
    "orange": (215, 130),
    "dim": (247, 241),
    "comment": (243, 245),
}
_ALIASES = {"success": "green", "danger": "red", "error": "red", "warning": "yellow", "muted": "dim"}
_SIXTEEN = {
    "green": "32", "red": "31", "yellow": "33", "blue": "94", "cyan": "36", "purple": "35", "orange": "33",
    "dim": "90", "comment": "90", "accent": "90", "colorful": "94",
}  # fmt: skip

TOKENS = frozenset({*_TOKENS, *_ALIASES, "accent", "colorful", "fg"})


def rgb_of(color: ColorValue) -> Rgb:
    """The red, green and blue of a colour; `ValueError` says what was expected."""
    if isinstance(color, str):
        digits = color.removeprefix("#")
        try:
            if len(digits) == 6 and color.startswith("#"):
                value = int(digits, 16)
                return (value >> 16, value >> 8 & 255, value & 255)
        except ValueError:
            pass
    elif isinstance(color, tuple):
        if len(color) == 3 and all(isinstance(part, int) and 0 <= part <= 255 for part in color):
            return color
    elif isinstance(color, int) and 0 <= color <= 255:
        if color < 16:
            return _SYSTEM[color]
        if color < 232:
            index = color - 16
            return (_STEPS[index // 36], _STEPS[index // 6 % 6], _STEPS[index % 6])
        return (8 + 10 * (color - 232),) * 3
    raise ValueError(f"a colour is a number from 0 to 255, '#rrggbb' or (r, g, b), not {color!r}")


def nearest(color: Rgb) -> int:
    """The palette number, from the colour cube or the grey ramp, that looks most like `color`."""
    cube = [min(range(6), key=lambda i: abs(_STEPS[i] - part)) for part in color]
    in_cube = 16 + 36 * cube[0] + 6 * cube[1] + cube[2]
    grey = 232 + min(max(round((sum(color) / 3 - 8) / 10), 0), 23)
    return min((in_cube, grey), key=lambda n: sum((a - b) ** 2 for a, b in zip(rgb_of(n), color, strict=True)))


def number_of(color: ColorValue) -> int:
    return color if isinstance(color, int) and 0 <= color <= 255 else nearest(rgb_of(color))


def _luminance(color: Rgb) -> float:
    return 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]


def _mix(color: Rgb, towards: Rgb, share: float) -> Rgb:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(color, towards, strict=True))
    return (red, green, blue)


class Palette(msgspec.Struct, frozen=True):
    """The codes of every token for one terminal."""

    codes: dict[str, str]
    """token → SGR parameters of the foreground."""
    depth: int = 256
    background_name: Literal["dark", "light"] = "dark"

    @classmethod
    def derive(
        cls,
        *,
        background: ColorValue | None = None,
        foreground: ColorValue | None = None,
        accent: ColorValue | None = None,
        colorful: ColorValue | None = None,
        depth: int = 256,
    ) -> "Palette":
        """Accent lies between foreground and background, colorful is a strong blue; an unknown background counts as
        dark.
        """
        ground = rgb_of(background) if background is not None else None
        ink = rgb_of(foreground) if foreground is not None else None
        if ground is None:
            ground = (255, 255, 255) if ink is not None and _luminance(ink) < 100 else (0, 0, 0)
        light = _luminance(ground) > 127
        if ink is None:
            ink = (0, 0, 0) if light else (255, 255, 255)
        if depth <= 16:
            codes = dict(_SIXTEEN)
        else:
            numbers = {token: pair[light] for token, pair in _TOKENS.items()}
            numbers["accent"] = number_of(accent) if accent is not None else nearest(_mix(ink, ground, 0.42))
            numbers["colorful"] = number_of(colorful) if colorful is not None else (25 if light else 117)
            codes = {token: f"38;5;{number}" for token, number in numbers.items()}
        for alias, token in _ALIASES.items():
            codes[alias] = codes[token]
        return cls(codes, depth, "light" if light else "dark")

    def foreground(self, color: Color) -> str:
        if isinstance(color, str):
            return self.codes.get(color, "")
        return f"38;5;{color}" if self.depth > 16 else ""

    def background(self, color: Color) -> str:
        code = self.foreground(color)
        return "4" + code[1:] if code.startswith("3") else ""

    def sgr(self, style: Style) -> str:
        """The SGR parameters of a style, without the escape around them; empty for plain text."""
        parts = [code for code, on in zip(_ATTRIBUTES, _attributes(style), strict=True) if on]
        if style.color is not None and (code := self.foreground(style.color)):
            parts.append(code)
        if style.background is not None and (code := self.background(style.background)):
            parts.append(code)
        return ";".join(parts)


_ATTRIBUTES = ("1", "2", "3", "4", "9", "7")


def _attributes(style: Style) -> tuple[bool, ...]:
    return (style.bold, style.dim, style.italic, style.underline, style.strike, style.reverse)
