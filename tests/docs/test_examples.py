"""The examples run, as their first lines say."""

import json
import os
import runpy
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from places import ROOT

EXAMPLES = ROOT / "examples"


def run(name: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=EXAMPLES.parent,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1", **environment},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_guessing_a_number():
    *_, last_guess, end = run("guessing.py").splitlines()
    assert last_guess.endswith("Correct!")
    assert end.startswith("The game ended with 0 after ")


def test_a_terminal_inside_a_program():
    assert run("embed.py").splitlines() == [
        "exit 0: 3 lines",
        "the REPL says 42",
        "it was ended by exit",
        "first line of the screen: 'hi'",
    ]


def test_a_tool_that_says_how_it_looks():
    said = run("tool_with_spec.py")
    assert "☼ Weather in Oslo" in said
    assert all(f"— {surface}" in said for surface in ("plain", "html", "telegram", "slack"))


def _call(name: str, **arguments) -> dict:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


GAME = [
    _call("exec_interactive", command="examples/guess 7"),
    _call("wait_for", match="Guess a number"),
    _call("exec_block", command="ls"),
    _call("send", data="5\r"),
    _call("wait_for", match="Too low|Too high|Correct!", regex=True),
    _call("send", data="7\r"),
    _call("wait_for", match="Correct!"),
    {"role": "assistant", "content": "I won: it was **7**."},
]
"""What the model says, by the number of results it has seen."""


@pytest.fixture
def model():
    """An endpoint that says what it is told to, and keeps what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            results = sum(message["role"] == "tool" for message in body["messages"])
            answer = json.dumps({"choices": [{"message": GAME[results]}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_whole_agent(model):
    address, asked = model
    said = run("agent.py", "play examples/guess and win", OPENAI_BASE_URL=address, MODEL="scripted")
    assert "› play examples/guess and win" in said
    assert "I won: it was 7." in said
    assert "Output width: 74 characters." in asked[0]["messages"][0]["content"]
    results = [json.loads(message["content"]) for message in asked[-1]["messages"] if message["role"] == "tool"]
    assert results[4]["match_text"] == "Too low"
    assert results[6]["match_text"] == "Correct!"
    assert "an interactive session runs" in results[2]["error"], "the model is told what to do instead"


async def test_each_turn_of_the_agent_has_the_instruction_of_its_window(monkeypatch):
    agent = runpy.run_path(str(EXAMPLES / "agent.py"))
    asked = []

    def answer(messages):
        asked.append([message["content"] for message in messages])
        return {"role": "assistant", "content": "Done."}

    one = agent["Agent"](None)
    monkeypatch.setitem(agent["Agent"].run.__globals__, "ask", answer)
    for columns in ("80", "50"):
        monkeypatch.setenv("COLUMNS", columns)
        await one.run(f"in {columns} columns")
    first, second = asked
    assert "Output width: 74 characters." in first[0]
    assert "Output width: 44 characters." in second[0]
    assert first[1:] == ["in 80 columns"]
    assert second[1:] == ["in 80 columns", "Done.", "in 50 columns"]


def test_the_agent_is_a_page():
    assert len((EXAMPLES / "agent.py").read_text().splitlines()) < 150
