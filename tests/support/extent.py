"""How long a test looks: briefly in `make test`, long in `make soak`, which sets VANTAGE_SOAK to its minutes."""

import os
import random
import time
from collections.abc import Iterator
from typing import TypeVar

Size = TypeVar("Size")
MINUTES = float(os.environ.get("VANTAGE_SOAK") or 0)
_SHARE = 1 / 12
"""The share of a soak's time that one test with rounds may use."""


def extent(short: Size, long: Size) -> Size:
    return long if MINUTES else short


def rounds(short: int, share: float = _SHARE) -> Iterator[int]:
    """Seeds: the same few in a short run, new ones in a long one; `VANTAGE_SEED` is the only one when it is set."""
    if given := os.environ.get("VANTAGE_SEED"):
        yield int(given)
    elif not MINUTES:
        yield from range(short)
    else:
        end = time.monotonic() + MINUTES * 60 * share
        while time.monotonic() < end:
            seed = random.SystemRandom().randrange(1 << 32)
            print(f"VANTAGE_SEED={seed}")  # shown with a failure
            yield seed
