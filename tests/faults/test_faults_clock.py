"""The time of day is set, by hours and both ways, while everything runs."""

import asyncio
import json
from pathlib import Path

import pytest

from aftermath import Stage, assert_all_is_well
from extent import extent
from machine import until
from socket_client import open_socket

HOUR = 3600
ON_THE_PATH = str(Path(__file__).parents[1] / "programs" / "clock")


class Clock:
    """The time of day of server and host. Shells keep the machine's: so they disagree, too."""

    def __init__(self, stage: Stage) -> None:
        self._file = stage.beside / "clock"
        self.set(0)
        self.settings = {"PYTHONPATH": ON_THE_PATH, "VANTAGE_TEST_CLOCK": str(self._file)}

    def set(self, ahead: int) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_text(str(ahead))
        draft.replace(self._file)


@pytest.fixture
def clock(stage):
    made = Clock(stage)
    stage.server.end()  # the host too
    stage.serve(**made.settings)
    yield made
    if stage.well:
        stage.server.end()
        stage.serve()


def test_the_clock_jumps_while_everything_runs(stage, clock):
    printer, runner, typist = stage.printer(), stage.runner(), stage.typist()
    stage.watcher()
    for ahead in extent((3, -5), (3, -5, 9, -100, 0)):
        clock.set(ahead * HOUR)
        printer.further(20)
        runner.turned(2)
        typist.turned(2)
        ran = stage.insist(runner.conversation, "exec_block", command="echo $((6 * 7)); sleep 0.01")
        assert ran["output"] == "42\n"
        assert 0 < ran["duration_ms"] < HOUR * 1000
    stage.server.stop()
    clock.set(-9 * HOUR)
    stage.server.start()
    printer.further(20)
    assert_all_is_well(stage)
    blocks = stage.pty(runner.conversation, "blocks", limit=1000)["blocks"]
    assert all(block["ts_begin"] <= block["ts_end"] and block["duration_ms"] >= 0 for block in blocks)
    cast = stage.vantage("export", printer.conversation, "--format", "asciicast", "--output", "-")
    assert cast.code == 0, cast.err
    assert all(json.loads(line)[0] >= 0 for line in cast.out.splitlines()[1:])


@pytest.mark.parametrize("ahead", [-5 * HOUR, 5 * HOUR])
def test_reads_and_waits_work_after_the_clock_jumps(stage, clock, ahead):
    """Screens are followed, waits end in their time, and a question to the terminal is answered."""
    conversation = stage.conversation()
    stage.pty(conversation, "exec_block", command="echo before")

    async def follow() -> None:
        async with open_socket(stage.server) as socket:
            await socket.watch(conversation, "rows", "screen")
            await socket.on_screen(conversation, "before")
            clock.set(ahead)
            for number in range(3):
                await asyncio.to_thread(stage.pty, conversation, "exec_block", command=f"echo $(({number} + 4000))")
                await socket.on_screen(conversation, f"{number + 4000}")

    asyncio.run(follow())
    kept = stage.folder(conversation).screen_snapshot
    until(lambda: "4002" in kept.read_text(), "the last screen is not written down")
    assert not stage.pty(conversation, "wait_for", match="never", timeout_ms=100)["matched"]
    assert stage.pty(conversation, "wait_for", match={"quiet_ms": 50}, timeout_ms=20_000)["matched"]
    asked = stage.pty(conversation, "exec_block", command=r"IFS= read -rs -d R -p $'\e[6n' at; echo ${#at}")
    assert int(asked["output"].rsplit(maxsplit=1)[-1]) > 3
    clock.set(0)
    assert_all_is_well(stage)


def test_a_login_limit_ends_in_a_minute_though_the_clock_went_back(stage, clock):
    """Many wrong tokens are forgotten within a minute, whatever the clock says."""
    for _ in range(31):
        stage.server.get("/v1/conversations", token="wrong")
    assert stage.server.get("/v1/conversations", token="wrong").status == 429
    clock.set(-5 * HOUR)
    waits = stage.server.get("/v1/conversations", token="wrong").headers["Retry-After"]
    assert int(waits) <= 60
    stage.conversation()
    assert_all_is_well(stage)
