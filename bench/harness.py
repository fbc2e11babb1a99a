"""Ours and a peer, each in a process of its own, driven in turn; what came of it, as a line.

The two take turns round by round, so that whatever else the machine does meets both. Medians count; the spread is half
the distance between the quartiles.
"""

import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
PYTHONS = {
    "ours": Path(sys.executable),
    "screens": Path(sys.executable),
    "terminals": Path(sys.executable),
    "peers": ROOT / ".venv-peers/bin/python",
    "expecting": ROOT / ".venv-peers/bin/python",
}
"""Module → the interpreter that its functions run in."""

COLUMNS = ("name", "ours ms", "peer ms", "ratio", "bar", "")
_WIDTHS = (28, 18, 18, 8, 8, 0)


class Bar(NamedTuple):
    """What a ratio is held against."""

    direction: str
    """`>=`: the ratio says how many times faster we are; `<=`: how many times the peer's cost ours is."""
    value: float

    def __str__(self) -> str:
        return f"{self.direction} {self.value:g}x"

    def ratio(self, ours: float, peer: float) -> float:
        return peer / ours if self.direction == ">=" else ours / peer

    def met(self, ratio: float) -> bool:
        return ratio >= self.value if self.direction == ">=" else ratio <= self.value


def at_least(value: float) -> Bar:
    return Bar(">=", value)


def at_most(value: float) -> Bar:
    return Bar("<=", value)


class Benchmark(NamedTuple):
    name: str
    """What it is called by; where one name has several lines, `name:line`."""
    ours: str
    """`module.function` of what is measured."""
    peer: str
    """And of what it is measured against, which may be ours too."""
    bar: Bar
    rounds: int = 9
    units: tuple[int, int] = (1, 1)
    """What each side's time is divided by, to give the time of one chunk, say."""


class Result(NamedTuple):
    benchmark: Benchmark
    ours: list[float]
    """Milliseconds of each round."""
    peer: list[float]

    @property
    def ratio(self) -> float:
        return self.benchmark.bar.ratio(median(self.ours), median(self.peer))

    @property
    def ok(self) -> bool:
        return self.benchmark.bar.met(self.ratio)

    def line(self) -> str:
        verdict = "ok" if self.ok else "short"
        bar = self.benchmark.bar
        return columns(self.benchmark.name, _time(self.ours), _time(self.peer), f"{self.ratio:.2f}x", str(bar), verdict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.benchmark.name,
            "ours_ms": median(self.ours),
            "peer_ms": median(self.peer),
            "ratio": self.ratio,
            "bar": str(self.benchmark.bar),
            "ok": self.ok,
            "ours_rounds_ms": self.ours,
            "peer_rounds_ms": self.peer,
        }


def columns(*cells: str) -> str:
    name, *others = cells
    padded = [f"{cell:>{width}}" for cell, width in zip(others, _WIDTHS[1:], strict=True)]
    return "  ".join([f"{name:<{_WIDTHS[0]}}", *padded]).rstrip()


def _time(rounds: list[float]) -> str:
    middle = median(rounds)
    digits = 1 if middle >= 10 else 2 if middle >= 1 else 4
    return f"{middle:.{digits}f} ±{spread(rounds):.{digits}f}"


def spread(rounds: list[float]) -> float:
    if len(rounds) < 2:
        return 0.0
    low, _, high = quantiles(rounds, n=4, method="inclusive")
    return (high - low) / 2


class _Worker:
    def __init__(self, target: str, corpus: Path) -> None:
        python = PYTHONS[target.partition(".")[0]]
        if not python.exists():
            raise SystemExit(f"bench: {python} is missing: 'make bench' installs what we are compared with")
        self._target = target
        self._process = subprocess.Popen(
            [python, "-m", "bench.worker", target, corpus],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"bench: {self._target} failed (above), exit code {self._process.wait()}")
        return answer

    def run(self) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._answer())

    def close(self) -> None:
        """Its input ends, and it goes; what it has opened, terminals say, it closes first."""
        try:
            self._process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def measure(benchmark: Benchmark, corpus: Path, *, quick: bool = False) -> Result:
    workers: list[_Worker] = []
    try:
        for target in (benchmark.ours, benchmark.peer):
            workers.append(_Worker(target, corpus))  # noqa: PERF401 -- a second that fails must not lose the first
        for worker in workers:
            worker.run()  # the first time is for warming up
        rounds = [[worker.run() for worker in workers] for _ in range(3 if quick else benchmark.rounds)]
    finally:
        for worker in workers:
            worker.close()
    ours, peer = (
        [time / units for time in side] for side, units in zip(zip(*rounds, strict=True), benchmark.units, strict=True)
    )
    return Result(benchmark, ours, peer)
