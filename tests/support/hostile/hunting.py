"""A hunt: kept inputs and many made of them are given to a target, and what breaks a law is made small and kept.

`corpus/<target>/` has inputs that differ, `found/<target>/` those that once broke a law: each is tried in every run.
What a hunt finds is written to `build/hostile/<target>/`; mend the code and move it to `found/`. How many inputs were
tried is written beside it, and said at the end of a run.
"""

import json
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from extent import rounds
from mutator import Mutator
from places import ROOT, TESTS

INPUTS = TESTS / "hostile"
BUILD = ROOT / "build" / "hostile"
HANGS = 120
"""Seconds after which an input is said to hang. Nothing takes this long unless it is broken."""
SHARE = 1 / 60
"""Of a soak's time, for one target: there are many."""
_MAX_TRIES = 3000
"""To make one input smaller."""


@dataclass(frozen=True)
class Target:
    """Something that takes bytes of strangers."""

    name: str
    check: Callable[[bytes], None]
    """Raises when a law does not hold."""
    laws: str
    """What must hold, in words."""
    tokens: tuple[bytes, ...] = ()
    """What such input is made of."""
    seeds: Callable[[], Iterable[bytes]] = tuple
    """More inputs to begin with: the fixtures of other tests."""
    most: int = 4096
    """Bytes of an input."""
    work: Callable[[bytes], object] | None = None
    """What is done with an input once, and nothing else: what it costs must grow as the input does."""

    def kept(self) -> dict[str, bytes]:
        """By the names of their files."""
        folders = [INPUTS / "corpus" / self.name, INPUTS / "found" / self.name]
        files = sorted(file for folder in folders if folder.is_dir() for file in folder.iterdir())
        return {f"{file.parent.parent.name}/{file.name}": file.read_bytes() for file in files}


@dataclass
class Hunt:
    """What was tried on a target, and what was found."""

    target: Target
    tried: int = 0
    failures: dict[str, bytes] = field(default_factory=dict)
    """What went wrong and where → the smallest input that shows it."""
    began: float = field(default_factory=time.monotonic)

    def run(self, mutants: int) -> None:
        """Kept inputs first, then `mutants` for every seed. Fails with all that was found."""
        kept = [*self.target.kept().values(), *self.target.seeds()]
        for data in dict.fromkeys(kept):
            self.give(data)
        for seed in rounds(1, SHARE):
            for data in Mutator(kept, self.target.tokens, seed, self.target.most).inputs(mutants):
                self.give(data)
        self.report()
        assert not self.failures, self.words()

    def give(self, data: bytes) -> None:
        self.tried += 1
        failure = self._failure(data)
        if failure and failure not in self.failures:
            self.failures[failure] = smaller(data, lambda less: self._failure(less) == failure)

    def _failure(self, data: bytes) -> str:
        try:
            with _alarm():
                self.target.check(data)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is what we look for
            return where(error)
        return ""

    def words(self) -> str:
        found = [f"{failure}\n    {data[:400]!r}" for failure, data in self.failures.items()]
        return f"{self.target.name}: of {self.tried} inputs some broke {self.target.laws}\n" + "\n".join(found)

    def report(self) -> None:
        folder = BUILD / self.target.name
        folder.mkdir(parents=True, exist_ok=True)
        for failure, data in self.failures.items():
            (folder / blake2b(failure.encode(), digest_size=4).hexdigest()).write_bytes(data)
        said = {
            "target": self.target.name,
            "laws": self.target.laws,
            "tried": self.tried,
            "failures": len(self.failures),
            "seconds": round(time.monotonic() - self.began, 1),
        }
        (BUILD / f"{self.target.name}.json").write_text(json.dumps(said) + "\n")


def where(error: BaseException) -> str:
    """What went wrong and where: the same for two inputs that show the same fault."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/src/vantage/" in frame.filename] or frames
    last = frames[-1]
    places = dict.fromkeys(f"{Path(frame.filename).name}:{frame.lineno}" for frame in (ours[-1], last))
    return f"{type(error).__name__} at {' < '.join(places)}"


def smaller(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """The data with everything left out that is not needed for it to fail, within a number of tries."""
    tries = 0
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data) and tries < _MAX_TRIES:
            tries += 1
            less = data[:at] + data[at + size :]
            if fails(less):
                data = less
            else:
                at += size
        size //= 2
    return data


@contextmanager
def _alarm() -> Iterator[None]:
    """A call that is still busy after `HANGS` hangs."""

    def ring(_number: int, _frame: object) -> None:
        raise TimeoutError(f"still busy after {HANGS} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def reports() -> list[dict]:
    """What the last run of every target said."""
    return [json.loads(file.read_text()) for file in sorted(BUILD.glob("*.json"))]


def table(said: Iterable[dict]) -> str:
    lines = ["target              inputs tried  distinct failures  seconds"]
    lines += [f"{row['target']:<20}{row['tried']:>12,}{row['failures']:>19}{row['seconds']:>9.0f}" for row in said]
    return "\n".join(lines)
