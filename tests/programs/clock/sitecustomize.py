"""On the path of a program of ours: its time of day is ahead by the seconds that stand in `$VANTAGE_TEST_CLOCK`.

The file is read at every call, so a test can turn the clock while the program runs. Monotonic clocks are not changed.
"""

import os
import time

_seconds, _nanoseconds = time.time, time.time_ns


def _ahead() -> int:
    with open(os.environ["VANTAGE_TEST_CLOCK"], encoding="ascii") as file:  # noqa: PTH123
        return int(file.read())


if "VANTAGE_TEST_CLOCK" in os.environ:
    time.time = lambda: _seconds() + _ahead()
    time.time_ns = lambda: _nanoseconds() + _ahead() * 1_000_000_000
