"""Calls over `vantage mcp` while the server is killed at random moments: each is answered, and done once."""

import os
import random
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from extent import extent, rounds
from mcp_pipes import answered, begin, call, pipe, server_pid

LONGEST_S = 0.4
"""How long an answer may take, at most, before the server is killed."""
KILLS = 2
"""During one call, at most."""


def test_the_server_is_killed_during_calls(own_home):
    for seed in rounds(1):
        chance, log = random.Random(seed), own_home / "log"
        log.write_text("")
        with pipe(own_home) as process:
            begin(process)
            call(process, 2, "pty_exec_block", command="true")
            answered(process, 2)
            expected = []
            for number in range(10, 10 + extent(6, 60)):
                expected.append(f"done-{number}")
                for tool, arguments, wanted in chance.choice((ran, sent, pressed))(number):
                    call(process, number, tool, **arguments)
                    kill_at_random(own_home, process, chance)
                    assert wanted.items() <= answered(process, number).items(), f"VANTAGE_SEED={seed}, {tool}"
        assert log.read_text().splitlines() == expected, f"VANTAGE_SEED={seed}"


def kill_at_random(home: Path, process: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Kills the server before the answer comes, or the one after it while it starts; or none."""
    killed = None
    for _ in range(chance.randint(0, KILLS)):
        if select.select([process.stdout], [], [], chance.random() * LONGEST_S)[0]:
            return
        server = server_pid(home)
        if server not in (None, killed):  # else the next one is not there yet
            killed = server
            with suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)


Calls = Iterator[tuple[str, dict[str, Any], dict[str, Any]]]
"""Tools with their arguments, and what is in the answer."""


def ran(number: int) -> Calls:
    command = f"echo done-{number} >> log; sleep 0.2; echo out-{number}"
    yield "pty_exec_block", {"command": command}, {"output": f"out-{number}\n", "exit_code": 0}


def sent(number: int) -> Calls:
    """At the prompt. What it prints is not in its echo."""
    line = f"echo done-{number} >> log; sleep 0.2; echo over-$(({number} + 1))\n"
    yield "pty_send", {"data": line, "wait_for": f"over-{number + 1}"}, {"matched": True}
    yield "pty_wait_for", {"match": "PROMPT"}, {"matched": True}


def pressed(number: int) -> Calls:
    """In a program, key by key."""
    yield "pty_exec_interactive", {"command": "read -r line; echo done-$line >> log; sleep 0.2; echo got $line"}, {}
    keys = {"keys": [*str(number), "Enter"], "wait_for": f"got {number}"}
    yield "pty_keys", keys, {"matched": True}
    yield "pty_wait_for", {"match": "PROMPT"}, {"matched": True}
