"""The walks of docs/architecture.md are true: each step's function exists, and calls what its arrow names."""

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from places import ROOT

SOURCE = ROOT / "src/vantage"
STEP = re.compile(r"^\d+\. `(?P<file>[\w/.]+)` `(?P<name>[\w.]+)`(?P<text>.*?)(?=^\d+\. |\Z)", re.MULTILINE | re.DOTALL)
ARROW = re.compile(r"→ `(?P<called>\w+)`(?: \(`(?P<bound>\w+)`\))?\s*\Z")


class Step(NamedTuple):
    file: str
    name: str
    called: str | None
    """What the function names."""
    bound: str | None
    """The function behind it, where it was passed in under another name."""


def walks() -> dict[str, list[Step]]:
    text = (ROOT / "docs/architecture.md").read_text().partition("## Three walks")[2].partition("\n## ")[0]
    found = {}
    for part in text.split("\n### ")[1:]:
        title, _, steps = part.partition("\n")
        found[title] = []
        for step in STEP.finditer(steps):
            arrow = ARROW.search(step["text"].strip())
            found[title].append(Step(step["file"], step["name"], *(arrow.groups() if arrow else (None, None))))
    return found


def source_of(step: Step) -> str:
    """The text of a step's function."""
    path = SOURCE / step.file
    text = path.read_text()
    return python_source(text, step.name) if path.suffix == ".py" else script_source(text, step.name)


def python_source(text: str, name: str) -> str:
    nodes = ast.parse(text).body
    for part in name.split("."):
        node = next(node for node in nodes if getattr(node, "name", None) == part)
        nodes = getattr(node, "body", [])
    return ast.get_source_segment(text, node)


def script_source(text: str, name: str) -> str:
    """From a function's or constant's first line up to the next line that is no deeper."""
    lines = text.splitlines()
    begins = re.compile(rf"^(\s*)(async )?(function |const )?{name}\b.*[({{=]")
    at, indent = next((n, found[1]) for n, line in enumerate(lines) if (found := begins.match(line)))
    end = next(n for n in range(at + 1, len(lines)) if lines[n].startswith(f"{indent}}}"))
    return "\n".join(lines[at : end + 1])


WALKS = walks()


def test_there_are_three_walks():
    assert [len(steps) > 15 for steps in WALKS.values()] == [True] * 3


@pytest.mark.parametrize(
    "step", [pytest.param(step, id=f"{step.file} {step.name}") for steps in WALKS.values() for step in steps]
)
def test_each_step_exists_and_calls_what_its_arrow_names(step):
    source = source_of(step)
    if step.called is not None:
        assert re.search(rf"\b{step.called}\b", source.partition("\n")[2] or source), source


@pytest.mark.parametrize("title", WALKS)
def test_each_arrow_leads_to_the_next_step(title):
    for step, after in pairwise(WALKS[title]):
        if step.called is not None:
            assert (step.bound or step.called) in after.name.split("."), (step, after)


def test_no_step_is_walked_twice_in_a_walk():
    for steps in WALKS.values():
        places = [(step.file, step.name) for step in steps]
        assert len(set(places)) == len(places)


def test_a_step_that_is_not_true_is_noticed():
    step = Step("terminal/core.py", "TerminalCore.feed", "no_such_call", None)
    assert not re.search(rf"\b{step.called}\b", source_of(step))
    with pytest.raises(StopIteration):
        source_of(step._replace(name="TerminalCore.no_such_function"))


def test_every_folder_of_the_source_is_in_the_table_of_rooms():
    rooms = (ROOT / "docs/architecture.md").read_text().partition("## Rooms")[2]
    folders = [path.name for path in Path(SOURCE).iterdir() if path.is_dir() and not path.name.startswith("__")]
    missing = [name for name in folders if f"`{name}/`" not in rooms]
    assert not missing, missing
