"""Killed at random moments, under load: server, host, shells."""

import os
import random
import signal
import subprocess
from contextlib import suppress

from aftermath import Stage, assert_all_is_well
from extent import extent
from load import Printer
from machine import living, until
from terminal_home import environment, wait_until_gone
from terminals import VANTAGE


def busy(stage: Stage) -> list[Printer]:
    """Two that print, one quickly; one that runs commands with much output, one that types, one that watches."""
    printers = [stage.printer(pause_ms=3), stage.printer(pause_ms=0.2)]
    runner, typist = stage.runner(noise=14_000), stage.typist()
    stage.watcher()
    runner.turned()
    typist.turned(3)
    return printers


def test_the_server_is_killed(stage):
    for chance in stage.acts():
        printers = busy(stage)
        for _ in range(extent(2, 10)):
            printers[0].further(chance.randint(1, 100))
            stage.server.kill()
            if chance.random() < 0.5:
                begin_and_be_killed(stage, chance)
            printers[0].further(chance.randint(1, 100))
            stage.server.start()
        assert_all_is_well(stage)


def begin_and_be_killed(stage: Stage, chance: random.Random) -> None:
    """A server that does not get far: it may be reading what happened meanwhile, or listen already."""
    command = [*VANTAGE, "serve", "--home", str(stage.home), "--port", str(stage.server.port)]
    begun = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment(**stage.server.env))
    try:
        begun.wait(chance.random() * 2)
    except subprocess.TimeoutExpired:
        begun.kill()
    assert begun.wait() == -signal.SIGKILL


def test_the_host_is_killed(stage):
    """The host's shells are reported lost; their output is kept, and fresh shells replace them."""
    for chance in stage.acts():
        printers = busy(stage)
        for _ in range(extent(2, 10)):
            printers[0].further(chance.randint(1, 100))
            host = stage.host
            os.kill(host, signal.SIGKILL)
            wait_until_gone(host)
            printers = [stage.printer(printer.conversation, pause_ms=2) for printer in printers]
        assert_all_is_well(stage, host_died=True)
        ends = {block["done_because"] for block in stage.pty(printers[0].conversation, "blocks")["blocks"]}
        assert ends == {"lost", "mark"}


def test_shells_are_killed(stage):
    for chance in stage.acts():
        printers = busy(stage)
        for _ in range(extent(3, 30)):
            printers[0].further(chance.randint(1, 50))
            conversation = chance.choice(stage.conversations)
            shell = stage.insist(conversation, "status")["pid"]
            if shell is None:  # killed before, and no verb has started a fresh one yet
                continue
            with suppress(ProcessLookupError):  # it was killed before, and the server has not noticed yet
                os.kill(shell, signal.SIGKILL)
            until(lambda shell=shell: not living(shell), "it lives")
            if conversation == printers[0].conversation:
                printers[0] = stage.printer(conversation)
        assert_all_is_well(stage, shell_died=True)


def test_server_and_host_are_killed_together(stage):
    for chance in stage.acts():
        printers = busy(stage)
        for _ in range(extent(1, 10)):
            printers[0].further(chance.randint(1, 100))
            host = stage.host
            kills = [lambda host=host: os.kill(host, signal.SIGKILL), stage.server.kill]
            chance.shuffle(kills)
            for kill in kills:
                kill()
            wait_until_gone(host)
            stage.server.start()
            printers = [stage.printer(printer.conversation, pause_ms=2) for printer in printers]
        assert_all_is_well(stage, host_died=True)
