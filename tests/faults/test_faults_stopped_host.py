"""The PTY host is stopped (SIGSTOP): what needs no host answers at once, the rest is refused, nothing is done later."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from machine import stat
from server_home import serving
from terminal_home import host_pid

AT_ONCE = 20
"""Seconds for what needs no host, on a slow machine: the host is stopped for longer than any test waits."""
SOON = 25
"""Seconds for a refusal: a request that waited for the host took 30 and more."""


@contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        while stat(pid)[0] != "T":
            pass
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def timed(server, method, path, body=None):
    began = time.monotonic()
    answer = server.ask(method, path, body)
    return answer, time.monotonic() - began


READS = [
    ("POST", "pty/status"),
    ("GET", "rows"),
    ("POST", "pty/read_screen"),
    ("POST", "pty/blocks"),
    ("POST", "pty/read_spool"),
    ("POST", "pty/status"),
    ("GET", "events"),
]


def assert_reads(server, name):
    for method, path in READS:
        answer, took = timed(server, method, f"/v1/conversations/{name}/{path}", {} if method == "POST" else None)
        assert answer.status == 200, (path, answer.body)
        assert took < AT_ONCE, (path, took)
    assert server.get("/v1/conversations").status == 200


def refused(server, name, verb, **fields):
    answer, took = timed(server, "POST", f"/v1/conversations/{name}/pty/{verb}", fields)
    assert (answer.status, answer.code) == (503, "host_silent"), (verb, answer.body)
    assert "does not answer" in answer.json["error"]["message"]
    assert took < SOON, (verb, took)


def test_a_stopped_host(private_home):
    ran = private_home / "ran"
    with serving(private_home) as server, server.conversation() as name, server.conversation() as other:
        server.pty(name, "exec_block", command="echo before")
        server.pty(other, "exec_block", command="echo before")
        with stopped(host_pid(private_home)):
            assert_reads(server, name)
            with ThreadPoolExecutor() as callers:
                calls = [
                    callers.submit(refused, server, name, "exec_block", command=f"echo x >> {ran}"),
                    callers.submit(refused, server, other, "send", data=f"echo y >> {ran}\n"),
                ]
            for call in calls:
                call.result()
            assert_reads(server, name)
            assert "does not answer" in server.pty(name, "status")["stalled"]
            assert server.get("/healthz").status == 200
        for each in (name, other):
            assert server.pty(each, "exec_block", command=f"echo {each} >> {ran}")["exit_code"] == 0
            assert not server.pty(each, "status")["stalled"]
        assert ran.read_text() == f"{name}\n{other}\n", "what was refused was done later"
        assert [block["cmd"][:11] for block in server.pty(name, "blocks")["blocks"]] == [
            "echo before",
            f"echo {name}"[:11],
        ]


def test_a_server_that_starts_while_the_host_is_stopped(private_home):
    with serving(private_home) as server, server.conversation() as name:
        started = server.pty(name, "exec_block", command="echo before; read x; echo got $x", timeout_ms=0)
        server.pty(name, "wait_for", match="before")
        server.kill()
        with stopped(host_pid(private_home)):
            server.start()
            answer, took = timed(server, "GET", f"/v1/conversations/{name}/rows")
            assert (answer.status, took < SOON) == (200, True), (took, answer.body)
            assert "before" in server.pty(name, "read_block", block_id=started["block_id"])["output"]
            refused(server, name, "send", data="never\n")
        answer = server.post(f"/v1/conversations/{name}/pty/send", {"data": "it\n"})
        deadline = time.monotonic() + 30
        while answer.status == 503 and time.monotonic() < deadline:
            answer = server.post(f"/v1/conversations/{name}/pty/send", {"data": "it\n"})
        assert answer.status == 200, answer.body
        assert server.pty(name, "wait_for", match="got it")["matched"]
