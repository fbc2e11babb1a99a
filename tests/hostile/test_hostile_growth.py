"""The cost of an input grows in proportion to its size: no few kilobytes take seconds."""

import pytest

from extent import extent, rounds
from growth import grows_too_fast, repeated
from hunting import SHARE, Target
from mutator import Mutator
from targets import TARGETS

WORKING = [target for target in TARGETS.values() if target.work]
GREW = [
    pytest.param(target, data, id=f"{target.name} {name}")
    for target in WORKING
    for name, data in target.kept().items()
    if name.startswith("found/grows-")
]
"""What once grew too fast."""
UNITS = extent(4, 30)
"""Of one seed."""
SMALL, LARGE = 512, 2048


def units(target: Target, seed: int) -> list[bytes]:
    """Tokens, and pieces that are made of them."""
    made = Mutator(target.tokens, target.tokens, seed, 60).inputs(UNITS)
    return [unit for unit in [*target.tokens[seed % 7 :: 7][: UNITS // 2], *made] if unit][:UNITS]


@pytest.mark.parametrize("target", WORKING, ids=lambda target: target.name)
def test_the_cost_of_a_repeated_input_grows_with_it(target):
    for seed in rounds(1, SHARE / 2):
        tried = units(target, seed)
        found = [words for unit in tried if (words := grows_too_fast(target.work, unit, extent(SMALL, LARGE)))]
        assert not found, "\n".join(found)


@pytest.mark.parametrize(("target", "unit"), GREW)
def test_what_once_grew_too_fast(target, unit):
    assert not grows_too_fast(target.work, unit, LARGE)


def test_what_grows_too_fast_is_seen():
    """A function that looks at every pair is reported; its steps are counted, because times vary with the machine."""

    def steps(work, data: bytes) -> float:
        return work(data) / 100_000

    assert "bytes" in grows_too_fast(lambda data: len(data) ** 2, b"x", 160, steps)
    assert not grows_too_fast(len, b"x", 1 << 20, steps)
    assert len(repeated(b"ab", 512)) >= 512
