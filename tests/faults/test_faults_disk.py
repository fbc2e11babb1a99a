"""A full disk, for the host, the server or both: writes stall and are reported, then continue; nothing is lost."""

import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from aftermath import Stage, assert_all_is_well
from extent import extent
from limits import limited
from load import Runner
from machine import until

FULL = resource.RLIMIT_FSIZE


def stalls(stage: Stage, conversation: str) -> str:
    """Waits until the terminal stalls; returns the reason that its status gives."""
    return until(lambda: stage.pty(conversation, "status")["stalled"], "the status does not say that it stalls")


def goes_on(stage: Stage, conversation: str) -> None:
    """Waits until the terminal is no longer stalled."""
    until(lambda: not stage.pty(conversation, "status")["stalled"], "it stays stalled")


def test_the_server_cannot_write(stage):
    """Any of its files may be the full one: events, spool, blocks, checkpoints, screens, search index, log."""
    for chance in stage.acts():
        printer, flood, runner = stage.printer(pause_ms=1), stage.printer(pause_ms=0.1), stage.runner()
        stage.watcher()
        runner.turned(3)
        for _ in range(extent(2, 10)):
            with limited(stage.server.process.pid, FULL, chance.choice([0, 200, 5000, 40_000, 300_000])):
                printer.further(chance.randint(10, 300))
                flood.further(300)
            printer.further(50)
        with limited(stage.server.process.pid, FULL, 0):
            stalls(stage, printer.conversation)
        runner.turned(2)
        assert_all_is_well(stage, said={"log": f"{printer.conversation} is held up: the disk takes no more"})


def refused_or_held(stage: Stage, runner: Runner) -> bool:
    """The next command is not typed; one that was typed before the disk was full is held up."""
    status = stage.pty(runner.conversation, "status")
    return "unavailable" in runner.answers or bool(status["stalled"] and status["mode"] == "block_running")


def test_the_host_cannot_write(stage):
    """The printing program waits and then continues; input that cannot be journaled is not typed."""
    for chance in stage.acts():
        printer, runner, typist = stage.printer(pause_ms=0.2), stage.runner(), stage.typist()
        stage.watcher()
        for _ in range(extent(1, 10)):
            printer.further(chance.randint(1, 300))
            goes_on(stage, printer.conversation)
            with limited(stage.host, FULL, stage.folder(printer.conversation).raw.stat().st_size + 2000):
                assert "File too large" in stalls(stage, printer.conversation)
                held = printer.lines
                runner.turned()
            while "unavailable" not in runner.answers:
                with limited(stage.host, FULL, stage.folder(runner.conversation).journal.stat().st_size + 10):
                    until(lambda runner=runner: refused_or_held(stage, runner), "the command is typed")
            printer.until(held + 100)
            typist.turned()
        said = {
            "answers": "unavailable: .*File too large.*free some disk space",
            "log": f"{printer.conversation} is stalled: File too large",
        }
        assert_all_is_well(stage, said=said)


class Disk:
    """A small one under all conversations, where we may mount one; else nothing of server and host may grow."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.place = stage.home / "conversations"
        mount = ["mount", "-t", "tmpfs", "-o", "size=128m,mode=700", "none", str(self.place)]
        self.mounted = subprocess.run(mount, capture_output=True).returncode == 0

    @contextmanager
    def full(self) -> Iterator[None]:
        if self.mounted:
            ballast = self.place / "ballast"
            _fill(ballast)
            yield
            ballast.unlink()
        else:
            with ExitStack() as limits:
                for pid in (self.stage.server.process.pid, self.stage.host):
                    limits.enter_context(limited(pid, FULL, 0))
                yield

    def close(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.place)], check=True)


def _fill(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(descriptor, bytes(1 << 16)):
            pass
    except OSError as error:
        assert error.errno == errno.ENOSPC
    finally:
        os.close(descriptor)


@pytest.fixture
def disk(stage):
    disk = Disk(stage)
    yield disk
    if stage.well:
        stage.forget()
    disk.close()


def test_a_disk_that_is_full(stage, disk):
    """The disk fills up for server and host at once, repeatedly, at random bytes of any file."""
    for chance in stage.acts():
        printer, runner, typist = stage.printer(pause_ms=0.2), stage.runner(), stage.typist()
        stage.watcher()
        for _ in range(extent(2, 15)):
            printer.further(chance.randint(1, 500))
            with disk.full():
                stalls(stage, printer.conversation)
            printer.further(100)
        runner.turned(2)
        typist.turned(2)
        words = "No space left on device|File too large"
        assert_all_is_well(stage, said={"log": f"{printer.conversation} is (stalled|held up): .*({words})"})
