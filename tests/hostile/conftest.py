"""At the end of a run of these tests: how many inputs were tried on each target, and what they found."""

import time

import pytest

from hunting import BUILD, reports, table

_BEGAN = time.time()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    fresh = {file.stem for file in BUILD.glob("*.json") if file.stat().st_mtime >= _BEGAN}
    said = [row for row in reports() if row["target"] in fresh]
    if said:
        terminalreporter.write_line("\n" + table(said))
