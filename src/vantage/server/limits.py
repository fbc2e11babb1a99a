"""How often somebody may ask: a bucket for each address, that fills with time. Time is an argument."""

import math

_MOST_PEERS = 1000


class Bucket:
    """Lets `rate` through each second, and a burst of `size` before that. A rate of 0 lets everything through."""

    def __init__(self, rate: float, size: float) -> None:
        self._rate = rate
        self._size = size
        self._left: dict[str, tuple[float, float]] = {}
        """Peer → how much it may still do, and when that was so."""

    def take(self, peer: str, now: float) -> int:
        """0, or the seconds after which to come again."""
        if not self._rate:
            return 0
        left, then = self._left.get(peer, (self._size, now))
        left = min(self._size, left + (now - then) * self._rate)
        if left < 1:
            return math.ceil((1 - left) / self._rate)
        if peer not in self._left and len(self._left) >= _MOST_PEERS:
            self._forget(now)
        self._left[peer] = (left - 1, now)
        return 0

    def _forget(self, now: float) -> None:
        """Those whose bucket is full again; everybody, where that is nobody."""
        full = [peer for peer, (left, then) in self._left.items() if left + (now - then) * self._rate >= self._size]
        for peer in full or list(self._left):
            del self._left[peer]
