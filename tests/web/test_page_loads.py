"""What a browser fetches to show each page: every file is served, and nothing is left for a later moment.

The server that a page came from may be replaced by another version, which does not have the old files.
"""

import re

import pytest
from playwright.sync_api import Browser

from page_home import logged_in
from server_home import Server
from vantage.server.http.routes.static import imports, version

FIRST_MODULES = {"/": "app/main.js", "/gallery": "gallery/gallery.js", "/login": "login/login.js"}


def needed(module: str) -> set[str]:
    """A module and all modules that it imports, directly or not."""
    return {module}.union(*(needed(other) for other in imports(module)))


@pytest.mark.parametrize("path", FIRST_MODULES)
def test_a_browser_loads_every_module_of_a_page(browser: Browser, server: Server, path: str):
    statuses: dict[str, int] = {}
    complaints: list[str] = []
    with browser.new_context(storage_state=logged_in(server, server.token)) as context:
        page = context.new_page()
        page.on("response", lambda answer: statuses.update({answer.url: answer.status}))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{server.url}{path}", wait_until="load")
        place = f"{server.url}/static/{version()}/"
        files = {url.removeprefix(place): status for url, status in statuses.items() if url.startswith(place)}
    assert {name for name in files if name.endswith(".js")} == needed(FIRST_MODULES[path])
    assert set(files.values()) == {200}
    assert complaints == []


@pytest.mark.parametrize("module", sorted(set().union(*map(needed, FIRST_MODULES.values()))))
def test_no_module_is_loaded_later(server: Server, module: str):
    """An import within a function would ask a server of another version for a file that it does not have."""
    source = server.get(f"/static/{version()}/{module}", token="").body.decode()
    without_types = re.sub(r"/\*\*.*?\*/", "", source, flags=re.DOTALL)
    assert "import(" not in without_types
