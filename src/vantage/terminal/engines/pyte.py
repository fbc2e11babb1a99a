"""The engine on pyte: pure Python, for where no wheel of pyghostty exists.

The stream is taken apart here, so that pyte is only handed whole operations: sequences it does not know do nothing,
strings (OSC, DCS, …) never reach it, and what a program sends without end is not collected. The alternate screen is a
second grid. What it cannot do beside ghostty stands in `LIMITS`.
"""

import codecs
import re
from copy import copy
from importlib.metadata import version

import msgspec
from pyte import Stream
from pyte import modes as pyte_modes

from vantage.terminal.engines._pyte_answers import Answers
from vantage.terminal.engines._pyte_grid import BLANK_CELL, Grid, GridState
from vantage.terminal.engines._pyte_sequences import SEQUENCES, numbers_of
from vantage.terminal.engines.values import Cursor, Drained, Modes, Row

LIMITS = {
    "reflow": "a resize cuts rows off instead of wrapping them anew, and does not bring scrolled rows back",
    "margins": "left and right margins (DECLRMM) are not supported",
    "rectangles": "rectangular areas (DECCRA, DECFRA, …) and protected cells (DECSCA) are not supported",
    "charsets": "of the character sets only ASCII and the line drawing set are supported, and only as G0 and G1",
    "double": "lines of double height and width are drawn as ordinary ones",
    "clusters": "clusters (mode 2027) are not measured as one",
    "images": "images (sixel, kitty) are not kept",
}
"""What this engine cannot do, by a short name; the conformance cases name what they need."""

_LONGEST_STRING = 1 << 16
_LONGEST_SEQUENCE = 1 << 12
_STRING_STARTS = "]P_^X"
_IN_SEQUENCE = r"[^\x18\x1a\x1b@-~\x80-\U0010ffff]"
_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    rf"|\x1b\[(?P<params>{_IN_SEQUENCE}*)(?P<final>[@-~])"
    r"|\x1b(?P<string>[\]P_^X])"
    r"|\x1b(?P<between>[ -/]+)(?P<set>[0-~])"
    r"|\x1b(?P<escape>[0-Z\\^-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
)
_UNFINISHED = re.compile(rf"\x1b(?:\[{_IN_SEQUENCE}*|[ -/]*)?\Z")
_BROKEN = re.compile(rf"\x1b(?:\[{_IN_SEQUENCE}*|[ -/]*)?[\x18\x1a]?")
_STRING_END = re.compile(r"[\x07\x18\x1a\x1b]")

_BASIC = {char: name for char, name in Stream.basic.items() if name not in {"shift_in", "shift_out"}}
_ANSWERED = {"report_device_attributes", "report_device_status", "set_mode", "reset_mode", "set_margins"}
_CSI = {final: name for final, name in Stream.csi.items() if name not in _ANSWERED}
_MOUSE = ((1003, "any"), (1002, "button"), (1000, "normal"), (9, "x10"))
_MOUSE_ENCODINGS = ((1016, "sgr_pixels"), (1006, "sgr"), (1015, "urxvt"), (1005, "utf8"))
_SHAPES = {0: "block", 1: "block", 2: "block", 3: "underline", 4: "underline", 5: "bar", 6: "bar"}
_SCREEN_MODES = {47, 1047, 1049}
_GRID_MODES = {6: pyte_modes.DECOM, 7: pyte_modes.DECAWM, 25: pyte_modes.DECTCEM}
_PLAIN_MODES = {4: pyte_modes.IRM, 20: pyte_modes.LNM}
_CHARSETS = {"(": "0", ")": "1"}


class _State(msgspec.Struct, array_like=True):
    main: GridState
    alternate: GridState
    on_alternate: bool
    set: list[int]
    title: str
    cwd: str
    shape: int
    last: str
    pending: str
    decoder: tuple[bytes, int]
    string: tuple[str, str] | None
    answers: bytes


