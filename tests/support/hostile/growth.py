"""What an input costs, by how it grows: eight times the input may not cost much more than eight times the work.

Processor time of this process is compared with itself, the least of several tries, so that a busy machine is not taken
for a slow program; and what costs next to nothing even when it is large is not looked at.
"""

import time
from collections.abc import Callable

FACTOR = 8
MOST = FACTOR**1.6
"""Linear is 8, sorted is 10, quadratic is 64."""
_CHEAP = 0.02
"""Seconds that are not worth a second look."""
_ATTEMPTS = 4


def repeated(unit: bytes, size: int) -> bytes:
    return unit * (size // len(unit) + 1)


def cost(work: Callable[[bytes], object], data: bytes) -> float:
    began = time.process_time()
    work(data)
    return time.process_time() - began


def grows_too_fast(
    work: Callable[[bytes], object],
    unit: bytes,
    size: int,
    cost: Callable[[Callable[[bytes], object], bytes], float] = cost,
) -> str:
    """Returns "", or how the cost grew at two sizes; the least of several tries counts."""
    said = []
    for small in (size, 2 * size):
        less, more = repeated(unit, small), repeated(unit, FACTOR * small)
        lows, highs = [], []
        for _ in range(_ATTEMPTS):
            lows.append(cost(work, less))
            highs.append(cost(work, more))
            if min(highs) < max(_CHEAP, MOST * min(lows)):
                return ""
        said.append(f"{len(less)} bytes {min(lows):.4f} s, {len(more)} bytes {min(highs):.4f} s")
    return f"{unit!r} repeated: {'; '.join(said)}"
