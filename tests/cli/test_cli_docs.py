"""docs/cli.md is true: its transcript runs, and every command stands there with all its options."""

import os
import re
import subprocess

import click
import pytest

from places import ROOT
from server_home import Server
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.cli import main

PAGE = (ROOT / "docs" / "cli.md").read_text()
SECTIONS = dict(re.findall(r"^### vantage (\w+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
GROUPS = re.findall(r"^## (?:Conversations|Run and talk)\n(.*?)(?=^###)", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = main.list_commands(click.Context(main))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_all_its_options(name):
    command = main.get_command(click.Context(main), name)
    text = SECTIONS[name]
    assert re.search(rf"`[^`]*vantage {name}\b[^`]*`", text), "an example"
    common = {"--home", "--json", "--help"} if name in _in_groups() else {"--help"}
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            option = next(option for option in parameter.opts if option.startswith("--"))
            assert option in common or re.search(rf"{option}(?![\w-])", text), f"{option} of {name}"
    if isinstance(command, click.Group):
        for below in command.list_commands(click.Context(command)):
            assert f"vantage {name} {below}" in text


def _in_groups() -> set[str]:
    """Commands under a heading that says what all of them take."""
    assert all("takes `--home DIR` and `--json`" in text for text in GROUPS)
    parts = re.findall(r"^## (Conversations|Run and talk)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return {name for _, text in parts for name in re.findall(r"^### vantage (\w+)", text, re.MULTILINE)}


def test_every_section_is_about_a_command():
    assert set(SECTIONS) <= set(COMMANDS)


def test_help_has_every_command_under_a_heading():
    shown = main.get_help(click.Context(main, info_name="vantage"))
    assert "More:" not in shown
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\S", shown, re.MULTILINE), name


def test_the_transcript(server: Server, tmp_path):
    (transcript,) = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "vantage").write_text(f'#!/bin/sh\nexec {" ".join(VANTAGE)} "$@"\n')
    (tmp_path / "vantage").chmod(0o755)
    commands = re.findall(r"^\$ (.*)$", transcript, re.MULTILINE)
    script = "".join(f"printf '%s\\n' '$ '{_quoted(command)}\n{command}\n" for command in commands)
    env = environment(VANTAGE_HOME=str(server.home), PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=PATIENCE, cwd="/")
    assert (done.stdout, done.stderr) == (transcript, "")


# how a shell is asked what it would offer for `vantage statu`
OFFERS = {
    "bash": "COMP_WORDS=(vantage statu); COMP_CWORD=1; _vantage_completion vantage; echo ${COMPREPLY[@]}",
    "zsh": "whence -w _vantage_completion",
    "fish": "complete -C 'vantage statu' | cut -f 1",
}


@pytest.mark.parametrize("shell", OFFERS)
def test_the_line_that_enables_completion(shell, tmp_path):
    (line,) = re.findall(rf"^(.*_VANTAGE_COMPLETE={shell}_source.*?) +#", PAGE, re.MULTILINE)
    (tmp_path / "vantage").write_text(f'#!/bin/sh\nexec {" ".join(VANTAGE)} "$@"\n')
    (tmp_path / "vantage").chmod(0o755)
    env = environment(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    script = f"{'autoload -U compinit; compinit -D -u' if shell == 'zsh' else ''}\n{line}\n{OFFERS[shell]}\n"
    done = subprocess.run([shell, "-c", script], env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("_vantage_completion: function\n" if shell == "zsh" else "status\n", "")


def _quoted(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
