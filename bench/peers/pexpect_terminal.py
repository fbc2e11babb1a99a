"""What people use instead of an agent's terminal: pexpect."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.data.corpus import flood_file
from bench.run.answers import Milliseconds

TICKS = 200
TICKING = Path(__file__).parents[1] / "tick.py"


def wait_tick(_corpus: Path) -> Callable[[], object]:
    """From when a program prints a line to when `expect` of it returns."""
    import pexpect  # in the peers' environment only

    def run() -> Milliseconds:
        late = []
        child = pexpect.spawn(sys.executable, [str(TICKING), str(TICKS)])
        for number in range(TICKS):
            child.expect(f"tick {number} at ([0-9]+)\r\n")
            now = time.monotonic_ns()
            late.append(now - int(child.match[1]))
        child.expect(pexpect.EOF)
        child.close()
        return Milliseconds(median(late) / 1e6)

    return run


def cat_through(corpus: Path) -> Callable[[], object]:
    """A log of 200 MB printed to the end, kept in a file as we keep it."""
    import pexpect

    path = flood_file(corpus)

    def run() -> Milliseconds:
        start = time.perf_counter()
        with (corpus / "pexpect.log").open("wb") as kept:
            child = pexpect.spawn("cat", [str(path)], maxread=65536, searchwindowsize=100, timeout=600)
            child.logfile_read = kept
            child.expect(pexpect.EOF)
            child.close()
        return Milliseconds((time.perf_counter() - start) * 1000)

    return run
