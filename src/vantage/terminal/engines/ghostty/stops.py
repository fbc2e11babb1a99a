"""Executes the sequences that need more than the library does with them (`sequences.STOP`)."""

import re
from collections.abc import Callable
from typing import ClassVar

from vantage.terminal.engines.ghostty.history import HistoryTap
from vantage.terminal.engines.ghostty.native import Mailbox
from vantage.terminal.engines.ghostty.rows import RowReader
from vantage.terminal.engines.ghostty.sequences import ALTERNATE, CAN, SAVES, STOP, Action, action_of, modes_of
from vantage.terminal.engines.ghostty.snapshot import waits_before_the_end
from vantage.terminal.engines.ghostty.terminal import VtTerminal
from vantage.terminal.engines.ghostty.writing import FORGET_HISTORY, Writer

_SHOWN_COLUMNS = b"\x1b[?6;69l\x1b[r\x1b[2J\x1b[H"
# Insert mode off, wrapping and cursor on, ordinary keys, no margins, plain text that can be erased, ASCII; and with all
# that in the upper left corner, the cursor is saved.
_SOFT_RESET = b'\x1b[4l\x1b[?7;25h\x1b[?1;69l\x1b>\x1b[r\x1b[m\x1b[0"q\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b7'


class Stops:
    """One method per `Action`. Each is called when everything before the last byte of its sequence was written."""

    def __init__(self, vt: VtTerminal, mailbox: Mailbox, rows: RowReader, history: HistoryTap, writer: Writer) -> None:
        self._vt, self._mailbox, self._rows, self._history, self._writer = vt, mailbox, rows, history, writer
        self.allows_columns = False
        """Mode 40: the program may use DECCOLM (mode 3). The library is not told: it would change its size."""

    def run(self, stop: "re.Match[bytes]", before: bytes) -> None:
        """Writes everything before the last byte of a sequence, and does what that byte asks for."""
        self._writer.write(before)
        action = action_of(stop)
        if action is Action.ASK:
            stop = STOP.match(self._vt.unfinished() + stop[0][-1:]) or stop
            action = action_of(stop)
        self._ACTIONS.get(action, Stops._finish)(self, stop)

    def _finish(self, stop: "re.Match[bytes]") -> None:
        self._writer.write(stop[0][-1:])

    def _start_over(self, stop: "re.Match[bytes]") -> None:
        """RIS."""
        self._writer.collect()
        self._finish(stop)
        self._history.erased()
        self.allows_columns = False

    def _erase_history(self, stop: "re.Match[bytes]") -> None:
        """ED 3 erases the history: its lines are counted before."""
        self._writer.collect()
        self._finish(stop)
        if not self._vt.alt_screen():
            self._history.erased()

    def _scroll_away(self, stop: "re.Match[bytes]") -> None:
        """ED 22 would give the alternate screen a history, which a taller screen would show again."""
        self._finish(stop)
        if self._vt.alt_screen() and self._history.rows():
            self._vt.write(FORGET_HISTORY)
            self._rows.forget()

    def _hide(self, stop: "re.Match[bytes]") -> None:
        """The alternate screen hides the main one's history: its rows are taken before."""
        self._writer.collect()
        if not SAVES.isdisjoint(modes_of(stop["body"])):
            self._save_cursor(stop)
        else:
            self._finish(stop)

    def _save_cursor(self, stop: "re.Match[bytes]") -> None:
        """Saves a cursor that waits to wrap without that state, because the library's snapshots lose it.

        Such a cursor is behind a right margin, or was moved by a tab backwards.
        """
        if not waits_before_the_end(self._vt, self._mailbox.cols):
            self._finish(stop)
            return
        row, col = self._vt.position()
        origin = self._vt.is_set(6)
        self._vt.set_mode(6, False)  # the position counts from the corner of the screen
        self._writer.write(CAN + b"\x1b[%d;%dH" % (row + 1, col + 1))
        self._vt.set_mode(6, origin)
        self._writer.write(b"\x1b" + (stop["escape"] or b"[" + stop["body"] + stop["final"]))

    def _switch_columns(self, stop: "re.Match[bytes]") -> None:
        """Executes DECCOLM, and mode 40 that allows it, mode by mode.

        A program cannot change the size. As in a terminal that already has the columns, DECCOLM erases the screen.
        """
        write = self._writer.write
        write(CAN)
        on = stop["final"] == b"h"
        for mode in modes_of(stop["body"]):
            if mode == 40:
                self.allows_columns = on
            elif mode != 3:
                if mode in ALTERNATE:
                    self._writer.collect()
                write(b"\x1b[?%d" % mode + stop["final"])
            elif self.allows_columns:
                write(_SHOWN_COLUMNS)

    def _repeat(self, stop: "re.Match[bytes]") -> None:
        """Executes REP, at most once for each cell of the screen: a few bytes must not cause minutes of work."""
        cells = self._mailbox.cols * self._mailbox.rows
        self._writer.write(CAN + b"\x1b[%db" % min(int(stop["body"][:6]), cells))

    def _soft_reset(self, _: "re.Match[bytes]") -> None:
        """DECSTR, which the library does not know. The cursor stays where it is."""
        row, col = self._vt.position()
        self._vt.set_mode(6, False)  # a sequence would move the cursor home
        self._writer.write(CAN + _SOFT_RESET + b"\x1b[%d;%dH" % (row + 1, col + 1))

    def _answer_position(self, _: "re.Match[bytes]") -> None:
        """Answers DECXCPR, which the library does not: it sends the form that the library knows, and converts the
        answer.
        """
        replies = self._mailbox.replies
        before = len(replies)
        self._writer.write(CAN + b"\x1b[6n")
        if bytes(replies[before : before + 2]) == b"\x1b[":
            replies[before + 2 : before + 2] = b"?"

    _ACTIONS: ClassVar[dict[Action | None, Callable[["Stops", "re.Match[bytes]"], None]]] = {
        Action.START_OVER: _start_over,
        Action.ERASE_HISTORY: _erase_history,
        Action.SCROLL_AWAY: _scroll_away,
        Action.HIDE: _hide,
        Action.SWITCH_COLUMNS: _switch_columns,
        Action.SOFT_RESET: _soft_reset,
        Action.REPEAT: _repeat,
        Action.SAVE_CURSOR: _save_cursor,
        Action.ANSWER_POSITION: _answer_position,
    }
