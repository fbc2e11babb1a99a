"""Pauses between tries, up to a deadline, on a clock that the test moves."""

import asyncio

import pytest

from vantage.client import retry
from vantage.client.retry import RETRY_S, Retry


class Clock:
    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(retry, "time", clock)
    monkeypatch.setattr(asyncio, "sleep", clock.sleep_async)
    return clock


def pauses(tries: Retry, *, on_a_loop: bool) -> int:
    """How often it pauses before it gives up."""

    async def count() -> int:
        paused = 0
        while await tries.pause_async():
            paused += 1
        return paused

    if on_a_loop:
        return asyncio.run(count())
    paused = 0
    while tries.pause():
        paused += 1
    return paused


@pytest.mark.parametrize("on_a_loop", [False, True])
def test_it_pauses_until_the_timeout_is_over(clock, on_a_loop):
    assert pauses(Retry(1.0, pause_s=0.25), on_a_loop=on_a_loop) == 4
    assert clock.slept == [0.25] * 4


@pytest.mark.parametrize("on_a_loop", [False, True])
def test_a_timeout_of_nothing_gives_up_without_a_pause(clock, on_a_loop):
    assert pauses(Retry(0), on_a_loop=on_a_loop) == 0
    assert not clock.slept


def test_without_a_timeout_it_goes_on(clock):
    tries = Retry()
    assert all(tries.pause() for _ in range(10_000))
    assert set(clock.slept) == {RETRY_S}
