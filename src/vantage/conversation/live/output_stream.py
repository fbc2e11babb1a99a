"""Publishes what a running command prints, throttled: the leading and the trailing edge are both delivered.

`spool` says which bytes a piece has. A flood leaves gaps between pieces; a client reads those from the spool.
"""

from collections.abc import Callable

from vantage.conversation.throttle import Throttle
from vantage.errors import Unavailable
from vantage.events import AgentBlockDelta
from vantage.terminal.output.blocks import Block
from vantage.text.chunks import continued, unfinished

INTERVAL_S = 0.05
MOST = 16 * 1024
"""Bytes of one piece."""


class OutputStream:
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
        self._throttle = Throttle(self._tell, interval_s)
        self._block_id = ""
        self._told = self._end = 0
        """The bytes of the block's output that were published, and where the output ends."""

    def printed(self, block: Block, end: int) -> None:
        """The spool has grown while a command runs."""
        self._take(block, end)
        if not self._followed():
            self._told = end
        elif end > self._told:
            self._throttle.request()

    def ended(self, block: Block) -> None:
        """Publishes the rest, before the event that says that the block has ended."""
        self._take(block, block.spool.end)
        if self._end > self._told:
            self._throttle.flush()
        else:
            self._throttle.cancel()

    def _take(self, block: Block, end: int) -> None:
        if block.block_id != self._block_id:
            self.close()
            self._block_id, self._told = block.block_id, block.spool.start
        self._end = end

    def _tell(self) -> None:
        if not self._followed():
            self._told = self._end
            return
        start = max(self._told, self._end - MOST)
        try:
            data = self._read(start, self._end)
        except (OSError, Unavailable):
            return  # no descriptor is left, say: it comes with the next output, and is in the spool
        skipped = 0 if start == self._told else continued(data)
        told = start + len(data) - unfinished(data)
        self._told = told
        text = data[skipped : told - start].decode("utf-8", "replace").replace("\x1e", "")
        if text:
            self._publish(AgentBlockDelta(block_id=self._block_id, text=text, spool=[start + skipped, told]))

    def close(self) -> None:
        self._throttle.cancel()
