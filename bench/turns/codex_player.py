"""Codex's own terminal tools, played by the real Codex: a scripted model calls `exec_command` and `write_stdin`.

The model is the tests' own (`tests/support/agents`), so nothing but loopback is reached. What Codex sends back to it is
what a model is shown; the last request of a task has all of it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from bench.run.answers import Several
from bench.run.harness import ROOT
from bench.turns import steps as turns
from bench.turns.count import Call, Played, Sheet, Wrong, compact, list_tokens, play_all
from bench.turns.tasks import TASKS, Task

sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/support/agents")]

import real_agents  # noqa: E402
import scripted_model  # noqa: E402

TOOLS = ("exec_command", "write_stdin")
PLAY, DONE = "Play the task.", "The task is done."
POLLS = 4
"""After a step whose answer does not show what is expected while the program runs."""
WAIT_S = 300
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]|\x1b[=>78M]")
_SESSION = re.compile(r"session ID (\d+)")


def played(tasks: Sequence[Task] = TASKS) -> Sheet:
    lists: list[int] = []

    def play(task: Task, home: Path) -> Played:
        request = _last_request(task, home)
        lists.append(list_tokens([_parameters(tool) for tool in request["tools"] if tool.get("name") in TOOLS]))
        return Played(task.name, _calls(request))

    return Sheet(play_all(play, tasks), lists[0])


def codex(_corpus: Path) -> Callable[[], Several]:
    return lambda: played().sums


def _parameters(tool: dict[str, Any]) -> dict[str, Any]:
    return {key: tool[key] for key in ("name", "description", "parameters")}


def _calls(request: dict[str, Any]) -> list[Call]:
    items = request["input"]
    shown = {item["call_id"]: item["output"] for item in items if item["type"] == "function_call_output"}
    asked = [item for item in items if item["type"] == "function_call"]
    return [Call(item["name"], compact(json.loads(item["arguments"])), shown[item["call_id"]]) for item in asked]


def _last_request(task: Task, home: Path) -> dict[str, Any]:
    """Codex plays the task; what it asked its model last."""
    with real_agents.stage({PLAY: lambda: _script(task)}) as place:
        run = real_agents.codex(real_agents.programs(), place.url, PLAY)
        for file, content in run.files.items():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text(content)
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **run.env}
        process = subprocess.Popen(
            [*place.alone, *run.command], cwd=home / "project" / task.where, env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            model = place.model()
            said, _ = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()
            process.wait()
    if DONE not in said:
        raise SystemExit(f"bench: Codex did not finish {task.name!r}: {said}")
    return next(body for path, body in reversed(model.requests) if path.endswith("/responses"))


def _script(task: Task) -> Generator[scripted_model.Step, str, scripted_model.Step]:
    """The steps as the scripted model plays them, with a poll where an answer came too early."""
    session = 0
    for step in task.codex:
        seen, now = "", step
        for _ in range(1 + POLLS):
            args = {"session_id": session, **now.args} if now.tool == "write_stdin" else now.args
            answer = yield [scripted_model.Call(now.tool, args)]
            if running := _SESSION.search(answer):
                session = int(running[1])
            seen += _ESCAPES.sub("", answer)
            if all(text in seen for text in step.shows):
                break
            assert running, Wrong(task.name, Call(now.tool, compact(args), answer), step.shows)
            now = turns.poll()
        else:
            raise AssertionError(Wrong(task.name, Call(now.tool, compact(args), seen), step.shows))
    return [scripted_model.Say(DONE)]
