"""What the pages about the server say is true: their commands run, their tables are complete."""

import json
import re
import subprocess

from places import ROOT
from terminal_home import PATIENCE, environment
from vantage.server.config import PREFIX, SETTINGS
from vantage.server.http.statuses import STATUSES
from vantage.server.http.table import LOGIN, ROUTES

DOCS = ROOT / "docs"
PAGE = (DOCS / "http.md").read_text()
STEP = re.compile(r"^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def test_the_tour_runs(server, tmp_path):
    """One after the other, in one shell; what is printed last has the fields that the page shows."""
    (tmp_path / "auth").write_text(f"Authorization: Bearer {server.token}\n")
    env = environment(URL=server.url, AUTH=str(tmp_path / "auth"))
    for commands, shown in STEP.findall(PAGE):
        done = subprocess.run(
            ["bash", "-euc", commands.replace("curl -s", "curl -sS --fail-with-body -w '\\n'")],
            capture_output=True,
            text=True,
            env=env,
            cwd=tmp_path,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        answers = [json.loads(line) for line in done.stdout.splitlines() if line]
        assert all(answer["ok"] for answer in answers)
        if shown:
            expected = json.loads(shown)
            assert set(expected) <= set(answers[-1]), answers[-1]
            assert {name: answers[-1][name] for name in STABLE & set(expected)} == {
                name: expected[name] for name in STABLE & set(expected)
            }
    assert "All 42 tests pass" in (tmp_path / "tour.md").read_text()


STABLE = {"id", "name", "shell", "cols", "rows_count", "exit_code", "output", "match_text", "matched", "next"}
"""Fields that are the same every time."""


def test_no_command_has_a_token_in_its_arguments():
    """Every user of a machine can read those."""
    for page in (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))):
        for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            assert not re.search(r"Bearer [$<\w]|/token\)", block), page.name


def test_every_path_is_in_the_table():
    for route in (*ROUTES, *LOGIN):
        assert f"| `{route.method} {route.path}` |" in PAGE


def test_every_error_is_in_the_table():
    for status, known in STATUSES.items():
        row = re.search(rf"^\| {status} \| (.+?) \|", PAGE, re.MULTILINE)[1]
        assert f"`{known.codes[0]}`" in row


def test_every_setting_is_in_the_table():
    for name in SETTINGS:
        assert f"| `{name}` | `{PREFIX}{name.upper()}` |" in PAGE
