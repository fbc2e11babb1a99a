"""The throttle: at most one call per interval, the leading and the trailing edge both delivered."""

import asyncio
import itertools

from hypothesis import given
from hypothesis import strategies as st

from vantage.conversation.throttle import Throttle

INTERVAL = 1.0


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time passes only when nothing is left to do, by jumping to the next timer."""

    def __init__(self):
        super().__init__()
        self.now = 1000.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0]._when)
        super()._run_once()


def played(pauses, interval=INTERVAL):
    """When requests were made, each a pause after the last, and when calls came."""
    requests, calls = [], []

    async def play():
        loop = asyncio.get_running_loop()
        throttle = Throttle(lambda: calls.append(loop.time()), interval)
        for pause in pauses:
            await asyncio.sleep(pause)
            requests.append(loop.time())
            throttle.request()
        await asyncio.sleep(interval)

    with asyncio.Runner(loop_factory=Clock) as runner:
        runner.run(play())
    return requests, calls


@given(st.lists(st.floats(0, 3), min_size=1, max_size=20))
def test_calls_are_apart_and_no_request_is_forgotten(pauses):
    requests, calls = played(pauses)
    assert calls[0] == requests[0], "the leading edge is delivered at once"
    assert all(later - call > INTERVAL * 0.999 for call, later in itertools.pairwise(calls))
    for request in requests:
        assert any(request <= call <= request + INTERVAL * 1.001 for call in calls), "the trailing edge is delivered"


def test_requests_within_an_interval_share_one_call():
    requests, calls = played([0, 0.1, 0.1, 0.1])
    assert calls == [requests[0], requests[0] + INTERVAL]


def test_without_an_interval_every_request_calls():
    requests, calls = played([0, 0, 0], interval=0)
    assert calls == requests


async def test_flush_calls_now_and_cancel_drops_what_is_pending():
    calls = []
    throttle = Throttle(lambda: calls.append(len(calls)), 3600)
    throttle.request()
    throttle.request()
    throttle.flush()
    assert calls == [0, 1]
    throttle.request()
    throttle.cancel()
    throttle.flush()
    assert calls == [0, 1, 2]
