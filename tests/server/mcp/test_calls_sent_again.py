"""The server is killed during calls over `vantage mcp`: each is answered as if nothing had been, and done once."""

import json
import os
import signal
from contextlib import closing
from pathlib import Path

import pytest

from machine import until
from mcp_pipes import answered, begin, call, end_server, hear, pipe, say, server_pid
from vantage.ptyhost.protocol import socket_path
from vantage.server.listening import listen_here

NO_PROCESS = 1 << 30
"""No pid is that large."""

NUMBERS = pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])


@pytest.fixture
def project(own_home):
    os.mkfifo(own_home / "go")
    return own_home


def log(project):
    path = project / "log"
    return path.read_text().splitlines() if path.exists() else []


def logged(project, count):
    until(lambda: len(log(project)) >= count, "it does not write")


@NUMBERS
@pytest.mark.parametrize("when", ["between", "after"])
def test_a_command_runs(project, number, when):
    """It ends while no server runs, or when the next one waits for it."""
    with pipe(project) as process:
        begin(process)
        command = "echo begun >> log; read -r line < go; echo $line >> log; echo done; (exit 3)"
        call(process, 2, "pty_exec_block", command=command)
        logged(project, 1)
        before = server_pid(project)
        end_server(project, number)
        if when == "after":
            until(lambda: server_pid(project) not in (None, before), "no server is started")
        (project / "go").write_text("on\n")
        ran = answered(process, 2)
        assert (ran["output"], ran["exit_code"]) == ("done\n", 3)
        call(process, 3, "pty_exec_block", command="cat log")
        assert answered(process, 3)["output"] == "begun\non\n"


def test_a_command_outlives_several_servers(project):
    with pipe(project) as process:
        begin(process)
        call(process, 2, "pty_exec_block", command="echo begun >> log; read -r line < go; echo done")
        logged(project, 1)
        for _ in range(3):
            before = server_pid(project)
            end_server(project)
            until(lambda before=before: server_pid(project) not in (None, before), "no server is started")
        (project / "go").write_text("on\n")
        assert answered(process, 2)["output"] == "done\n"
    assert log(project) == ["begun"]


@NUMBERS
def test_a_turn_is_in_its_wait(project, number):
    program = 'while read -r line; do echo "$line" >> log; read -r on < go; echo "$on $line"; done'
    with pipe(project) as process:
        begin(process)
        call(process, 2, "pty_exec_interactive", command=program)
        answered(process, 2)
        call(process, 3, "pty_send", data="one\n", wait_for="heard one")
        logged(project, 1)
        end_server(project, number)
        (project / "go").write_text("heard\n")
        assert answered(process, 3)["matched"]
        call(process, 4, "pty_send", data="two\n", wait_for="again two")
        (project / "go").write_text("again\n")
        assert answered(process, 4)["matched"]
    assert log(project) == ["one", "two"]


@NUMBERS
def test_a_wait(project, number):
    """What it waits for is printed while no server runs."""
    with pipe(project) as process:
        begin(process)
        call(process, 2, "pty_exec_interactive", command="echo begun >> log; read -r line < go; echo it $line; cat")
        answered(process, 2)
        logged(project, 1)
        call(process, 3, "pty_wait_for", match="it is here")
        call(process, 4, "pty_status")
        answered(process, 4)
        end_server(project, number)
        (project / "go").write_text("is here\n")
        assert answered(process, 3)["matched"]


def test_a_wait_that_is_sent_again_waits_for_the_rest_of_its_time(server):
    """Its client counts from the first time, and gives up."""
    with server.conversation() as conversation, pipe(server.home, "--conversation", conversation) as process:
        begin(process)
        call(process, 2, "pty_exec_block", command="true")
        answered(process, 2)
        call(process, 3, "pty_wait_for", match="never", timeout_ms=20_000)
        meta = {"dev.vantage/callId": "of-the-client", "dev.vantage/callAgeMs": 40_000}
        say(process, "tools/call", 4, name="pty_wait_for", arguments={"match": "never"}, _meta=meta)
        assert answered(process, 4)["reason"] == "timeout"


def test_an_emitted_event_is_not_emitted_again(project):
    """The log does not know the ids of calls: the answer says that it is not known."""
    with pipe(project, "--tools", "all") as process:
        begin(process)
        call(process, 2, "pty_exec_block", command="true")
        answered(process, 2)
        os.kill(server_pid(project), signal.SIGSTOP)
        call(process, 3, "timeline_emit", events=[{"type": "warning", "message": "careful"}])
        call(process, 4, "pty_status")
        end_server(project)
        heard = {each["id"]: each["result"] for each in (hear(process), hear(process))}
        assert heard[3]["_meta"]["vantage/error"]["code"] == "interrupted"
        assert heard[4]["structuredContent"]["mode"] == "idle"


def test_a_server_that_knows_no_ids(project):
    """One of an earlier version: a call is passed to it as it is, and answered with an error when it dies."""
    path = Path(socket_path(str(project), "mcp.sock"))
    (project / "token").touch(0o600)
    (project / "token").write_text("token\n")
    (project / "server.json").write_text(json.dumps({"pid": NO_PROCESS, "socket": str(path), "version": "0"}))
    with closing(listen_here(str(path))) as listening, pipe(project) as process:
        listening.listen()
        while True:
            server, _ = listening.accept()
            with server, server.makefile("rwb") as lines:
                if not lines.readline():  # it only asked whether a server runs
                    continue
                lines.write(b'{"ok":true}\n')
                lines.flush()
                call(process, 2, "pty_exec_block", command="true")
                assert "_meta" not in json.loads(lines.readline())["params"]
                break
        assert "call again" in hear(process)["error"]["message"]
    (project / "server.json").unlink()
    path.unlink()
