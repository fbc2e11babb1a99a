"""Control sequences of the pyte engine that pyte does not know, or does in another way, as one table."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyte import modes
from pyte.screens import Margins

from vantage.terminal.engines._pyte_grid import BLANK_CELL

if TYPE_CHECKING:
    from vantage.terminal.engines.pyte import PyteEngine


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


_Handler = Callable[["PyteEngine", list[int]], None]


def _first(numbers: list[int], default: int = 1) -> int:
    return (numbers[0] if numbers else 0) or default


def _modes(on: bool) -> _Handler:
    def switch(engine: "PyteEngine", numbers: list[int]) -> None:
        for mode in numbers:
            engine.switch(mode, on)

    return switch


def _plain_modes(on: bool) -> _Handler:
    def switch(engine: "PyteEngine", numbers: list[int]) -> None:
        for mode in numbers:
            engine.switch_plain(mode, on)

    return switch


def _erase_scrollback(engine: "PyteEngine", numbers: list[int]) -> None:
    how = numbers[0] if numbers else 0
    if how == 3:
        if not engine.alt_screen():
            engine.forget()
    else:
        engine.grid.erase_in_display(how)


def _repeat(engine: "PyteEngine", numbers: list[int]) -> None:
    if engine.last:
        engine.grid.draw(engine.last * min(_first(numbers), engine.cols * engine.rows))


def _set_shape(engine: "PyteEngine", numbers: list[int]) -> None:
    engine.shape = numbers[0] if numbers else 0


def _margins(engine: "PyteEngine", numbers: list[int]) -> None:
    top, bottom = [*numbers, 0, 0][:2]
    grid = engine.grid
    bottom = min(bottom or engine.rows, engine.rows)
    top = max(top, 1)
    if top < bottom:
        whole = (top, bottom) == (1, engine.rows)
        grid.margins = None if whole else Margins(top - 1, bottom - 1)
        grid.cursor_position()


def _tab_back(engine: "PyteEngine", numbers: list[int]) -> None:
    grid = engine.grid
    for _ in range(min(_first(numbers), engine.cols)):
        grid.cursor.x = max((stop for stop in grid.tabstops if stop < grid.cursor.x), default=0)


def _tab(engine: "PyteEngine", numbers: list[int]) -> None:
    for _ in range(min(_first(numbers), engine.cols)):
        engine.grid.tab()


def _soft_reset(engine: "PyteEngine", _: list[int]) -> None:
    grid = engine.grid
    grid.mode = {modes.DECAWM, modes.DECTCEM}
    grid.cursor.hidden = False
    grid.margins = None
    grid.cursor.attrs = BLANK_CELL
    grid.savepoints.clear()
    engine.on.difference_update({1, 66})
    grid.charset = 0


SEQUENCES: dict[tuple[str, str, str], _Handler] = {
    ("?", "", "h"): _modes(True),
    ("?", "", "l"): _modes(False),
    ("", "", "h"): _plain_modes(True),
    ("", "", "l"): _plain_modes(False),
    ("", "", "J"): _erase_scrollback,
    ("?", "", "J"): lambda engine, numbers: engine.grid.erase_in_display(_first(numbers, 0)),
    ("?", "", "K"): lambda engine, numbers: engine.grid.erase_in_line(_first(numbers, 0)),
    ("", "", "b"): _repeat,
    ("", "", "r"): _margins,
    ("", "", "S"): lambda engine, numbers: engine.grid.scroll(_first(numbers)),
    ("", "", "T"): lambda engine, numbers: engine.grid.scroll(-_first(numbers)) if len(numbers) < 2 else None,
    ("", "", "Z"): _tab_back,
    ("", "", "I"): _tab,
    ("", "", "s"): lambda engine, _: engine.escape("7"),
    ("", "", "u"): lambda engine, _: engine.escape("8"),
    ("", " ", "q"): _set_shape,
    ("", "!", "p"): _soft_reset,
    ("", "", "c"): lambda engine, _: engine.answers.device(""),
    (">", "", "c"): lambda engine, _: engine.answers.device(">"),
    ("=", "", "c"): lambda engine, _: engine.answers.device("="),
    ("", "", "n"): lambda engine, numbers: engine.answers.status(_first(numbers, 0), ""),
    ("?", "", "n"): lambda engine, numbers: engine.answers.status(_first(numbers, 0), "?"),
    ("?", "$", "p"): lambda engine, numbers: engine.answers.mode(_first(numbers, 0), "?"),
    ("", "$", "p"): lambda engine, numbers: engine.answers.mode(_first(numbers, 0), ""),
    (">", "", "q"): lambda engine, _: engine.answers.version(),
    ("", "", "t"): lambda engine, numbers: engine.answers.size(_first(numbers, 0)),
    ("?", "", "u"): lambda engine, _: engine.answers.keyboard(),
    (">", "", "u"): lambda engine, numbers: engine.answers.push_keyboard(_first(numbers, 0)),
    ("<", "", "u"): lambda engine, numbers: engine.answers.pop_keyboard(_first(numbers)),
    ("=", "", "u"): lambda engine, numbers: engine.answers.set_keyboard(*[*numbers, 0, 1][:2]),
    (">", "", "m"): lambda engine, numbers: engine.answers.modify_keys(numbers),
}
"""Prefix, intermediate and final bytes → what is done. What is in neither this table nor pyte's does nothing."""
