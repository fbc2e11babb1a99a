"""Requests and messages of strangers to a real server and a real PTY host."""

import tempfile
from pathlib import Path

import pytest

from extent import extent
from host_harness import Home
from hunting import Hunt
from live_targets import Live, host_target, http_target, mcp_target, socket_target
from server_home import serving


@pytest.fixture(scope="module")
def live():
    with tempfile.TemporaryDirectory(prefix="vantage-test-") as place:
        home, folder = Path(place) / "home", Path(place) / "folder"
        home.mkdir()
        folder.mkdir()
        with serving(home) as server:
            yield Live(server, folder)


@pytest.mark.parametrize(
    ("make", "short"), [(http_target, 200), (socket_target, 60), (mcp_target, 60)], ids=["http", "websocket", "mcp"]
)
def test_laws_hold_for_any_message(live, make, short):
    Hunt(make(live)).run(extent(short, 20 * short))
    live.check()


def test_laws_hold_for_any_request_to_the_host(tmp_path):
    home = Home(tmp_path / "home")
    home.path.mkdir()
    try:
        home.client()  # one that stays keeps the host: without it, most of the time would go into starting another
        Hunt(host_target(home.path, home.client)).run(extent(60, 2000))
    finally:
        home.finish()
