"""Executes the parser's operations: on the shown grid, the modes, the answers."""

from pyte import modes as pyte_modes

from vantage.terminal.engines.pyte import operations
from vantage.terminal.engines.pyte.answers import Answers
from vantage.terminal.engines.pyte.grid import Grid
from vantage.terminal.engines.pyte.grids import Grids, restore_cursor, save_cursor
from vantage.terminal.engines.pyte.left_lines import LeftLines
from vantage.terminal.engines.pyte.parsing import Token
from vantage.terminal.engines.pyte.sequences import SEQUENCES, numbers_of

_SCREEN_MODES = {47, 1047, 1049}
_GRID_MODES = {6: pyte_modes.DECOM, 7: pyte_modes.DECAWM, 25: pyte_modes.DECTCEM}
_PLAIN_MODES = {4: pyte_modes.IRM, 20: pyte_modes.LNM}
_CHARSETS = {"(": "0", ")": "1"}


class Interpreter:
    """The state that operations change. A sequence that neither `SEQUENCES` nor pyte knows does nothing."""

    def __init__(self, cols: int, rows: int) -> None:
        self.cols, self.rows = cols, rows
        self.left = LeftLines()
        self.grids = Grids(cols, rows, self.left.add)
        self.answers: Answers = Answers(self)
        self.on: set[int] = set()
        """Private modes that are on, except those of the grid."""
        self.bell = False
        self.title = self.cwd = ""
        self.shape = 0
        """The cursor's shape, with DECSCUSR's number."""
        self.last = ""
        """The character that REP repeats."""

    @property
    def grid(self) -> Grid:
        return self.grids.shown

    def alt_screen(self) -> bool:
        return self.grids.shown is self.grids.alternate

    def is_set(self, mode: int) -> bool:
        return _GRID_MODES[mode] in self.grid.mode if mode in _GRID_MODES else mode in self.on

    def resize(self, cols: int, rows: int) -> None:
        self.grids.fit(cols, rows)
        self.cols, self.rows = cols, rows

    def run(self, token: Token) -> None:
        match token.lastgroup:
            case "text":
                self.grids.shown.draw(token["text"])
                self.last = token["text"][-1]
            case "control":
                self._control(token["control"])
            case "final":
                self._sequence(token["params"], token["final"])
            case "set":
                self._designate(token["between"], token["set"])
            case "escape":
                self.escape(token["escape"])

    def _control(self, char: str) -> None:
        if char == "\x07":
            self.bell = True
        elif char in "\x0e\x0f":
            self.grid.charset = int(char == "\x0e")
        elif char in operations.CONTROLS:
            operations.CONTROLS[char](self.grid)

    def _designate(self, between: str, final: str) -> None:
        if between == "#" and final == "8":
            self.grid.alignment_display()
        elif between in _CHARSETS:
            self.grid.define_charset("0" if final == "0" else "B", between)

    def escape(self, char: str) -> None:
        grid = self.grid
        if char == "c":
            self._reset()
        elif char in "=>":
            self.switch(66, char == "=")
        elif char == "E":
            grid.carriage_return()
            grid.index()
        elif char == "Z":
            self.answers.device("")
        elif char == "7":
            save_cursor(grid)
        elif char == "8":
            restore_cursor(grid)
        elif char in operations.ESCAPES:
            operations.ESCAPES[char](grid)

    def _reset(self) -> None:
        """RIS."""
        self.grids.reset()
        self.on.clear()
        self.answers.reset()
        self.title = self.cwd = self.last = ""
        self.shape = 0
        self.left.erase()

    def _sequence(self, params: str, final: str) -> None:
        controls = [char for char in params if char < " "]
        for char in controls:  # controls are executed at once, in the middle of the sequence
            self._control(char)
        body = "".join(char for char in params if char >= " ")
        prefix = body[:1] if body[:1] in "<=>?" else ""
        body = body[len(prefix) :]
        parameters = body.rstrip(" !\"#$%&'()*+,-./")
        between = body[len(parameters) :]
        try:
            numbers = numbers_of(parameters, final)
        except ValueError:
            return
        handler = SEQUENCES.get((prefix, between, final))
        if handler:
            handler(self, numbers)
        elif not prefix and not between and final in operations.SEQUENCES:
            limit = max(self.cols, self.rows)
            if final != "m":
                numbers = [min(number, limit) for number in numbers]
            try:
                operations.SEQUENCES[final](self.grid, *numbers)
            except (TypeError, UnboundLocalError, AssertionError):  # more parameters than the function knows, or others
                return

    def switch(self, mode: int, on: bool) -> None:
        """DECSET and DECRST."""
        grid = self.grid
        if mode in _SCREEN_MODES:
            self.grids.show(mode, on)
        elif mode in _GRID_MODES:
            (grid.set_mode if on else grid.reset_mode)(_GRID_MODES[mode] >> 5, private=True)
        elif mode == 1048:
            self.escape("7" if on else "8")
        elif mode == 3 and 40 in self.on:
            self._erase_for_columns()
        if mode == 5 and (5 in self.on) != on:
            grid.dirty.update(range(self.rows))
        (self.on.add if on else self.on.discard)(mode)

    def _erase_for_columns(self) -> None:
        """DECCOLM. A program cannot change the size; as in a terminal that already has it, the screen is erased."""
        grid = self.grid
        grid.reset_mode(6, private=True)
        grid.margins = None
        grid.erase_in_display(2)
        grid.cursor_position()

    def switch_plain(self, mode: int, on: bool) -> None:
        """SM and RM."""
        if mode in _PLAIN_MODES:
            (self.grid.set_mode if on else self.grid.reset_mode)(_PLAIN_MODES[mode])
