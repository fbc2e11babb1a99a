"""Shared by all tests: hypothesis without deadlines, because time never decides a test; coroutines are run.

`VANTAGE_EXAMPLES=5000 make test` looks longer. In CI the examples are the same every time: what is found by chance is
found where somebody can look into it.
"""

import asyncio
import inspect
import os

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

pytest_plugins = ["terminal_home", "server_home", "command_line", "page_home"]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test that is a coroutine function runs in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
