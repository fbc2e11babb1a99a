"""The formatter against its fixtures: every example, character for character, plain and in colour."""

import json

import pytest

from cases import Case, cases
from styled import CONFIG, written_out
from vantage import Formatter, FormatterConfig


def events(case: Case) -> list[dict]:
    patch = json.dumps(case.first("patch"))
    return [json.loads(line.replace('"@patch"', patch)) for line in case.first("json").splitlines()]


def formatted(case: Case, config: FormatterConfig, width: int) -> str:
    formatter = Formatter(config)
    return [formatter.format_event(event, width) for event in events(case)][-1]


CASES = [(case, fence) for case in cases("format") for fence in case.fences if fence.kind in ("text", "styled")]


@pytest.mark.parametrize(
    ("case", "fence"), CASES, ids=lambda value: str(value) if isinstance(value, Case) else f"{value[0]} {value[1]}"
)
def test_fixture(case, fence):
    if fence.kind == "text":
        got = formatted(case, FormatterConfig(plain_text=True), int(fence.option))
    else:
        got = written_out(formatted(case, CONFIG, int(fence.option)))
    assert got == fence.text.removesuffix("\n")


def test_colour_adds_nothing_but_colour():
    """What is printed in colour is, without its codes, what is printed plain."""
    import re

    for case, fence in CASES:
        width = int(fence.option)
        ansi = formatted(case, FormatterConfig(), width)
        assert re.sub(r"\x1b\[[\d;]*m", "", ansi) == formatted(case, FormatterConfig(plain_text=True), width)
