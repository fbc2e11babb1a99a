"""`vantage spec check` and `vantage spec preview`, as authors of extensions run them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from places import ROOT
from vantage.cli.commands.agents.spec import spec

EXAMPLES = ROOT / "examples" / "specs"
GOOD = {"collapsed": {"title": "{{args.city}}", "trailing": "{{output.degrees}}"}}
BAD = {"collapsed": {"titel": "x", "iconColor": "rde"}}
ODD = {"collapsed": {"title": "{{args.x | trunc}}"}}


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, value in {"good": GOOD, "bad": BAD, "odd": ODD, "two": {"one": GOOD, "other": BAD}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    return tmp_path


def run(*args: str, obj: object = None) -> Result:
    return CliRunner().invoke(spec, list(args), obj=obj)


def test_a_good_spec(here):
    done = run("check", "good.json")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "ok: 1 spec\n", "")


def test_warnings_are_marked_and_pass(here):
    done = run("check", "good.json", "odd.json")
    assert done.exit_code == 0
    warning, verdict = done.stdout.splitlines()
    assert warning == ("odd.json: warning: collapsed.title: there is no filter 'trunc' (did you mean 'truncate'?)")
    assert verdict == "ok: 2 specs, 1 warning"


def test_every_problem_of_every_file(here):
    done = run("check", "good.json", "bad.json", "two.json")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "bad.json: warning: collapsed.titel: there is no field 'titel' (did you mean 'title'?)",
        "bad.json: collapsed.title: 'title' is missing",
        "bad.json: collapsed.iconColor: 'rde' is not possible here (did you mean 'red'?)",
        "two.json: warning: other.collapsed.titel: there is no field 'titel' (did you mean 'title'?)",
        "two.json: other.collapsed.title: 'title' is missing",
        "two.json: other.collapsed.iconColor: 'rde' is not possible here (did you mean 'red'?)",
    ]


def test_problems_as_json(here):
    (here / "broken.json").write_text("{")
    done = run("check", "--json", "bad.json", "broken.json")
    assert done.exit_code == 1
    problems = json.loads(done.stdout)
    assert [(problem["file"], problem["tool"], problem["code"], problem["fatal"]) for problem in problems] == [
        ("bad.json", "bad", "unknown_field", False),
        ("bad.json", "bad", "missing_field", True),
        ("bad.json", "bad", "unknown_value", True),
        ("broken.json", "", "bad_json", True),
    ]
    assert set(problems[0]) == {"file", "tool", "code", "path", "message", "hint", "fatal"}
    assert run("check", "--json", "good.json").stdout == "[]\n"


def test_a_folder_is_checked_whole():
    done = run("check", str(EXAMPLES))
    assert (done.exit_code, done.stdout) == (0, "ok: 12 specs\n")


def test_a_folder_without_specs(tmp_path):
    done = run("check", str(tmp_path))
    assert done.exit_code == 1
    assert "name the files themselves" in done.stderr


def test_preview_draws_every_surface_twice(here):
    done = run("preview", "good.json", "--args", '{"city": "Oslo"}', "--output", '{"degrees": 9}', "--width", "40")
    assert (done.exit_code, done.stderr) == (0, "")
    headings = [line for line in done.stdout.splitlines() if line.startswith("── ")]
    assert headings == [
        f"── {surface}, {state}"
        for surface in ("terminal", "plain", "html", "telegram", "slack")
        for state in ("collapsed", "expanded")
    ]
    assert done.stdout.count("Oslo") >= 10


def test_collapsed_is_the_head_alone():
    done = run("preview", str(EXAMPLES / "weather.json"), "--surface", "plain", "--width", "40")
    _, collapsed, expanded, *_ = done.stdout.split("── ")
    assert "Seattle" in collapsed
    assert "14 °C" in collapsed
    assert "light rain" not in collapsed
    assert "light rain" in expanded


def shown(*args: str) -> str:
    done = run("preview", *args, "--surface", "plain", "--width", "60")
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_options_come_before_the_sample_beside_the_file(here):
    (here / "good.sample.json").write_text(json.dumps({"args": {"city": "Rome"}, "output": {"degrees": 30}}))
    assert "Rome" in shown("good.json")
    other = shown("good.json", "--args", '{"city": "Oslo"}')
    assert "Oslo" in other
    assert "30" in other


def test_values_from_files(here):
    (here / "args.json").write_text('{"city": "Lima"}')
    (here / "out.txt").write_text('{"degrees": "19 °C"}')
    text = shown("good.json", "--args", "@args.json", "--output", "@out.txt")
    assert "Lima" in text
    assert "19 °C" in text


def test_error_running_and_details(here):
    (here / "state.json").write_text(
        json.dumps({"collapsed": {"title": "{{status}} {{isPartial}} {{details.n}}", "trailing": "{{output}}"}})
    )
    assert "running true" in shown("state.json", "--running", "--output", "so far")
    assert "so far" in shown("state.json", "--running", "--output", "so far")
    assert "ok false 7" in shown("state.json", "--details", '{"n": 7}')
    failed = shown("state.json", "--error", "no network")
    assert "error false" in failed
    assert "Error: no network" in failed


def test_a_running_call_takes_the_samples_partial_output():
    text = shown(str(EXAMPLES / "long_job.json"), "--running")
    assert "412,000 of 1,250,000" in text
    assert "33% copying" in text
    assert "Finished in 2m 28s" in shown(str(EXAMPLES / "long_job.json"))


def test_a_preview_lists_missing_values_at_its_end(here):
    text = shown("good.json")
    assert text.endswith("── diagnostics\n\n- nothing at args.city\n- nothing at output.degrees\n")


def test_a_tool_with_a_presenter_of_its_own(here):
    (here / "shell.json").write_text(json.dumps({"collapsed": {"title": "spec of {{args.command}}"}}))
    text = shown("shell.json", "--args", '{"command": "make"}')
    assert "spec of make" in text
    assert "- a call of 'shell' with such arguments is drawn by its own presenter, not by a spec" in text
    assert "diagnostics" not in shown(str(EXAMPLES / "search.json")), "a spec comes before our presenter of searches"


def test_one_spec_of_a_file_with_several(here):
    (here / "two.json").write_text(json.dumps({"one": GOOD, "other": {"collapsed": {"title": "the other"}}}))
    assert "the other" in shown("two.json", "--tool", "Other")
    done = run("preview", "two.json")
    assert done.exit_code == 2
    assert done.stderr == "Error: two.json has specs of one, other: choose one with --tool\n"
    done = run("preview", "two.json", "--tool", "othr")
    assert done.exit_code == 2
    assert done.stderr == "Error: two.json has no spec of 'othr': did you mean 'other'?\n"


def test_a_refused_spec_is_not_drawn(here):
    done = run("preview", "bad.json")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "bad.json: collapsed.title: 'title' is missing" in done.stderr.splitlines()


def test_a_broken_sample(here):
    (here / "good.sample.json").write_text("[")
    done = run("preview", "good.json")
    assert done.exit_code == 1
    assert "good.sample.json: it is not JSON" in done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["check"], "FILE"),
        (["check", "nowhere.json"], "nowhere.json"),
        (["chekc", "good.json"], "did you mean 'check'?"),
        (["preview", "nowhere.json"], "nowhere.json"),
        (["preview", "good.json", "--args", "{"], "--args is not JSON"),
        (["preview", "good.json", "--args", "@nowhere"], "cannot read nowhere"),
        (["preview", "good.json", "--details", "x"], "--details is not JSON"),
        (["preview", "good.json", "--surface", "paper"], "paper"),
        (["preview", "good.json", "--width", "0"], "--width"),
        (["preview", "good.json", "--nonsense"], "--nonsense"),
    ],
)
def test_wrong_usage_in_one_line(here, args, says):
    done = run(*args)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_watching(here):
    """Each wait is a step of the author's: a change, none, a mistake, its mending, and Ctrl-C."""
    (here / "good.json").write_text(json.dumps({"collapsed": {"title": "first"}}))

    def steps():
        yield
        (here / "good.json").write_text(json.dumps({"collapsed": {"title": "second one"}}))
        yield
        (here / "good.json").write_text("{")
        yield
        (here / "good.json").unlink()
        yield
        (here / "good.json").write_text(json.dumps({"collapsed": {"title": "and the third"}}))
        yield
        (here / "good.sample.json").write_text(json.dumps({"output": "x"}))
        yield
        raise KeyboardInterrupt

    waiting = steps()
    done = run("preview", "good.json", "--surface", "plain", "--watch", obj=lambda: next(waiting))
    assert done.exit_code == 130
    titles = [line for line in done.stdout.splitlines() if line.startswith("•")]
    assert [title.removeprefix("•").strip(" •") for title in titles] == [
        *["first"] * 2,
        *["second one"] * 2,
        *["and the third"] * 4,
    ]
    assert "good.json: it is not JSON" in done.stderr
    assert "good.json: there is no such file" in done.stderr


def test_help_names_every_option():
    shown = run("preview", "--help").stdout
    for option in ("tool", "args", "output", "details", "error", "running", "surface", "width", "watch"):
        assert f"--{option}" in shown
