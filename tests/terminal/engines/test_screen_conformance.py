"""Both engines on the same cases. What pyte cannot do is named in its table, and must not silently work."""

import pytest

from term_cases import cases, expected, run, seen
from vantage.terminal.engines.pyte import LIMITS

CASES = cases()


@pytest.mark.parametrize("engine", ["ghostty", "pyte"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_conformance(case, engine):
    found = seen(run(case, engine), case)
    if engine == "pyte" and case.needs:
        assert found != expected(case), f"pyte can do this: take {case.needs!r} out of its limits, or the case"
    else:
        assert found == expected(case)


@pytest.mark.parametrize("engine", ["ghostty", "pyte"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_byte_by_byte_is_the_same(case, engine):
    whole = seen(run(case, engine), case)
    assert seen(run(case, engine, lambda data: [data[n : n + 1] for n in range(len(data))]), case) == whole


def test_limits_are_named_by_cases_or_explained():
    assert {case.needs for case in CASES if case.needs} <= set(LIMITS)
    assert all(len(words) > 10 for words in LIMITS.values())
