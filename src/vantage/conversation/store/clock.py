"""The time of day as every log has it."""

import time


def now_ms() -> int:
    """The time of day in milliseconds since the epoch."""
    return round(time.time() * 1000)
