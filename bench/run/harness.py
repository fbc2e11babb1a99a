"""Ours and a peer, each in a process of its own, driven in turn; what came of it, as a line.

The two take turns round by round, so that whatever else the machine does meets both. Medians count; the spread is half
the distance between the quartiles.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".venv-peers/bin/python"
PYTHONS = {"peers.drawing": PEERS, "peers.pexpect_terminal": PEERS}
"""Module → the interpreter that its functions run in; ours for all others."""

QUICK = 3
"""Rounds of a quick run, at most."""
COLUMNS = ("name", "ours", "peer", "ratio", "bar", "")
_WIDTHS = (28, 22, 22, 8, 8, 0)


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
    part: int = 0
    """Which of the numbers that a run gives. Lines of the same two functions are measured together."""
    unit: str = "ms"

    @property
    def group(self) -> str:
        return self.name.partition(":")[0]


class Result(NamedTuple):
    benchmark: Benchmark
    ours: list[float]
    """What each round came to, in the benchmark's unit."""
    peer: list[float]

    @property
    def ratio(self) -> float:
        return self.benchmark.bar.ratio(median(self.ours), median(self.peer))

    @property
    def ok(self) -> bool:
        return self.benchmark.bar.met(self.ratio)

    def line(self) -> str:
        verdict = "ok" if self.ok else "short"
        name, bar, unit = self.benchmark.name, self.benchmark.bar, self.benchmark.unit
        sides = (f"{_number(side)} {unit}" for side in (self.ours, self.peer))
        return columns(name, *sides, f"{self.ratio:.2f}x", str(bar), verdict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.benchmark.name,
            "unit": self.benchmark.unit,
            "ours": median(self.ours),
            "peer": median(self.peer),
            "ratio": self.ratio,
            "bar": str(self.benchmark.bar),
            "ok": self.ok,
            "line": self.line(),
            "ours_rounds": self.ours,
            "peer_rounds": self.peer,
        }


def columns(*cells: str) -> str:
    name, *others = cells
    padded = [f"{cell:>{width}}" for cell, width in zip(others, _WIDTHS[1:], strict=True)]
    return "  ".join([f"{name:<{_WIDTHS[0]}}", *padded]).rstrip()


def _number(rounds: list[float]) -> str:
    middle, around = median(rounds), spread(rounds)
    if middle == int(middle) and around == int(around):  # a count, or a clock
        return f"{middle:.0f} ±{around:.0f}"
    digits = 1 if middle >= 10 else 2 if middle >= 1 else 4
    return f"{middle:.{digits}f} ±{around:.{digits}f}"


def spread(rounds: list[float]) -> float:
    if len(rounds) < 2:
        return 0.0
    low, _, high = quantiles(rounds, n=4, method="inclusive")
    return (high - low) / 2


class _Worker:
    def __init__(self, target: str, corpus: Path) -> None:
        python = PYTHONS.get(target.rpartition(".")[0], Path(sys.executable))
        if not python.exists():
            raise SystemExit(f"bench: {python} is missing: 'make bench' installs what we are compared with")
        self._target = target
        self._process = subprocess.Popen(
            [python, "-m", "bench.run.worker", target, corpus],
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
            self._process.communicate()
            raise SystemExit(f"bench: {self._target} failed (above), exit code {self._process.returncode}")
        return answer

    def run(self) -> list[float]:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return list(map(float, self._answer().split()))

    def close(self) -> None:
        """Its input ends, and it goes; what it has opened, terminals say, it closes first."""
        try:
            self._process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def together(benchmarks: Iterable[Benchmark]) -> Iterator[list[Benchmark]]:
    """Neighbours that are lines of the same run."""
    for _, lines in groupby(benchmarks, lambda one: (one.ours, one.peer, one.rounds)):
        yield list(lines)


def measure(lines: Sequence[Benchmark], corpus: Path, *, quick: bool = False) -> list[Result]:
    """Lines of one run (`together`), each with what every round came to."""
    first = lines[0]
    count = min(first.rounds, QUICK) if quick else first.rounds
    workers: list[_Worker] = []
    try:
        for target in (first.ours, first.peer):
            workers.append(_Worker(target, corpus))  # noqa: PERF401 -- a second that fails must not lose the first
        if count > 1:
            for worker in workers:
                worker.run()  # the first time is for warming up
        rounds = [[worker.run() for worker in workers] for _ in range(count)]
    finally:
        for worker in workers:
            worker.close()
    return [_result(line, rounds) for line in lines]


def _result(line: Benchmark, rounds: list[list[list[float]]]) -> Result:
    ours, peer = (
        [numbers[line.part] / units for numbers in side]
        for side, units in zip(zip(*rounds, strict=True), line.units, strict=True)
    )
    return Result(line, ours, peer)
