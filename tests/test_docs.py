"""What the documents say is true: their code runs, their tables name what exists, their links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from vantage import Formatter, FormatterConfig, Timeline
from vantage.events import EVENT_TYPES

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(language: str) -> list:
    found = [(page, code) for page in PAGES for kind, code in FENCE.findall(page.read_text()) if kind == language]
    return [pytest.param(code, id=f"{page.stem}-{number}") for number, (page, code) in enumerate(found)]


@pytest.mark.parametrize("code", snippets("python"))
def test_python_runs(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_make_targets_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        for fence in FENCE.findall(page.read_text()):
            assert set(re.findall(r"^make ([\w-]+)", fence[1], re.MULTILINE)) <= targets


def test_events_page_names_every_event_and_every_tool():
    from vantage.timeline import tools

    page = (ROOT / "docs/events.md").read_text()
    assert set(EVENT_TYPES) <= set(re.findall(r"`(\w+)`", page))
    tools.presenter_for("shell")
    families: dict = {}
    for name, function in tools._presenters.items():
        families.setdefault(function, []).append(name)
    table = page.lower()
    for names in families.values():
        assert any(f"`{name}`" in table for name in names), names


def test_the_sample_in_the_readme_is_what_the_formatter_prints():
    sample = re.search(r"<!-- sample: (.+?) -->\n```text\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)
    timeline, formatter = Timeline(), Formatter(FormatterConfig(plain_text=True))
    for line in (ROOT / sample[1]).read_text().splitlines():
        timeline.add(line)
    printed = {formatter.format_row(row, 90) for row in timeline.rows}
    assert set(re.split(r"\n\n(?= *•)", sample[2])) <= printed


def test_what_pyte_cannot_do_is_listed():
    from vantage.terminal.engines.pyte import LIMITS

    page = (ROOT / "docs/pty.md").read_text()
    for name, what in LIMITS.items():
        assert f"| {name} | {what} |" in page


def test_every_verb_is_in_the_table():
    from vantage.conversation.verbs import AgentTerminal

    page = (ROOT / "docs/pty.md").read_text()
    ours = {"screen", "take_keyboard", "release_keyboard"}
    verbs = {name for name in dir(AgentTerminal) if not name.startswith("_") and callable(getattr(AgentTerminal, name))}
    assert verbs - ours <= set(re.findall(r"`(\w+)`", page))
