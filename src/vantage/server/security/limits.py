"""Rate limits: a token bucket for each address. Time is an argument."""

import math

_MAX_PEERS = 1000


class Bucket:
    """Allows `rate` calls a second, and a burst of `size`. A rate of 0 allows everything."""

    def __init__(self, rate: float, size: float) -> None:
        self._rate = rate
        self._size = size
        self._left: dict[str, tuple[float, float]] = {}
        """Peer → the calls it had left, and when."""

    def take(self, peer: str, now: float) -> int:
        """0 when the call is allowed, else the seconds to wait."""
        if not self._rate:
            return 0
        left, then = self._left.get(peer, (self._size, now))
        left = min(self._size, left + (now - then) * self._rate)
        if left < 1:
            return math.ceil((1 - left) / self._rate)
        if peer not in self._left and len(self._left) >= _MAX_PEERS:
            self._forget(now)
        self._left[peer] = (left - 1, now)
        return 0

    def _forget(self, now: float) -> None:
        """Drops the peers whose bucket is full again; all peers, where no bucket is full."""
        full = [peer for peer, (left, then) in self._left.items() if left + (now - then) * self._rate >= self._size]
        for peer in full or list(self._left):
            del self._left[peer]
