"""A terminal's recording as a film: frames with the changed rows, blocks with their times, bounded in size."""

from collections.abc import Callable

import msgspec

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.export.recording import Beat, Progress, Recording, started
from vantage.terminal.engines.values import Cursor, Run
from vantage.terminal.journal import Record
from vantage.terminal.output.blocks import Block
from vantage.terminal.screen.frames import Deltas, RowText, ScreenDelta
from vantage.terminal.screen.screen import Screen

PER_SECOND = 10
MAX_FRAMES = 20_000
MAX_WEIGHT = 16 << 20
"""Characters of all rows, and eight for each time a frame shows one."""
MAX_BLOCKS = 5000
_PER_CHANGE = 8


class Line(msgspec.Struct, frozen=True):
    """A row that occurred once or many times, in any place."""

    text: str
    runs: tuple[Run, ...] = ()


class Frame(msgspec.Struct):
    """The changes `at` ms after the start: rows, and everything else."""

    at: int
    rows: dict[int, int]
    """Place → the number of the row in the film."""
    cursor: Cursor
    title: str
    alt_screen: bool
    cols: int
    rows_count: int


class TimedBlock(msgspec.Struct):
    block: Block
    begin: int
    end: int | None = None


class Happening(msgspec.Struct, frozen=True):
    at: int
    text: str


class Film(msgspec.Struct):
    start: int
    """Milliseconds since the epoch."""
    duration: int
    rows: list[Line]
    frames: list[Frame]
    blocks: list[TimedBlock]
    events: list[Happening]
    notes: list[str]
    """How the recording differs from what was seen, in words for the viewer."""


def film_of(
    folder: ConversationFolder,
    progress: Progress = lambda _done, _all: None,
    *,
    most_frames: int = MAX_FRAMES,
    most_weight: int = MAX_WEIGHT,
) -> Film:
    recording = Recording(folder)
    try:
        beats = started(recording.beats(progress), recording)
        camera = _Camera(recording, most_frames, most_weight)
        for beat in beats:
            camera.see(beat)
        return camera.film()
    finally:
        recording.close()


