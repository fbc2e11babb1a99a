"""Both engines on the same cases. What pyte cannot do is named in its table, and must not silently work."""

from unicodedata import normalize

import pytest

from term_cases import cases, unescape
from vantage.terminal.engines.pyte import LIMITS
from vantage.terminal.frames import ScreenSnapshot
from vantage.terminal.screen import Screen

CASES = cases()


def run(case, engine, pieces=lambda data: [data]):
    screen = Screen(*case.size, engine=engine)
    for step in case.steps:
        if isinstance(step, bytes):
            for piece in pieces(step):
                screen.feed(piece)
        else:
            screen.resize(*step)
    return screen


def runs(row):
    return ", ".join(
        " ".join(
            [f"{run.start}+{run.len}"]
            + [f"{name}={value}" for name in ("fg", "bg", "link") if (value := getattr(run, name)) is not None]
            + list(run.attrs)
        )
        for row_run in [row.runs]
        for run in row_run
    )


def seen(screen, case):
    """The same facts of a screen as the case has them."""
    facts = {}
    for name in case.facts:
        if name == "title":
            facts[name] = screen.title
        elif name == "cwd":
            facts[name] = screen.cwd
        elif name == "reply":
            facts[name] = screen.take_replies()
        elif name == "alt":
            facts[name] = "yes" if screen.alt_screen else "no"
        elif name == "scrollback":
            facts[name] = "|".join(screen.scrollback().lines)
        else:
            facts[name] = runs(screen.row(int(name.split()[1])))
    shown = ScreenSnapshot.of(screen, 0).text(trimmed=False, cursor=True)
    return normalize("NFC", shown).split("\n"), facts


def expected(case):
    return case.screen, {name: unescape(fact) if name == "reply" else fact for name, fact in case.facts.items()}


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
