"""`vantage requests` and `vantage answer` against a real server."""

import json
import subprocess

import pytest

from server_home import serving
from terminal_home import PATIENCE, environment
from terminals import VANTAGE


@pytest.fixture
def asked(tmp_path):
    with serving(tmp_path) as server:
        server.post("/v1/conversations", {"id": "work"})

        def ask(**fields):
            said = server.post("/v1/conversations/work/requests", {"title": "Deploy?", **fields})
            assert said.status == 200, said.body
            return said.json

        yield server, ask


def vantage(server, *words):
    return subprocess.run(
        [*VANTAGE, *words, "--home", str(server.home)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
    )


def test_listed_and_answered(asked):
    server, ask = asked
    assert vantage(server, "requests").stderr == "vantage: nothing is asked\n"
    ask(request_id="deploy-7", options=["yes", {"id": "no", "kind": "deny", "needs_text": True}])
    ask(request_id="colour", title="Which colour?\x1b[31m")
    listed = vantage(server, "requests").stdout
    assert "deploy-7" in listed
    assert "yes, no" in listed
    assert "\x1b[31m" not in listed
    found = json.loads(vantage(server, "requests", "--json").stdout)["requests"]
    assert [each["request_id"] for each in found] == ["deploy-7", "colour"]

    wrong = vantage(server, "answer", "deploy-7", "yess")
    assert (wrong.returncode, "did you mean 'yes'" in wrong.stderr) == (1, True)
    assert vantage(server, "answer", "deploy-7", "no").returncode == 1
    done = vantage(server, "answer", "deploy-7", "no", "--text", "not on a Friday", "--json")
    assert json.loads(done.stdout)["answer"]["by"] == "cli"
    late = vantage(server, "answer", "deploy-7", "yes")
    assert (late.returncode, "cli has answered it already: no" in late.stderr) == (1, True)
    assert vantage(server, "answer", "colour", "--text", "blue").returncode == 0
    unknown = vantage(server, "answer", "none", "yes")
    assert (unknown.returncode, "'vantage requests'" in unknown.stderr) == (1, True)


def test_a_form(asked):
    server, ask = asked
    ask(request_id="form", schema={"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}})
    assert "not JSON" in vantage(server, "answer", "form", "--values", "{").stderr
    assert "not a JSON object" in vantage(server, "answer", "form", "--values", "[]").stderr
    assert "values.name" in vantage(server, "answer", "form", "--values", "{}").stderr
    assert vantage(server, "answer", "form", "--values", '{"name": "Ada"}').returncode == 0


def test_each_new_question_is_printed_once(asked):
    server, ask = asked
    ask(request_id="first", title="One?", options=["yes"])
    command = [*VANTAGE, "requests", "--watch", "--json", "--home", str(server.home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as watching:
        try:
            seen = [json.loads(_object(watching))["request_id"]]
            ask(request_id="second", title="Two?")
            seen.append(json.loads(_object(watching))["request_id"])
        finally:
            watching.terminate()
    assert seen == ["first", "second"]


def _object(process):
    """The next JSON object that it prints."""
    text = ""
    while True:
        text += process.stdout.readline()
        try:
            json.loads(text)
        except ValueError:
            continue
        return text
