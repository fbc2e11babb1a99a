"""When the host is asked whether a program waits for input, and which callers its answer counts for."""

from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from vantage.conversation.live import input_watch
from vantage.conversation.live.input_watch import InputWatch
from vantage.conversation.live.tasks import Tasks
from vantage.conversation.live.waiters import Waiters
from vantage.terminal.modes import Phase

YES = {"waits": "yes", "why": "read", "offset": 7, "what": "line"} | {
    "process": "cat",
    "pid": 99,
    "call": "read",
    "echo": True,
    "canonical": True,
    "line_editor": False,
}
"""The host's answer: a program waits for a line."""


class Terminal:
    """A terminal whose program waits for a line; the clock stands still until it is moved."""

    def __init__(self, monkeypatch):
        self.now, self.answer, self.last_output, self.asked, self.looks = 100.0, dict(YES), 0.0, 0, 0
        self.core = SimpleNamespace(
            state=SimpleNamespace(phase=Phase.RUNNING, pid=1, block=None), raw=7, cursor=7, screen=None
        )
        self.settled = True
        self.waiters = Waiters(lambda: False)
        monkeypatch.setattr(input_watch, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.watch = InputWatch(
            Tasks(),
            self.waiters,
            SimpleNamespace(in_editor=lambda: False, reads_in_editor=False),
            core=lambda: self.core,
            settled=lambda: self.settled,
            last_output=self.looked,
            read_spool=lambda start, end: b"x" * (end - start),
            ask=self.ask,
        )

    def looked(self):
        self.looks += 1
        self.waiters.wake()
        return self.last_output

    async def ask(self, _op, **_fields):
        self.asked += 1
        return self.answer


@asynccontextmanager
async def answered(monkeypatch):
    """The host was asked at 100.0 and has said that the program waits."""
    terminal = Terminal(monkeypatch)
    caller = terminal.watch.begin()
    try:
        assert await terminal.waiters.until(lambda: caller.awaited is not None, 30)
        yield terminal
    finally:
        terminal.watch.close()


@pytest.mark.parametrize(("began", "counts"), [(99.9, True), (100.0, True), (100.1, False)])
async def test_an_answer_counts_for_callers_that_waited_when_it_was_asked_for(monkeypatch, began, counts):
    async with answered(monkeypatch) as terminal:
        assert (terminal.watch.answered_since(began) is not None) == counts


async def test_what_is_awaited(monkeypatch):
    async with answered(monkeypatch) as terminal:
        awaited = terminal.watch.answered_since(100.0)
        assert (awaited.what, awaited.because.process, awaited.prompt) == ("line", "cat", "")


async def test_what_outdates_an_answer(monkeypatch):
    async with answered(monkeypatch) as terminal:
        for raw in (6, 8):
            terminal.core.raw = raw
            assert terminal.watch.answered_since(100.0) is None
        terminal.core.raw = 7
        terminal.settled = False
        assert terminal.watch.answered_since(100.0) is None
        terminal.settled = True
        terminal.core.state.phase = Phase.IDLE
        assert terminal.watch.answered_since(100.0) is None


async def test_a_flood_is_not_asked_about(monkeypatch):
    """The host is asked once output has been quiet; until then only the time of the last output is looked at."""
    terminal = Terminal(monkeypatch)
    terminal.last_output = terminal.now
    caller = terminal.watch.begin()
    try:
        assert await terminal.waiters.until(lambda: terminal.looks >= 3, 30)
        assert terminal.asked == 0
        terminal.now += 1
        assert await terminal.waiters.until(lambda: caller.awaited is not None, 30)
    finally:
        terminal.watch.close()


async def test_before_the_first_answer_nothing_is_awaited(monkeypatch):
    assert Terminal(monkeypatch).watch.answered_since(-1.0) is None
