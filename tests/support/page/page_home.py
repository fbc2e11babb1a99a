"""The page in a real browser, against a real server. What the browser complains about fails the test that saw it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from server_home import Server

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE_MS = 30_000
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
NETWORK = ("net::ERR_", "WebSocket connection to")
"""What the console says when the network, or the server, is taken away."""

expect.set_options(timeout=PATIENCE_MS)

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module: its loop must not run beside those of other modules."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def talk(server: Server) -> Iterator[Callable[..., str]]:
    """Makes conversations; they are deleted once no page shows them any more."""
    with ExitStack() as made:
        yield lambda **settings: made.enter_context(server.conversation(**settings))


@pytest.fixture
def visit(browser: Browser, server: Server, talk: object) -> Iterator[Visit]:
    """Opens the page, logged in, in a window of its own or in that of another page; `fails` is what must fail there."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(
        path: str = "/",
        *,
        at: Server | None = None,
        beside: Page | None = None,
        fails: tuple[str, ...] = (),
        log_in: bool = True,
        token: str = "",
        **settings: Any,
    ) -> Page:
        at = at or server
        if beside is None:
            looks = {"viewport": DESK, "color_scheme": "dark", "reduced_motion": "reduce", "locale": "en-GB"}
            known = {"storage_state": logged_in(at, token or at.token)} if log_in else {}
            context = browser.new_context(**{**looks, **known, **settings})
            context.set_default_timeout(PATIENCE_MS)
            context.grant_permissions(["clipboard-read", "clipboard-write"], origin=at.url)
            contexts.append(context)
        else:
            context = beside.context

        def complain(text: str) -> None:
            if not any(word in text for word in fails):
                complaints.append(text)

        page = context.new_page()
        page.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complain(str(error)))
        page.goto(f"{at.url}{path}")
        expect(page.locator("html")).to_have_attribute("data-ready", "true")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def logged_in(server: Server, token: str) -> Any:
    """The storage of a browser that has logged in with a token."""
    answer = server.post("/login", {"token": token}, token="")
    assert answer.status == 200, answer.body
    kept = [{"name": "vantage-session", "value": json.dumps(answer.json)}]
    return {"cookies": [], "origins": [{"origin": server.url, "localStorage": kept}]}


def live(page: Page) -> None:
    """Until the page has its link."""
    expect(page.locator("#link")).to_have_attribute("data-state", "live")


def say(server: Server, conversation: str, *events: dict[str, Any]) -> int:
    """What an agent says; the number of the last event."""
    answer = server.post(f"/v1/conversations/{conversation}/events", list(events))
    assert answer.status == 200, answer.body
    return answer.json["seq"]


def stack_with_a_needle(server: Server, conversation: str, straw: str = "hay") -> int:
    """801 rows; the number of the event in their middle."""
    say(server, conversation, *[{"type": "user_message", "text": f"{straw} {n}"} for n in range(400)])
    needle = say(server, conversation, {"type": "user_message", "text": "the needle of this stack"})
    say(server, conversation, *[{"type": "user_message", "text": f"more {straw} {n}"} for n in range(400)])
    return needle


def call(number: int, command: str, output: str = "", **more: Any) -> list[dict[str, Any]]:
    """A call of a shell tool, and its end."""
    name = f"call-{number}"
    return [
        {"type": "tool_start", "tool": "shell", "toolCallId": name, "args": {"command": command}},
        {"type": "tool_end", "toolCallId": name, "output": output, **more},
    ]


def places(page: Page) -> list[int]:
    """Which rows are in the page, in the order in which they stand there."""
    return page.evaluate("[...document.querySelectorAll('.entry')].map((entry) => Number(entry.dataset.n))")


def screen(page: Page) -> str:
    """What the terminal of the page shows."""
    return page.evaluate("[...document.querySelectorAll('.term-row')].map((row) => row.textContent).join('\\n')")


def clipboard(page: Page) -> str:
    return page.evaluate("navigator.clipboard.readText()")
