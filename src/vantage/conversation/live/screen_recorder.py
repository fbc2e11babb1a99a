"""Keeps what a live terminal shows in files: deltas as they come, and the last whole screen.

`screen.jsonl` is for followers: its first record, and the first one after a start, have every row, so deltas applied in
order to any earlier record give the later ones. `screen.snapshot.json` is for a single look.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from vantage.conversation.store.clock import now_ms
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.files.disk_errors import damaged
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.conversation.store.files.writing import write_atomically
from vantage.conversation.store.screen_log import ScreenLog
from vantage.errors import Unavailable, VantageError
from vantage.terminal.core import TerminalCore
from vantage.terminal.screen.frames import Deltas, RowText, ScreenDelta, ScreenSnapshot

SNAPSHOT_MS = 250
SETTLE_S = 0.02
"""Seconds between a change and its delta, because more of the change may follow."""
RETRY_S = 1.0


class ScreenRecorder:
    """Records the screen of one terminal, throttled."""

    def __init__(
        self,
        folder: ConversationFolder,
        conversation_id: str,
        publish: Callable[[ScreenDelta, int], None],
        files: OpenFiles | None = None,
        *,
        failed: Callable[[Exception], None],
    ) -> None:
        """`failed` is told when the terminal's screen cannot be looked at."""
        self._folder = folder
        self._files = files
        self._id = conversation_id
        self._publish = publish
        self._failed = failed
        self._log: ScreenLog | None = None
        self._terminal: TerminalCore | None = None
        self._deltas: Deltas | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._snapshot_due = 0
        self._first = 0

    @property
    def count(self) -> int:
        """The number of the last record."""
        return self._records().count

    def follow(self, terminal: TerminalCore) -> None:
        """Records this terminal from now on. It is followed from its first change."""
        self._terminal = terminal
        self._deltas = None

    def changed(self, *, prompt: bool) -> None:
        """The terminal was fed. A prompt forces a snapshot."""
        if prompt:
            self._snapshot_due = 0
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause(), self._draw)

    def _pause(self) -> float:
        due = self._deltas.due_at() if self._deltas is not None else None
        return max((due - _steady_ms()) / 1000 if due else 0.0, SETTLE_S)

    def _draw(self) -> None:
        self._timer = None
        try:
            self.flush()
        except (Unavailable, OSError):  # a full disk. Followers miss this delta: the next one has every row
            self._deltas = None
            self._timer = asyncio.get_running_loop().call_later(RETRY_S, self._draw)
            return
        if self._deltas is not None and self._deltas.due_at() is not None:
            self._timer = asyncio.get_running_loop().call_later(self._pause(), self._draw)

    def flush(self, *, force: bool = False) -> None:
        """Takes a delta, if one is due. Raises Unavailable when there is no room, or no screen to look at."""
        try:
            self._flush(force=force)
        except (VantageError, OSError):
            raise
        except Exception as error:  # whatever error the emulator raised
            self._deltas = None
            self._failed(error)
            raise Unavailable("the screen could not be read", hint="it is drawn anew: try again in a moment") from error

    def _flush(self, *, force: bool) -> None:
        terminal = self._terminal
        if terminal is None or terminal.screen is None:
            return
        now, ts = _steady_ms(), now_ms()
        block = terminal.state.block
        block_id = block.block_id if block else None
        first = self._deltas is None
        if self._deltas is None:
            self._deltas = Deltas(terminal.screen, conversation_id=self._id, styled=True)
            snapshot = self._deltas.snapshot(ts, raw_offset=terminal.raw, block_id=block_id)
            delta: ScreenDelta | None = _whole(snapshot, self._id)
        else:
            delta = self._deltas.take(now, raw_offset=terminal.raw, block_id=block_id, force=force)
            delta = delta and msgspec.structs.replace(delta, ts=ts)
        if delta is None:
            return
        records = self._records()
        kept, whole = delta, first or records.wants_whole
        if whole and not first:
            kept = _whole(self._deltas.snapshot(ts, raw_offset=terminal.raw, block_id=block_id), self._id)
        number = records.append(msgspec.json.encode(_plain(kept)), whole=whole)
        if first:
            self._first = number
        self._publish(delta, number)
        if now >= self._snapshot_due:
            self._snapshot_due = now + SNAPSHOT_MS
            self._write_snapshot(ts, terminal.raw, block_id)

    def _write_snapshot(self, ts: int, raw_offset: int, block_id: str | None) -> None:
        if self._deltas is not None:
            snapshot = self._deltas.snapshot(ts, raw_offset=raw_offset, block_id=block_id)
            plain = msgspec.structs.replace(snapshot, runs=None)
            write_atomically(self._folder.screen_snapshot, msgspec.json.encode(plain))

    def _records(self) -> ScreenLog:
        if self._log is None:
            try:
                self._log = ScreenLog(self._folder.screen_log, self._files)
            except OSError as error:
                raise damaged(self._folder.screen_log, error) from None
        return self._log

    def read(self, cursor: int, limit: int) -> list[dict[str, Any]]:
        """The deltas after a number of records."""
        return self._records().read(cursor, limit)

    def since(self, cursor: int) -> ScreenDelta | None:
        """All changes after a number of records as one delta; None when they are too old to tell."""
        self.flush(force=True)
        if self._deltas is None or not self._first or cursor < self._first:
            return None
        delta = self._deltas.since(cursor - self._first, now_ms())
        return _plain(delta) if delta is not None else None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._log is not None:
            self._log.close()


def _steady_ms() -> int:
    """A clock that does not jump when the time of day is set."""
    return time.monotonic_ns() // 1_000_000


def _whole(snapshot: ScreenSnapshot, conversation_id: str) -> ScreenDelta:
    """A snapshot as a delta that applies to any screen."""
    return snapshot.delta(range(snapshot.rows_count), conversation_id)


def _plain(delta: ScreenDelta) -> ScreenDelta:
    """The delta without styles, which only live subscribers get."""
    return msgspec.structs.replace(delta, rows=tuple(RowText(row.row, row.text) for row in delta.rows))