class _Camera:
    def __init__(self, recording: Recording, most_frames: int, most_weight: int) -> None:
        self._recording = recording
        self._most_frames = most_frames
        self._most_weight = most_weight
        self._start = self._drawn = recording.ms
        """`drawn` is when the screen last got output."""
        self._interval = 1000 // PER_SECOND
        self._waiting = False
        """Something was drawn that is in no frame yet."""
        self._coalesced = False
        self._lines: dict[Line, int] = {}
        self._weight = 0
        self._frames: list[Frame] = []
        self._blocks: dict[str, TimedBlock] = {}
        self._left_out = 0
        self._events: list[Happening] = []
        self._deltas = self._fresh_deltas()
        self._keep(self._whole())
        if recording.terminal.state.block is not None:
            block = recording.terminal.state.block
            self._blocks[block.block_id] = TimedBlock(block, 0)

    def see(self, beat: Beat) -> None:
        if beat.step is None:
            self._until(beat.ms - 1)
            self._waiting = self._deltas.due_at() is not None
            return
        _ = self._screen  # a terminal draws when its screen is read
        record = beat.record
        if record is None or record.t in ("shell", "size"):
            self._coalesced |= self._waiting and beat.ms > self._drawn
            self._drawn = beat.ms
        at = beat.ms - self._start
        for block in beat.step.begun:
            self._take(beat.ms, force=True)
            if len(self._blocks) < MAX_BLOCKS:
                self._blocks[block.block_id] = TimedBlock(block, at)
            else:
                self._left_out += 1
        for block in beat.step.ended:
            if block.block_id in self._blocks:
                self._blocks[block.block_id].end = at
        if record is not None and record.t in _HAPPENINGS:
            self._events.append(Happening(at, _HAPPENINGS[record.t](record)))
        if record is None:
            self._until(beat.ms)
        self._waiting = self._deltas.due_at() is not None

    def film(self) -> Film:
        end = max(self._recording.ms, self._drawn)
        self._take(max(self._drawn, self._start + self._frames[-1].at), force=True)
        return Film(
            start=self._start,
            duration=max(end - self._start, self._frames[-1].at),
            rows=list(self._lines),
            frames=self._frames,
            blocks=list(self._blocks.values()),
            events=self._events,
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        notes = []
        if self._recording.dropped:
            notes.append(f"The first {self._recording.dropped:,} bytes of output were dropped to save room.")
        if self._coalesced:
            often = f"{1000 / self._interval:.3g} frames a second are" if self._interval <= 500 else ""
            often = often or f"one frame in {self._interval / 1000:g} seconds is"
            notes.append(f"At most {often} kept; faster changes are shown as what they led to.")
        if self._left_out:
            notes.append(f"The last {self._left_out:,} commands are not in the list.")
        return notes

    # frames

    @property
    def _screen(self) -> Screen:
        screen = self._recording.terminal.screen
        assert screen is not None
        return screen

    def _fresh_deltas(self) -> Deltas:
        return Deltas(self._screen, per_second=1000 / self._interval, styled=True)

    def _until(self, now: int) -> None:
        """Emits the frames that are due up to a time, before anything else happens."""
        while (due := self._deltas.due_at()) is not None and due <= now:
            when = max(due, self._drawn)
            if not self._take(when) and self._deltas.due_at() == due:
                return

    def _take(self, when: int, *, force: bool = False) -> bool:
        delta = self._deltas.take(when, force=force)
        if delta is None:
            return False
        self._keep(self._frame(when, delta))
        if len(self._frames) > self._most_frames or self._weight > self._most_weight:
            self._thin()
        return True

    def _whole(self) -> Frame:
        snapshot = self._deltas.snapshot(self._start)
        runs = snapshot.runs or ()
        rows = tuple(RowText(row, text, runs[row]) for row, text in enumerate(snapshot.rows))
        return Frame(
            0, self._numbers(rows), snapshot.cursor, snapshot.title, snapshot.alt_screen, snapshot.cols,
            snapshot.rows_count,
        )  # fmt: skip

    def _frame(self, when: int, delta: ScreenDelta) -> Frame:
        return Frame(
            when - self._start, self._numbers(delta.rows), delta.cursor, delta.title, delta.alt_screen, delta.cols,
            delta.rows_count,
        )  # fmt: skip

    def _numbers(self, rows: tuple[RowText, ...]) -> dict[int, int]:
        found = {}
        for row in rows:
            line = Line(row.text, row.runs or ())
            if line not in self._lines:
                self._lines[line] = len(self._lines)
                self._weight += len(line.text) + _PER_CHANGE * len(line.runs)
            found[row.row] = self._lines[line]
        self._weight += _PER_CHANGE * len(rows)
        return found

    def _keep(self, frame: Frame) -> None:
        if self._frames and self._frames[-1].at == frame.at:
            frame = _merged(self._frames.pop(), frame)
        self._frames.append(frame)

    def _thin(self) -> None:
        """Merges every two frames into one, and doubles the interval between later frames."""
        first, *rest = self._frames
        merged = [_merged(*rest[n : n + 2]) for n in range(0, len(rest), 2)]
        self._frames = [first, *merged]
        self._interval *= 2
        self._coalesced = True
        lines = list(self._lines)
        self._lines, self._weight = {}, 0
        for frame in self._frames:
            for row, index in frame.rows.items():
                line = lines[index]
                if line not in self._lines:
                    self._lines[line] = len(self._lines)
                    self._weight += len(line.text) + _PER_CHANGE * len(line.runs)
                frame.rows[row] = self._lines[line]
            self._weight += _PER_CHANGE * len(frame.rows)
        self._deltas = self._fresh_deltas()


def _merged(earlier: Frame, later: Frame | None = None) -> Frame:
    """Both changes at the time of the later one, so that nothing is shown too early."""
    if later is None:
        return earlier
    if (earlier.cols, earlier.rows_count) == (later.cols, later.rows_count):
        later.rows = earlier.rows | later.rows
    return later


def _ended(record: Record) -> str:
    if record.status is None:
        return f"The shell was ended by signal {record.signal}." if record.signal else "The shell ended."
    return f"The shell ended with status {record.status}."


_HAPPENINGS: dict[str, Callable[[Record], str]] = {
    "exit": _ended,
    "lost": lambda _: "The shell was lost.",
    "reset": lambda _: "The terminal was reset.",
}
