"""What the documents say is true: their code runs, their tables name what exists, their links lead somewhere."""

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click
import pytest

from places import ROOT
from vantage import Formatter, FormatterConfig, Timeline
from vantage.events import EVENT_TYPES

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(language: str) -> list:
    found = [(page, code) for page in PAGES for kind, code in FENCE.findall(page.read_text()) if kind == language]
    return [pytest.param(code, id=f"{page.stem}-{number}") for number, (page, code) in enumerate(found)]


@pytest.mark.parametrize("code", snippets("python"))
def test_python_runs(code, server):
    env = {**os.environ, "VANTAGE_HOME": str(server.home)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT, env=env)
    assert (done.returncode, done.stderr) == (0, "")


def shell_lines(page: Path) -> list[str]:
    """What a page tells people to type: lines of its shell fences, and commands of ours in its sentences."""
    text = page.read_text()
    fences = "\n".join(code for kind, code in FENCE.findall(text) if kind in ("sh", "bash", "console"))
    lines = re.sub(r"\\\n\s*", " ", fences).splitlines()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    said = [code.replace("\\|", "|") for code in re.findall(r"`([^`\n]+)`", prose)]
    return [re.sub(r"^[$>] ", "", line) for line in lines] + [code for code in said if "vantage " in code]


def our_commands(line: str) -> list[list[str]]:
    """The words of each `vantage …` in a line of shell, pipelines and substitutions included."""
    line = re.sub(r"\$\((vantage [^)]*)\)", r"x ; \1 ; x", line).replace('" ; ', " ; ")
    found: list[list[str]] = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words: list[str] = []
    try:
        for word in [*lexer, ";"]:
            if word[0] in "|&;<>":
                if words and words[0].rpartition("/")[2] == "vantage":
                    found.append(words[1:])
                words = []
            else:
                words.append(word)
    except ValueError:  # a quote that goes on in the next line
        return found
    return found


COMMANDS = [
    pytest.param(words, id=f"{page.stem}: {shlex.join(words)}"[:90])
    for page in PAGES
    for line in shell_lines(page)
    for words in our_commands(line)
]


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_and_their_options_exist(words):
    from vantage.cli import main

    command: click.Command = main
    context = click.Context(main, info_name="vantage")
    words = [word for word in words if word not in ("…", "...")]
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        name, *words = words
        following = command.get_command(context, name)
        if following is None:
            assert re.fullmatch(r"[A-Z<\[].*", name), f"there is no 'vantage {name}'"  # a placeholder
            return
        command, context = following, click.Context(following, info_name=name, parent=context)
    if {"--help", "--version", "-h"}.isdisjoint(words):
        with suppress(click.BadOptionUsage):  # `--format` alone speaks of the option
            command.make_parser(context).parse_args([word for word in words if word != "[OPTIONS]"])


def test_every_command_is_on_a_page():
    from vantage.cli import main

    said = "\n".join(page.read_text() for page in PAGES)
    missing = [name for name in main.list_commands(click.Context(main)) if f"vantage {name}" not in said]
    assert not missing


def test_the_commands_of_the_readme_are_those_that_the_tests_run():
    """`make demo` by test_first_use.py, `connect` and the pipe behind Claude Code by test_real_agents.py."""
    from real_agents import claude

    lines = shell_lines(ROOT / "README.md")
    assert lines[0].split()[:2] == ["make", "demo"]
    assert lines[1].split()[:4] == [".venv/bin/vantage", "connect", "claude", "--write"]
    pipe = next(line for line in lines if line.startswith("claude -p") and " | " in line)
    run, *ours = pipe.split(" | ")
    assert ours == ["vantage ingest --tee", "vantage format"]
    assert set(re.findall(r" (--?[\w-]+)", run)) <= set(claude(Path(), "", "", asks=True).command)


def test_pictures_show_what_is_printed_now():
    """Else scripts/draw-pictures draws them anew."""
    drawing = runpy.run_path(str(ROOT / "scripts/draw-pictures"))
    assert (drawing["PICTURES"] / "agent.svg").read_text() == drawing["agent_svg"]()
    assert json.loads((drawing["PICTURES"] / "sources.json").read_text()) == drawing["sources"]()


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
    from vantage.timeline.tools.built_in import PRESENTERS

    page = (ROOT / "docs/events.md").read_text()
    assert set(EVENT_TYPES) <= set(re.findall(r"`(\w+)`", page))
    rows = re.findall(r"^\| (`.+?`) \| (.*?) \|", page.partition("## Tools that are drawn")[2], re.MULTILINE)
    named = {name.lower() for cells in rows for cell in cells for name in re.findall(r"[\w.]+", cell)}
    looking = set(PRESENTERS["pty_status"].__globals__["_SENTENCES"])  # "and the others that look"
    run_together = {name.replace("_", "") for name in named}  # TodoWrite, as todowrite and as todo_write
    assert set(PRESENTERS) - looking - run_together <= named


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
    from vantage.conversation.verbs.agent_terminal import AgentTerminal
    from vantage.conversation.verbs.table import TERMINAL_VERBS

    page = (ROOT / "docs/pty.md").read_text()
    assert set(TERMINAL_VERBS) <= set(re.findall(r"`(\w+)`", page))
    assert set(TERMINAL_VERBS) <= set(vars(AgentTerminal)), "a typed method for each"
