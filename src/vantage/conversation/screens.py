"""What a live terminal shows, kept in files: deltas as they come, and the last whole screen.

`screen.jsonl` is for those who follow: its first record after a start has every row, so deltas applied in order to any
earlier record give the later ones. `screen.snapshot.json` is for those who look once.
"""

import asyncio
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec

from vantage.conversation.files import ConversationFolder, Log, write_atomically
from vantage.errors import Unavailable
from vantage.terminal.core import Terminal
from vantage.terminal.frames import Deltas, RowText, ScreenDelta, ScreenSnapshot

SNAPSHOT_MS = 250
SETTLE_S = 0.02
"""A change is not drawn on the spot: more of it may be on its way."""


def now_ms() -> int:
    return round(time.time() * 1000)


class ScreenKeeper:
    """Writes down the screen of one terminal, at most so often as anybody could look."""

    def __init__(
        self, folder: ConversationFolder, conversation_id: str, publish: Callable[[ScreenDelta], None]
    ) -> None:
        self._folder = folder
        self._id = conversation_id
        self._publish = publish
        self._log: Log | None = None
        self.count = 0
        """Records in the log."""
        self._terminal: Terminal | None = None
        self._deltas: Deltas | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._snapshot_due = 0
        self._first = 0

    def follow(self, terminal: Terminal) -> None:
        """From now on this terminal is the one. It is followed from its first change on."""
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
        return max((due - now_ms()) / 1000 if due else 0.0, SETTLE_S)

    def _draw(self) -> None:
        self._timer = None
        try:
            self.flush()
        except Unavailable:
            return  # a full disk: the next change tries again
        if self._deltas is not None and self._deltas.due_at() is not None:
            self._timer = asyncio.get_running_loop().call_later(self._pause(), self._draw)

    def flush(self, *, force: bool = False) -> None:
        """Takes a delta, if one is due."""
        terminal = self._terminal
        if terminal is None or terminal.screen is None:
            return
        now = now_ms()
        block = terminal.state.block
        block_id = block.block_id if block else None
        if self._deltas is None:
            self._deltas = Deltas(terminal.screen, conversation_id=self._id)
            snapshot = self._deltas.snapshot(now, raw_offset=terminal.raw, block_id=block_id)
            delta: ScreenDelta | None = _whole(snapshot, self._id)
        else:
            delta = self._deltas.take(now, raw_offset=terminal.raw, block_id=block_id, force=force)
        if delta is None:
            return
        self._records().append(msgspec.json.encode(delta) + b"\n")
        self.count += 1
        if self._first == 0:
            self._first = self.count
        self._publish(delta)
        if now >= self._snapshot_due:
            self._snapshot_due = now + SNAPSHOT_MS
            self._write_snapshot(now, terminal.raw, block_id)

    def _write_snapshot(self, now: int, raw_offset: int, block_id: str | None) -> None:
        if self._deltas is not None:
            snapshot = self._deltas.snapshot(now, raw_offset=raw_offset, block_id=block_id)
            write_atomically(self._folder.screen_snapshot, msgspec.json.encode(snapshot))

    def _records(self) -> Log:
        if self._log is None:
            self._log = Log(self._folder.screen_log)
            self.count = sum(1 for _ in self._log.lines())
        return self._log

    def read(self, cursor: int, limit: int) -> list[dict[str, Any]]:
        """Deltas behind a number of records."""
        return [msgspec.json.decode(line) for line in islice(self._records().from_line(cursor + 1), limit)]

    def since(self, cursor: int) -> ScreenDelta | None:
        """All that changed behind a number of records, as one delta; None when it is too long ago to tell."""
        self.flush(force=True)
        if self._deltas is None or not self._first or cursor < self._first:
            return None
        return self._deltas.since(cursor - self._first, now_ms())

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._log is not None:
            self._log.close()


def _whole(snapshot: ScreenSnapshot, conversation_id: str) -> ScreenDelta:
    """A snapshot as a delta from anything."""
    return ScreenDelta(
        conversation_id=conversation_id,
        rows=tuple(RowText(number, text) for number, text in enumerate(snapshot.rows)),
        cursor=snapshot.cursor,
        title=snapshot.title,
        alt_screen=snapshot.alt_screen,
        cols=snapshot.cols,
        rows_count=snapshot.rows_count,
        raw_offset=snapshot.raw_offset,
        block_id=snapshot.block_id,
        ts=snapshot.ts,
    )
