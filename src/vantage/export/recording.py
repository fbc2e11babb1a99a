"""A terminal's recording as a list of timed beats, read from its two files. For players of all kinds.

A `Recording` derives the terminal anew, so blocks and screens are what they were. Our marks never reach a screen, and
the shell's secret is covered wherever it was printed. Times never go back, even if the clock did.
"""

import codecs
import re
from collections.abc import Callable, Iterator

import msgspec

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.replay import (
    checkpoint_places,
    dropped_bytes,
    engine_of,
    journal_records,
    read_checkpoint,
    read_screen,
)
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.errors import NotFound
from vantage.terminal.core import TerminalCore
from vantage.terminal.journal import Record
from vantage.terminal.output.marks import ANY_MARK, Mark, Marks
from vantage.terminal.screen.drawing import FRESH_SHELL
from vantage.terminal.screen.screen import Screen
from vantage.terminal.state import DEFAULT_COLS, DEFAULT_ROWS, State, Step

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""
_PIECE = 1 << 16
# A mark is fed by itself: the output before a command begins and the output of the command are two beats.
_MARK = re.compile(b"(" + ANY_MARK.pattern + b")")


# From the last ESC on: a control sequence, a string with its end, or an escape sequence that begins no string.
_WHOLE_SEQUENCE = re.compile(r"$|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[ -/]*[0-OQ-WYZ\\`-~])")


class Beat(msgspec.Struct, frozen=True):
    """Something that happened `ms` after the epoch. Without `step`, only time has passed."""

    ms: int
    step: Step | None = None
    record: Record | None = None
    """The journal's record; None if the terminal printed `data`."""
    data: bytes = b""


class Recording:
    """A terminal at the first moment that is still known. `beats` replays the rest."""

    def __init__(self, folder: ConversationFolder) -> None:
        self._folder = folder
        self._engine = engine_of(folder)
        self.dropped = dropped_bytes(folder)
        """Bytes at the beginning of the output that are gone."""
        self.terminal, self._journal_at = self._opening()
        self.ms = self.terminal.state.now

    def _opening(self) -> tuple[TerminalCore, int]:
        if not self.dropped:
            return TerminalCore(screen=Screen(DEFAULT_COLS, DEFAULT_ROWS, engine=self._engine)), 0
        for place in reversed(checkpoint_places(self._folder)):
            checkpoint = read_checkpoint(self._folder, place) if place >= self.dropped else None
            if checkpoint is not None:
                state = checkpoint.state
                blank = Screen(state.cols or DEFAULT_COLS, state.rows or DEFAULT_ROWS, engine=self._engine)
                screen = read_screen(self._folder, place, engine=self._engine)
                return TerminalCore(state, screen or blank), checkpoint.journal
        return TerminalCore(State(raw=self.dropped), Screen(DEFAULT_COLS, DEFAULT_ROWS, engine=self._engine)), 0

    def beats(self, progress: Progress = lambda _done, _all: None) -> Iterator[Beat]:
        # The length of the output is read first: the journal then has everything that gives it meaning.
        raw, journal = GrowingFile(self._folder.raw), GrowingFile(self._folder.journal)
        try:
            end = raw.size
            for record, _ in journal_records(journal, self._journal_at):
                if record.at > end:
                    break
                yield from self._output(raw, record.at)
                progress(self.terminal.raw, end)
                if record.ts > self.ms:
                    self.ms = record.ts
                    yield Beat(self.ms)
                yield Beat(self.ms, self.terminal.record(record), record)
            yield from self._output(raw, end)
            progress(end, end)
        finally:
            raw.close()
            journal.close()

    def _output(self, raw: GrowingFile, end: int) -> Iterator[Beat]:
        while self.terminal.raw < end:
            data = raw.read(self.terminal.raw, min(self.terminal.raw + _PIECE, end))
            if not data:
                return
            for piece in filter(None, _MARK.split(data)):
                yield Beat(self.ms, self.terminal.feed(piece), data=piece)

    def close(self) -> None:
        if self.terminal.screen is not None:
            self.terminal.screen.close()


def started(beats: Iterator[Beat], recording: Recording) -> Iterator[Beat]:
    """Skips the beat with which the terminal began, if it is still known; raises when there never was one."""
    if not recording.dropped:
        for beat in beats:
            if beat.record is not None and beat.record.t == "shell":
                return beats
        raise NotFound("its terminal was never used", hint="run a command in it first")
    return beats


class Printed:
    """The output as text, as screens are fed it: without our marks, no character cut in two.

    A mark of ours ends an open sequence or character before it.
    """

    def __init__(self, state: State) -> None:
        self._marks = Marks(state.secret, state.raw, state.held, state.spelled)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open = ""
        """A sequence that has begun and not ended."""

    def of(self, beat: Beat) -> str:
        """The output of a beat."""
        if beat.record is None:
            return "".join(map(self._text, self._marks.split(beat.data))).replace("\0", "")
        if beat.record.t not in ("shell", "exit", "lost"):
            return ""
        held = self._text(self._marks.release()) + self._end()
        if beat.record.t == "shell":
            self._marks.secret = beat.record.secret
            held += FRESH_SHELL.decode()  # the progress is not reported for the first one
        return held

    def _text(self, piece: bytes | Mark) -> str:
        if isinstance(piece, Mark):
            return self._end()
        text = self._decoder.decode(piece)
        escape = text.rfind("\x1b")
        last = text[escape:] if escape >= 0 else self._open + text if self._open else ""
        self._open = "" if _WHOLE_SEQUENCE.match(last) else last
        return text

    def _end(self) -> str:
        end = self._decoder.decode(b"", final=True) + ("\x1b\\" if self._open else "")
        self._open = ""
        return end
