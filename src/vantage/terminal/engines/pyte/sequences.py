"""A table of the control sequences that pyte does not know, or executes differently."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyte import modes
from pyte.screens import Margins

from vantage.terminal.engines.pyte.cells import BLANK_CELL

if TYPE_CHECKING:
    from vantage.terminal.engines.pyte.interpreter import Interpreter


def numbers_of(parameters: str, final: str) -> list[int]:
    """`1;2` as numbers, and for colours also the form with colons: `38:2::1:2:3`, `4:3`."""
    if ":" in parameters:
        if final != "m":
            raise ValueError(parameters)
        parameters = ";".join(_sgr_group(group) for group in parameters.split(";"))
    if not parameters:
        return []
    return [min(int(part[:6]), 65535) if part else 0 for part in parameters.split(";")[:32]]


def _sgr_group(group: str) -> str:
    parts = group.split(":")
    if parts[0] in {"38", "48", "58"} and len(parts) > 2 and parts[1] == "2":
        return ";".join([parts[0], "2", *(parts[3:6] if len(parts) > 5 else parts[2:5])])
    if parts[0] == "4" and len(parts) > 1:
        return {"0": "24", "2": "-2", "3": "-3", "4": "-4", "5": "-5"}.get(parts[1], "4")
    return ";".join(parts)


_Handler = Callable[["Interpreter", list[int]], None]


def _first(numbers: list[int], default: int = 1) -> int:
    return (numbers[0] if numbers else 0) or default


def _modes(on: bool) -> _Handler:
    def switch(terminal: "Interpreter", numbers: list[int]) -> None:
        for mode in numbers:
            terminal.switch(mode, on)

    return switch


def _plain_modes(on: bool) -> _Handler:
    def switch(terminal: "Interpreter", numbers: list[int]) -> None:
        for mode in numbers:
            terminal.switch_plain(mode, on)

    return switch


def _erase_scrollback(terminal: "Interpreter", numbers: list[int]) -> None:
    how = numbers[0] if numbers else 0
    if how == 3:
        if not terminal.alt_screen():
            terminal.left.erase()
    else:
        terminal.grid.erase_in_display(how)


def _repeat(terminal: "Interpreter", numbers: list[int]) -> None:
    if terminal.last:
        terminal.grid.draw(terminal.last * min(_first(numbers), terminal.cols * terminal.rows))


def _set_shape(terminal: "Interpreter", numbers: list[int]) -> None:
    terminal.shape = numbers[0] if numbers else 0


def _margins(terminal: "Interpreter", numbers: list[int]) -> None:
    top, bottom = [*numbers, 0, 0][:2]
    grid = terminal.grid
    bottom = min(bottom or terminal.rows, terminal.rows)
    top = max(top, 1)
    if top < bottom:
        whole = (top, bottom) == (1, terminal.rows)
        grid.margins = None if whole else Margins(top - 1, bottom - 1)
        grid.cursor_position()


def _tab_back(terminal: "Interpreter", numbers: list[int]) -> None:
    grid = terminal.grid
    for _ in range(min(_first(numbers), terminal.cols)):
        grid.cursor.x = max((stop for stop in grid.tabstops if stop < grid.cursor.x), default=0)


def _tab(terminal: "Interpreter", numbers: list[int]) -> None:
    for _ in range(min(_first(numbers), terminal.cols)):
        terminal.grid.tab()


def _soft_reset(terminal: "Interpreter", _: list[int]) -> None:
    grid = terminal.grid
    grid.mode = {modes.DECAWM, modes.DECTCEM}
    grid.cursor.hidden = False
    grid.margins = None
    grid.cursor.attrs = BLANK_CELL
    grid.savepoints.clear()
    grid.cursor.x = min(grid.cursor.x, grid.columns - 1)
    terminal.on.difference_update({1, 66})
    grid.charset = 0


SEQUENCES: dict[tuple[str, str, str], _Handler] = {
    ("?", "", "h"): _modes(True),
    ("?", "", "l"): _modes(False),
    ("", "", "h"): _plain_modes(True),
    ("", "", "l"): _plain_modes(False),
    ("", "", "J"): _erase_scrollback,
    ("?", "", "J"): lambda terminal, numbers: terminal.grid.erase_in_display(_first(numbers, 0)),
    ("?", "", "K"): lambda terminal, numbers: terminal.grid.erase_in_line(_first(numbers, 0)),
    ("", "", "b"): _repeat,
    ("", "", "r"): _margins,
    ("", "", "S"): lambda terminal, numbers: terminal.grid.scroll(_first(numbers)),
    ("", "", "T"): lambda terminal, numbers: terminal.grid.scroll(-_first(numbers)) if len(numbers) < 2 else None,
    ("", "", "Z"): _tab_back,
    ("", "", "I"): _tab,
    ("", "", "s"): lambda terminal, _: terminal.escape("7"),
    ("", "", "u"): lambda terminal, _: terminal.escape("8"),
    ("", " ", "q"): _set_shape,
    ("", "!", "p"): _soft_reset,
    ("", "", "c"): lambda terminal, _: terminal.answers.device(""),
    (">", "", "c"): lambda terminal, _: terminal.answers.device(">"),
    ("=", "", "c"): lambda terminal, _: terminal.answers.device("="),
    ("", "", "n"): lambda terminal, numbers: terminal.answers.status(_first(numbers, 0), ""),
    ("?", "", "n"): lambda terminal, numbers: terminal.answers.status(_first(numbers, 0), "?"),
    ("?", "$", "p"): lambda terminal, numbers: terminal.answers.mode(_first(numbers, 0), "?"),
    ("", "$", "p"): lambda terminal, numbers: terminal.answers.mode(_first(numbers, 0), ""),
    (">", "", "q"): lambda terminal, _: terminal.answers.version(),
    ("", "", "t"): lambda terminal, numbers: terminal.answers.size(_first(numbers, 0)),
    ("?", "", "u"): lambda terminal, _: terminal.answers.keyboard_flags(),
    (">", "", "u"): lambda terminal, numbers: terminal.answers.keyboard.push(_first(numbers, 0)),
    ("<", "", "u"): lambda terminal, numbers: terminal.answers.keyboard.pop(_first(numbers)),
    ("=", "", "u"): lambda terminal, numbers: terminal.answers.keyboard.set(*[*numbers, 0, 1][:2]),
    (">", "", "m"): lambda terminal, numbers: terminal.answers.keyboard.modify_keys(numbers),
}
"""Prefix, intermediate and final bytes → the function. A sequence in neither this table nor pyte's does nothing."""
