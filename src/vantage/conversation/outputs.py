"""What a running command prints, told to those who watch: at once, then as often as anybody could read.

`spool` says which bytes a piece has; a flood leaves gaps between pieces, which whoever wants them reads from the spool.
"""

import asyncio
from collections.abc import Callable

from vantage.events import AgentBlockDelta
from vantage.terminal.blocks import Block

INTERVAL_S = 0.05
MOST = 16 * 1024
"""Bytes of one piece."""


class OutputTeller:
    def __init__(
        self,
        read: Callable[[int, int], bytes],
        publish: Callable[[AgentBlockDelta], None],
        followed: Callable[[], bool],
        *,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self._read = read
        self._publish = publish
        self._followed = followed
        self._interval_s = interval_s
        self._block_id = ""
        self._told = self._end = 0
        """Up to where the block's output was told, and how far it goes."""
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def printed(self, block: Block, end: int) -> None:
        """The spool has grown while a command runs."""
        self._take(block, end)
        if not self._followed():
            self._told = end
        elif self._timer is None and end > self._told:
            loop = asyncio.get_running_loop()
            if loop.time() >= self._next:
                self._tell()
            else:
                self._timer = loop.call_at(self._next, self._tell)

    def ended(self, block: Block) -> None:
        """The last of it, before anybody hears that it is over."""
        self._take(block, block.spool.end)
        self._tell()

    def _take(self, block: Block, end: int) -> None:
        if block.block_id != self._block_id:
            self.close()
            self._block_id, self._told = block.block_id, block.spool.start
        self._end = end

    def _tell(self) -> None:
        self.close()
        if self._end <= self._told or not self._followed():
            self._told = self._end
            return
        self._next = asyncio.get_running_loop().time() + self._interval_s
        start = max(self._told, self._end - MOST)
        data = self._read(start, self._end)
        skipped = 0 if start == self._told else _continued(data)
        told = start + len(data) - _unfinished(data)
        self._told = told
        text = data[skipped : told - start].decode("utf-8", "replace").replace("\x1e", "")
        if text:
            self._publish(AgentBlockDelta(block_id=self._block_id, text=text, spool=[start + skipped, told]))

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _continued(data: bytes) -> int:
    """Bytes at the beginning that belong to a character before it."""
    return next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)


def _unfinished(data: bytes) -> int:
    """Bytes at the end of a character whose rest is still to come."""
    for back in range(1, min(len(data), 4) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            size = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if size > back else 0
    return 0
