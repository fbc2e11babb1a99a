"""Mouse actions → the bytes that a terminal sends for them, in the protocol and encoding that the program has
chosen.
"""

from collections.abc import Callable, Iterable

from vantage.errors import Conflict, Do, InputError, did_you_mean
from vantage.terminal.engines.values import Modes
from vantage.terminal.screen.frames import cell_of
from vantage.terminal.screen.screen import Screen

_BUTTONS = {"left": 0, "middle": 1, "right": 2}
_WHEEL = {"up": 64, "down": 65, "left": 66, "right": 67}
_MODIFIERS = {"shift": 4, "alt": 8, "ctrl": 16}
_MOTION, _NO_BUTTON = 32, 3
CELL = (8, 16)
"""Pixels of a cell, as the terminal reports to programs that ask."""


def _press(button: int) -> list[tuple[int, bool]]:
    return [(button, True)]


def _release(button: int) -> list[tuple[int, bool]]:
    return [(button, False)]


def _click(button: int) -> list[tuple[int, bool]]:
    return [(button, True), (button, False)]


def _double_click(button: int) -> list[tuple[int, bool]]:
    return _click(button) * 2


def _move(button: int) -> list[tuple[int, bool]]:
    return [(button + _MOTION, True)]


_ACTIONS: dict[str, tuple[Callable[[int], list[tuple[int, bool]]], dict[str, int], tuple[str, ...]]] = {
    "click": (_click, _BUTTONS, ("x10", "normal", "button", "any")),
    "double_click": (_double_click, _BUTTONS, ("x10", "normal", "button", "any")),
    "press": (_press, _BUTTONS, ("x10", "normal", "button", "any")),
    "release": (_release, _BUTTONS, ("normal", "button", "any")),
    "drag": (_move, _BUTTONS, ("button", "any")),
    "move": (_move, {"none": _NO_BUTTON}, ("any",)),
    "wheel": (_press, _WHEEL, ("normal", "button", "any")),
}
"""Action → its events, its allowed buttons (the first is the default), and where it is reported."""


def encode_mouse(
    action: str, row: int, col: int, modes: Modes, *, button: str | None = None, modifiers: Iterable[str] = ()
) -> bytes:
    """`click`, `double_click`, `press`, `release`, `drag`, `move` or `wheel` at a cell, counted from 0."""
    if action.startswith("wheel_") and button is None:
        action, _, button = action.partition("_")
    if action not in _ACTIONS:
        raise InputError(f"the mouse has no action {action!r}", hint=did_you_mean(action, _ACTIONS))
    made_of, buttons, reported = _ACTIONS[action]
    number = buttons.get(button or next(iter(buttons)))
    if number is None:
        raise InputError(f"{action} has no button {button!r}", hint=f"one of {', '.join(buttons)}")
    if modes.mouse not in reported:
        raise Conflict(
            f"the program does not listen to the mouse's {action}" if modes.mouse != "none" else _DEAF,
            hint="look for an option of the program that turns its mouse on",
            do=[Do("keys", "works without it")],
        )
    extra = 0
    for modifier in modifiers:
        if modifier not in _MODIFIERS:
            raise InputError(f"the mouse knows no modifier {modifier!r}", hint=f"one of {', '.join(_MODIFIERS)}")
        extra |= _MODIFIERS[modifier] if modes.mouse != "x10" else 0
    steps = [step for step in made_of(number) if step[1] or modes.mouse != "x10"]
    return b"".join(_ENCODINGS[modes.mouse_encoding](code + extra, row, col, pressed) for code, pressed in steps)


_DEAF = "the program does not listen to the mouse"


def _sgr(code: int, row: int, col: int, pressed: bool) -> bytes:
    return f"\x1b[<{code};{col + 1};{row + 1}{'M' if pressed else 'm'}".encode()


def _sgr_pixels(code: int, row: int, col: int, pressed: bool) -> bytes:
    width, height = CELL
    return _sgr(code, row * height + height // 2, col * width + width // 2, pressed)


def _released(code: int, pressed: bool) -> int:
    """The older encodings do not say which button was released."""
    return code if pressed else code & ~3 | _NO_BUTTON


def _urxvt(code: int, row: int, col: int, pressed: bool) -> bytes:
    return f"\x1b[{_released(code, pressed) + 32};{col + 1};{row + 1}M".encode()


def _utf8(code: int, row: int, col: int, pressed: bool) -> bytes:
    return _three("utf-8", 2014, code, row, col, pressed)


def _x10(code: int, row: int, col: int, pressed: bool) -> bytes:
    return _three("latin-1", 222, code, row, col, pressed)


def _three(encoding: str, most: int, code: int, row: int, col: int, pressed: bool) -> bytes:
    """The first encoding: three characters, each 32 more than its value."""
    if row > most or col > most:
        raise InputError(f"the program's mouse encoding ends at row and column {most}, this is {row}, {col}")
    return ("\x1b[M" + "".join(map(chr, (_released(code, pressed) + 32, col + 33, row + 33)))).encode(encoding)


_ENCODINGS = {"x10": _x10, "utf8": _utf8, "sgr": _sgr, "urxvt": _urxvt, "sgr_pixels": _sgr_pixels}


def find_text(screen: Screen, text: str, nth: int = 0) -> tuple[int, int]:
    """Row and column of a visible text, from the top left; `nth` skips earlier ones."""
    if not text.strip():
        raise InputError("there is no text to look for on the screen")
    places = []
    for row, line in enumerate(screen.lines()):
        index = line.find(text)
        while index >= 0:
            places.append((row, cell_of(line, index)))
            index = line.find(text, index + 1)
    if nth >= len(places):
        seen = f"is seen {len(places)} times" if places else "is not on the screen"
        raise InputError(f"{text!r} {seen}", hint="read the screen and give row and col")
    return places[nth]
