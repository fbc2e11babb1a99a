"""A terminal as an asciicast (version 3), which asciinema and its web player show.

A header, then a line for each event: seconds since the previous event, its code, its data. The output in it is what our
own screen was fed, so it gives the same screens.
"""

import json
from collections.abc import Iterator

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.export.recording import Beat, Printed, Progress, Recording, started
from vantage.export.screen.ansi import repaint
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.text.sanitize import one_line

MAX_MARKER = 200
IDLE_LIMIT = 2
"""Players shorten longer silences to this many seconds. The events keep the true times."""


def asciicast(folder: ConversationFolder, progress: Progress = lambda _done, _all: None) -> Iterator[str]:
    """The lines of the file, each with its end."""
    recording = Recording(folder)
    try:
        yield from _Writer(folder, recording).lines(progress)
    finally:
        recording.close()


class _Writer:
    def __init__(self, folder: ConversationFolder, recording: Recording) -> None:
        self._settings = folder.read_settings()
        self._recording = recording
        self._last = 0
        """When the last event was, in ms since the epoch."""
        self._printed: list[str] = []
        """The output of one millisecond, as one event."""
        self._at = 0
        self._size = (0, 0)
        self._ended: tuple[int, str] | None = None
        """An exit is the last event of a cast: it is written only when no output follows it."""

    def lines(self, progress: Progress) -> Iterator[str]:
        recording = self._recording
        beats = started(recording.beats(progress), recording)
        opening = self._opening()
        self._last, self._size = recording.ms, (opening.cols, opening.rows_count)
        yield self._header(opening)
        if recording.dropped:
            yield self._event(recording.ms, "m", f"{recording.dropped:,} bytes of output before this were dropped")
            yield self._event(recording.ms, "o", repaint(opening))
        printed = Printed(recording.terminal.state)
        for beat in beats:
            yield from self._beat(beat, printed)
        yield from self._flush()
        if self._ended is not None:
            yield self._event(self._ended[0], "x", self._ended[1])

    def _opening(self) -> ScreenSnapshot:
        """The first screen. The recording draws no other one from here on."""
        terminal = self._recording.terminal
        assert terminal.screen is not None
        with terminal.screen as screen:
            terminal.screen = None
            return ScreenSnapshot.of(screen, self._recording.ms, styled=True)

    def _header(self, opening: ScreenSnapshot) -> str:
        settings = self._settings
        header = {
            "version": 3,
            "term": {"cols": opening.cols, "rows": opening.rows_count, "type": "xterm-256color"},
            "timestamp": opening.ts // 1000,
            "idle_time_limit": IDLE_LIMIT,
            "title": one_line(settings.name) or settings.id,
            "env": {"SHELL": settings.shell},
        }
        return json.dumps(header, ensure_ascii=False) + "\n"

    def _beat(self, beat: Beat, printed: Printed) -> Iterator[str]:
        if beat.step is None:
            return
        if self._ended is not None and (beat.record is None or beat.record.t in ("shell", "exec")):
            yield from self._flush()
            yield self._event(self._ended[0], "m", f"the shell ended ({self._ended[1]}), a fresh one follows")
            self._ended = None
        if beat.ms != self._at:
            yield from self._flush()
            self._at = beat.ms
        for block in beat.step.begun:
            yield from self._flush()
            yield self._event(beat.ms, "m", marker(block.cmd))
        if text := printed.of(beat):
            self._printed.append(text)
        state = self._recording.terminal.state
        if beat.record is not None and (state.cols, state.rows) != self._size:
            yield from self._flush()
            self._size = (state.cols, state.rows)
            yield self._event(beat.ms, "r", f"{state.cols}x{state.rows}")
        if beat.record is not None and beat.record.t == "exit":
            yield from self._flush()
            status = beat.record.status
            self._ended = (beat.ms, str(128 + (beat.record.signal or 0) if status is None else status))
        elif beat.record is not None and beat.record.t == "lost":
            yield from self._flush()
            yield self._event(beat.ms, "m", "the shell was lost")

    def _flush(self) -> Iterator[str]:
        if self._printed:
            text, self._printed = "".join(self._printed), []
            yield self._event(self._at, "o", text)

    def _event(self, ms: int, code: str, data: str) -> str:
        interval, self._last = (ms - self._last) / 1000, ms
        return json.dumps([interval, code, data], ensure_ascii=False) + "\n"


def marker(command: str) -> str:
    """A command in one short line."""
    line = one_line(command.strip().replace("\n", " ⏎ "))
    return line if len(line) <= MAX_MARKER else line[: MAX_MARKER - 1] + "…"
