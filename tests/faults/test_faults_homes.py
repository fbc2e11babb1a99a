"""Two servers on one home, and a host that another version left there."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from aftermath import Stage, StagedServer, assert_all_is_well
from extent import extent
from machine import MARK, living
from terminal_home import PATIENCE, environment, wait_until_gone
from terminals import VANTAGE
from vantage.ptyhost import protocol


def serve(stage: Stage) -> subprocess.CompletedProcess[str]:
    """A server that does not start."""
    command = [*VANTAGE, "serve", "--home", str(stage.home), "--port", "0"]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=PATIENCE)


def test_a_second_server_names_the_process_that_has_the_home(stage):
    printer, runner = stage.printer(), stage.runner()
    stage.watcher()
    done = serve(stage)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"process {stage.server.process.pid}, which serves {stage.server.url}" in done.stderr
    assert done.stderr.count("\n") == 1
    printer.further(10)
    runner.turned(2)
    assert not stage.watchers[0].cut, "the first one was disturbed"
    assert_all_is_well(stage)


def test_many_servers_start_at_once(stage):
    """One gets the home; the others are told so."""
    stage.printer()
    stage.runner()
    stage.watcher()
    stage.server.kill()
    started: list[StagedServer] = []
    refused: list[str] = []

    def start() -> None:
        try:
            started.append(StagedServer(stage.home, **stage.server.env))
        except AssertionError as error:
            refused.append(str(error))

    starting = [threading.Thread(target=start) for _ in range(extent(2, 6))]
    for each in starting:
        each.start()
    for each in starting:
        each.join(PATIENCE)
    assert len(started) == 1, refused
    stage.server = started[0]
    holder = f"ended with 1: Error: {stage.home} is in use by process {stage.server.process.pid}"
    assert all(holder in said for said in refused), refused
    assert all("serves" not in said or f"which serves {stage.server.url}:" in said for said in refused), refused
    assert_all_is_well(stage)


OTHER = """
import sys
from vantage.ptyhost import protocol
protocol.PROTOCOL, protocol.SPOKEN, protocol.VERSION = {number}, ({number},), "another"
from vantage.ptyhost import ops
from vantage.ptyhost.__main__ import main
if {number} < 2:
    for name in ops.AGENT_OPERATIONS:
        del ops.OPERATIONS[name]
sys.exit(main(["--home", sys.argv[1]]))
"""


def other_host(home: Path, number: int) -> socket.socket:
    """A host that speaks only another protocol, and has a program running."""
    program = [sys.executable, "-c", OTHER.format(number=number), str(home)]
    assert subprocess.run(program, env={**os.environ, MARK: str(home)}).returncode == 0
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(PATIENCE)
    client.connect(str(home / "host.sock"))
    folder = str(home / "conversations" / "theirs" / "agent_pty")
    program = {"argv": ["cat"], "env": environment(**{MARK: str(home)}), "cwd": "/", "cols": 80, "rows": 24}
    with client.makefile("rb") as answers:
        for request in (
            {"op": "hello", "protocol": number},
            {"op": "open", "terminal": "theirs", "folder": folder, **program},
        ):
            client.sendall(protocol.encode({"id": 1, **request}))
            answer = json.loads(answers.readline())
            assert answer["ok"], answer
    return client


def test_a_host_of_another_protocol(stage):
    """The old host is left alone: clients are told its protocol and how to end it. After that the home works."""
    without_host(stage)
    for number in (min(protocol.SPOKEN) - 1, protocol.PROTOCOL + 1):
        refused_by_another(stage, number)
    stage.server.start()
    assert_all_is_well(stage, host_died=True)


def test_a_host_of_an_earlier_protocol_that_is_spoken(stage):
    """It starts shells for a server of today. After its end the home has a host of today."""
    without_host(stage)
    with other_host(stage.home, 1):
        theirs = stage.host
        stage.server.start()
        stage.runner().turned(2)
        assert stage.host == theirs
    stage.server.stop()
    assert stage.vantage("stop", "--shells").code == 0
    wait_until_gone(theirs)
    shutil.rmtree(stage.home / "conversations" / "theirs")
    stage.server.start()
    stage.runner().turned(2)
    assert json.loads((stage.home / "host.json").read_text())["protocol"] == protocol.PROTOCOL
    assert_all_is_well(stage, host_died=True)


def without_host(stage: Stage) -> None:
    """A home that was used, in which neither server nor host runs."""
    runner = stage.runner()
    stage.watcher()
    runner.turned(2)
    stage.server.stop()
    ours = stage.host
    os.kill(ours, signal.SIGTERM)
    wait_until_gone(ours)


def refused_by_another(stage: Stage, number: int) -> None:
    with other_host(stage.home, number):
        theirs = stage.host
        done = serve(stage)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert f"pid {theirs}) speaks protocol {number}, the client asked for {protocol.PROTOCOL}" in done.stderr
        assert "'vantage stop --shells' ends it" in done.stderr
        asked = stage.vantage("doctor")
        assert asked.code == 1
        assert f"process {theirs}, vantage another, protocol {number}): 'vantage stop --shells' ends it" in asked.out
        assert living(theirs), "it was ended unasked"
    assert stage.vantage("stop", "--shells").code == 0
    wait_until_gone(theirs)
    shutil.rmtree(stage.home / "conversations" / "theirs")
