"""Operations that pyte does correctly: tables from controls, escapes and control sequences to a grid's own methods."""

from collections.abc import Callable

from vantage.terminal.engines.pyte.grid import Grid

CONTROLS: dict[str, Callable[[Grid], None]] = {
    "\x08": Grid.backspace,
    "\t": Grid.tab,
    "\n": Grid.linefeed,
    "\x0b": Grid.linefeed,
    "\x0c": Grid.linefeed,
    "\r": Grid.carriage_return,
}
ESCAPES: dict[str, Callable[[Grid], None]] = {
    "D": Grid.index,
    "M": Grid.reverse_index,
    "H": Grid.set_tab_stop,
}
SEQUENCES: dict[str, Callable[..., None]] = {
    "@": Grid.insert_characters,
    "A": Grid.cursor_up,
    "B": Grid.cursor_down,
    "C": Grid.cursor_forward,
    "D": Grid.cursor_back,
    "E": Grid.cursor_down1,
    "F": Grid.cursor_up1,
    "G": Grid.cursor_to_column,
    "H": Grid.cursor_position,
    "K": Grid.erase_in_line,
    "L": Grid.insert_lines,
    "M": Grid.delete_lines,
    "P": Grid.delete_characters,
    "X": Grid.erase_characters,
    "a": Grid.cursor_forward,
    "d": Grid.cursor_to_line,
    "e": Grid.cursor_down,
    "f": Grid.cursor_position,
    "g": Grid.clear_tab_stop,
    "m": Grid.select_graphic_rendition,
    "'": Grid.cursor_to_column,
}
"""Control sequences by their final byte, without prefix and intermediate bytes."""