class PyteEngine:
    name = "pyte"
    build = f"pyte {version('pyte')}, 1"

    def __init__(self, cols: int, rows: int, /) -> None:
        self.cols, self.rows = cols, rows
        self._main = Grid(cols, rows, self._left)
        self._alternate = Grid(cols, rows, None)
        self._grid = self._main
        self._gone: list[str] = []
        self._gone_lines = 0
        self._erased = False
        self._skipped = 0
        self.answers: Answers = Answers(self)
        self.on: set[int] = set()
        """Private modes that are on, those of the grid excepted."""
        self._bell = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._start()

    def _start(self) -> None:
        self._title = self._cwd = self.last = self._pending = ""
        self.shape = 0
        self._string: list[str] | None = None
        self._string_length = 0
        self._string_kind = ""

    # Input

    def feed(self, data: bytes) -> None:
        text = self._pending + self._decoder.decode(data)
        self._pending = ""
        position = 0
        while position < len(text):
            if self._string is not None:
                position = self._in_string(text, position)
                continue
            token = _TOKEN.match(text, position)
            if token:
                position = token.end()
                self._do(token)
            elif _UNFINISHED.match(text, position) and len(text) - position < _LONGEST_SEQUENCE:
                self._pending = text[position:]
                return
            else:  # a sequence that something else broke off
                position = _BROKEN.match(text, position).end()  # type: ignore[union-attr]

    def _do(self, token: "re.Match[str]") -> None:
        match token.lastgroup:
            case "text":
                self._grid.draw(token["text"])
                self.last = token["text"][-1]
            case "control":
                self._control(token["control"])
            case "final":
                self._csi(token["params"], token["final"])
            case "string":
                self._string, self._string_length, self._string_kind = [], 0, token["string"]
            case "set":
                self._designate(token["between"], token["set"])
            case "escape":
                self.escape(token["escape"])

    def _control(self, char: str) -> None:
        if char == "\x07":
            self._bell = True
        elif char in "\x0e\x0f":
            self._grid.charset = int(char == "\x0e")
        elif char in _BASIC:
            getattr(self._grid, _BASIC[char])()

    def _designate(self, between: str, final: str) -> None:
        if between == "#" and final == "8":
            self._grid.alignment_display()
        elif between in _CHARSETS:
            self._grid.define_charset("0" if final == "0" else "B", between)

    def escape(self, char: str) -> None:
        if char == "c":
            self._reset()
        elif char in "=>":
            self.switch(66, char == "=")
        elif char == "E":
            self._grid.carriage_return()
            self._grid.index()
        elif char == "Z":
            self.answers.device("")
        elif char == "7":
            self._grid.savepoints.clear()
            self._grid.save_cursor()
        elif char == "8":
            self._restore_cursor(self._grid)
        elif char in Stream.escape:
            getattr(self._grid, Stream.escape[char])()

    @staticmethod
    def _restore_cursor(grid: Grid) -> None:
        """DECRC: what was saved stays saved."""
        saved = grid.savepoints[-1] if grid.savepoints else None
        hidden = grid.cursor.hidden
        grid.restore_cursor()
        if saved:
            grid.savepoints.append(saved)
            grid.cursor = copy(saved.cursor)
            grid.ensure_hbounds()
        else:
            grid.cursor.attrs = BLANK_CELL
        grid.cursor.hidden = hidden

    def _reset(self) -> None:
        pending = self._pending
        self._main.reset()
        self._alternate.reset()
        self._grid = self._main
        self.on.clear()
        self.answers.reset()
        self._start()
        self._pending = pending
        self.forget()

    def forget(self) -> None:
        """ED 3 and RIS erase what has left the screen; lines that nobody has seen use up their numbers."""
        self._skipped += self._gone_lines
        self._gone, self._gone_lines, self._erased = [], 0, True

    # Sequences

    def _csi(self, params: str, final: str) -> None:
        controls = [char for char in params if char < " "]
        for char in controls:  # they are done at once, in the middle of the sequence
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
        elif not prefix and not between and final in _CSI:
            limit = max(self.cols, self.rows)
            if final != "m":
                numbers = [min(number, limit) for number in numbers]
            try:
                getattr(self._grid, _CSI[final])(*numbers)
            except (TypeError, UnboundLocalError, AssertionError):  # more parameters than it knows, or others
                return

    def switch(self, mode: int, on: bool) -> None:
        if mode in _SCREEN_MODES:
            self._show(mode, on)
        elif mode in _GRID_MODES:
            (self._grid.set_mode if on else self._grid.reset_mode)(_GRID_MODES[mode] >> 5, private=True)
        elif mode == 1048:
            self.escape("7" if on else "8")
        if mode == 5 and (5 in self.on) != on:
            self._grid.dirty.update(range(self.rows))
        (self.on.add if on else self.on.discard)(mode)

    def switch_plain(self, mode: int, on: bool) -> None:
        if mode in _PLAIN_MODES:
            (self._grid.set_mode if on else self._grid.reset_mode)(_PLAIN_MODES[mode])

    def _show(self, mode: int, alternate: bool) -> None:
        """Change between the screens; the cursor and the pen go along, 1049 keeps them and clears."""
        target = self._alternate if alternate else self._main
        source = self._grid
        if target is source:
            if mode == 1049 and not alternate:
                self._restore_cursor(self._main)
            return
        if mode == 1049 and alternate:
            source.savepoints.clear()
            source.save_cursor()
        if mode == 1047 and not alternate:
            source.erase_in_display(2)
        target.cursor = copy(source.cursor)
        target.mode, target.margins, target.tabstops = set(source.mode), source.margins, set(source.tabstops)
        target.g0_charset, target.g1_charset, target.charset = source.g0_charset, source.g1_charset, source.charset
        self._grid = target
        if mode == 1049 and alternate:
            target.buffer.clear()
            target.wrapped.clear()
        elif mode == 1049:
            self._restore_cursor(target)
        target.dirty.update(range(self.rows))

    def _in_string(self, text: str, position: int) -> int:
        """Collect a string up to its end; where it went on without end, only its beginning."""
        assert self._string is not None
        end = _STRING_END.search(text, position)
        stop = end.start() if end else len(text)
        room = _LONGEST_STRING - self._string_length
        if room > 0:
            self._string.append(text[position : min(stop, position + room)])
        self._string_length += stop - position
        if not end:
            return stop
        if end[0] == "\x07" and self._string_kind != "]":
            self._string.append("\x07")
            return stop + 1
        if end[0] == "\x1b" and stop + 1 == len(text):
            self._pending = "\x1b"  # the rest of ST is yet to come
            return len(text)
        string, self._string = "".join(self._string), None
        finished = end[0] == "\x07" or text.startswith("\x1b\\", stop)
        if finished and self._string_length <= _LONGEST_STRING:
            self.answers.string(self._string_kind, string, "\x07" if end[0] == "\x07" else "\x1b\\")
        if end[0] == "\x1b":
            return stop + 2 if finished else stop
        return stop + 1

    # For the answers

    def set_title(self, title: str) -> None:
        self._title = title

    def set_cwd(self, cwd: str) -> None:
        self._cwd = cwd

    @property
    def grid(self) -> Grid:
        return self._grid

    def is_set(self, mode: int) -> bool:
        return _GRID_MODES[mode] in self._grid.mode if mode in _GRID_MODES else mode in self.on

    # State

    def resize(self, cols: int, rows: int) -> None:
        for grid in (self._main, self._alternate):
            grid.fit(cols, rows)
        self.cols, self.rows = cols, rows

    def take_replies(self) -> bytes:
        return self.answers.take()

    def take_bell(self) -> bool:
        rung, self._bell = self._bell, False
        return rung

    def cursor(self) -> Cursor:
        cursor = self._grid.cursor
        shape = _SHAPES.get(self.shape, "block")
        return Cursor(cursor.y, min(cursor.x, self.cols - 1), not cursor.hidden, shape)  # type: ignore[arg-type]

    def title(self) -> str:
        return self._title

    def cwd(self) -> str:
        return self._cwd

    def alt_screen(self) -> bool:
        return self._grid is self._alternate

    def synchronized(self) -> bool:
        return 2026 in self.on

    def modes(self) -> Modes:
        on = self.on
        return Modes(
            application_cursor=1 in on,
            application_keypad=66 in on,
            backarrow_sends_backspace=67 in on,
            newline=pyte_modes.LNM in self._grid.mode,
            bracketed_paste=2004 in on,
            focus_events=1004 in on,
            synchronized=2026 in on,
            modify_other_keys=self.answers.modify_other_keys,
            kitty_flags=self.answers.kitty_flags(),
            mouse=next((name for mode, name in _MOUSE if mode in on), "none"),  # type: ignore[misc]
            mouse_encoding=next((name for mode, name in _MOUSE_ENCODINGS if mode in on), "x10"),  # type: ignore[misc]
            reverse_video=5 in on,
        )

    def dirty(self) -> list[tuple[int, Row]]:
        grid = self._grid
        rows = [(y, grid.row(y)) for y in sorted(grid.dirty) if y < self.rows]
        grid.dirty.clear()
        return rows

    # Lines that left the screen

    def _left(self, text: str, wrapped: bool) -> None:
        self._gone.append(text if wrapped else text + "\n")
        self._gone_lines += not wrapped

    def drain(self, *, everything: bool) -> Drained | None:  # noqa: ARG002 -- all is at hand
        if not self._gone and not self._erased:
            return None
        text = "".join(self._gone)
        open_line = bool(text) and not text.endswith("\n")
        drained = Drained(text.removesuffix("\n").encode(), self._gone_lines, open_line, self._erased, self._skipped)
        self._gone, self._gone_lines, self._erased, self._skipped = [], 0, False, 0
        return drained

    def returned(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing to free."""

    # Checkpoints

    def encode(self) -> bytes:
        state = _State(
            self._main.state(),
            self._alternate.state(),
            self.alt_screen(),
            sorted(self.on),
            self._title,
            self._cwd,
            self.shape,
            self.last,
            self._pending,
            self._decoder.getstate(),
            None if self._string is None else (self._string_kind, "".join(self._string)),
            self.answers.encode(),
        )
        return msgspec.msgpack.encode(state)

    @classmethod
    def decode(cls, data: bytes, cols: int, rows: int, /) -> "PyteEngine":
        state = msgspec.msgpack.decode(data, type=_State)
        engine = cls(cols, rows)
        for grid, grid_state in ((engine._main, state.main), (engine._alternate, state.alternate)):
            grid.restore(grid_state)
        engine._grid = engine._alternate if state.on_alternate else engine._main
        engine.on = set(state.set)
        engine._title, engine._cwd, engine.shape, engine.last = state.title, state.cwd, state.shape, state.last
        engine._pending = state.pending
        engine._decoder.setstate(state.decoder)
        if state.string:
            engine._string_kind, text = state.string
            engine._string, engine._string_length = [text], len(text)
        engine.answers.decode(state.answers)
        return engine
