"""Shared by all tests: hypothesis without deadlines, because time never decides a test; coroutines are run.

`VANTAGE_EXAMPLES=5000 make test` looks longer. In CI the examples are the same in every run, so a failure there can be
repeated. `VANTAGE_SHUFFLE=7 make test` runs files, and the tests in each file, in a random order of that seed.
"""

import asyncio
import inspect
import os
import random
import signal
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "vantage",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=int(os.environ.get("VANTAGE_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("vantage")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell script that runs the tests in the background has them ignore interrupts, and so would every program.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # `nohup make test` has every program ignore that its terminal is gone.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

pytest_plugins = ["terminal_home", "server_home", "command_line", "page_home"]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test that is a coroutine function runs in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_collection_modifyitems(items):
    """Shuffles files, and tests within a file, for VANTAGE_SHUFFLE. Every xdist worker computes the same order.

    xdist runs one test of each node id, so two tests with the same one are an error.
    """
    again = [node for node, count in Counter(item.nodeid for item in items).items() if count > 1]
    if again:
        raise pytest.UsageError(f"tests of the same name, of which only one would run: {', '.join(again)}")
    seed = os.environ.get("VANTAGE_SHUFFLE")
    if seed:
        shuffled = random.Random(seed)
        places = {path: shuffled.random() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: (places[item.path], shuffled.random()))
