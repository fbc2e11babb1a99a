"""Two verbs at once, every pair of them: both are answered, and the terminal works afterwards."""

import itertools
import json
import random
import threading
import time
from contextlib import closing

import pytest

from extent import extent
from terminals import PATIENCE

CHANGING = {
    "exec_block": {"command": "echo one"},
    "exec_interactive": {"command": "echo two"},
    "reset": {},
    "close": None,
}
"""What starts a shell, gives it something or ends it. `close` is no verb of the terminal, but ends its shell too."""
TYPING = {
    "send": {"data": "true\n"},
    "keys": {"keys": ["Enter"]},
    "ctrl_c": {},
    "ctrl_d": {},
    "resize": {"cols": 100, "rows": 30},
    "end_session": {"session_id": "s-0"},
}
LOOKING = {
    "wait_for": {"match": "PROMPT", "timeout_ms": 300},
    "status": {},
    "enter": {},
    "mouse": {"on_text": "$"},
    "blocks": {},
    "read_block": {"block_id": "b1"},
    "read_raw": {},
    "read_spool": {},
    "read_screen": {},
    "read_screen_deltas": {},
    "screen_status": {},
    "read_scrollback": {},
    "search": {"query": "o"},
}
VERBS = {**CHANGING, **TYPING, **LOOKING}
PAIRS = extent(
    [
        *itertools.product(CHANGING, CHANGING),
        *itertools.product(CHANGING, TYPING),
        *(("reset", verb) for verb in LOOKING),
    ],
    list(itertools.product(VERBS, VERBS)),
)
QUICK = 25
"""Seconds within which any of them is answered, on a very slow machine: what went wrong took 30."""


class Caller(threading.Thread):
    def __init__(self, server, conversation, verb, start):
        super().__init__()
        self.server, self.verb, self.started = server, verb, start
        self.path = f"/v1/conversations/{conversation}/{'close' if verb == 'close' else f'pty/{verb}'}"

    def run(self):
        with closing(self.server.connection()) as line:
            self.server.get("/healthz", over=line)
            self.started.wait()
            began = time.monotonic()
            self.answer = self.server.post(self.path, VERBS[self.verb], over=line)
            self.took = time.monotonic() - began


@pytest.mark.parametrize("seed", range(extent(1, 8)))
def test_every_pair_of_verbs(server, seed):
    pairs = list(PAIRS)
    random.Random(seed).shuffle(pairs)
    with server.conversation() as conversation:
        assert server.pty(conversation, "exec_block", command="echo begin")["output"] == "begin\n"
        for pair in pairs:
            start = threading.Barrier(2)
            callers = [Caller(server, conversation, verb, start) for verb in pair]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join(PATIENCE)
                assert not caller.is_alive(), f"{caller.verb} of {pair} is not answered"
                assert caller.answer.status in (200, 400, 404, 409), (pair, caller.verb, caller.answer.body)
                assert caller.took < QUICK, (pair, caller.verb, caller.took, caller.answer.body)
            assert_works(server, conversation, pair)


def assert_works(server, conversation, pair):
    """The next command runs. What one of the two has begun or typed ahead may come first: a line, a Ctrl-D."""
    path = f"/v1/conversations/{conversation}/pty/exec_block"
    deadline = time.monotonic() + QUICK
    while True:
        answer = server.post(path, {"command": "echo ok", "timeout_ms": QUICK * 1000})
        assert answer.status in (200, 409), (pair, answer.body)
        if answer.status == 200 and answer.json.get("output", "").endswith("ok\n"):
            return
        assert time.monotonic() < deadline, (pair, json.dumps(answer.json))


def test_a_reset_does_not_wait_for_a_shell_that_never_prompts(server):
    """`reset` kills a shell that shows no prompt, without waiting for one, and the next command runs."""
    with server.conversation(env={"PATH": "/usr/bin:/bin", "ENV": "", "HOME": "/nonexistent"}) as conversation:
        assert server.pty(conversation, "exec_block", command="exec cat", timeout_ms=0)
        for _ in range(3):
            began = time.monotonic()
            server.pty(conversation, "reset")
            assert time.monotonic() - began < QUICK
        assert server.pty(conversation, "exec_block", command="echo ok")["output"] == "ok\n"


def test_a_conversation_that_is_deleted_while_verbs_wait(server):
    for verb in ("reset", "exec_block", "wait_for", "send"):
        with server.conversation() as conversation:
            server.pty(conversation, "exec_block", command="echo begin")
            start = threading.Barrier(3)
            callers = [Caller(server, conversation, verb, start) for _ in range(2)]
            for caller in callers:
                caller.start()
            start.wait()
            assert server.ask("DELETE", f"/v1/conversations/{conversation}").status in (200, 204)
            for caller in callers:
                caller.join(PATIENCE)
                assert not caller.is_alive(), verb
                assert caller.answer.status in (200, 404, 409), (verb, caller.answer.body)
                assert caller.took < QUICK, (verb, caller.took)
            assert not (server.home / "conversations" / conversation).exists()
