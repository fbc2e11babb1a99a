"""Answers that reach the page when a test says so: a test forces an order of answers instead of waiting for load.

`Held` keeps the answers to HTTP requests, `HeldMessages` the messages of the socket.
"""

import json
import secrets
from collections.abc import Callable
from time import monotonic
from typing import Any

from playwright.sync_api import APIResponse, Page, Route, expect

from server_home import Server

TIMEOUT_S = 30
FRAME = "new Promise((resolve) => { requestAnimationFrame(resolve); setTimeout(resolve, 1000); })"
"""The next frame. A browser that draws none does not hold a test up: `evaluate` has no time limit of its own."""


def wait_until(page: Page, is_true: Callable[[], bool], what: str) -> None:
    """Waits, frame by frame, while the page and its handlers run."""
    deadline = monotonic() + TIMEOUT_S
    while not is_true():
        assert monotonic() < deadline, f"never seen in {TIMEOUT_S} s: {what}"
        page.evaluate(f"() => {FRAME}")


def intercepts(page: Page) -> None:
    """Until the page's requests reach its routes: the browser lets some pass just after the first route was made."""
    seen: list[Route] = []
    address = f"/healthz?route={secrets.token_hex(4)}"

    def answer(route: Route) -> None:
        seen.append(route)
        route.fulfill(body="{}")

    page.route(f"**{address}", answer)
    deadline = monotonic() + TIMEOUT_S
    while not seen:
        assert monotonic() < deadline, f"no request of the page reached a route in {TIMEOUT_S} s"
        fetch(page, address)
    page.unroute(f"**{address}", answer)


def fetch(page: Page, address: str) -> None:
    page.evaluate("(address) => fetch(address, { signal: AbortSignal.timeout(30000) })", address)


class Held:
    """The answers to requests whose address matches, in the order of the requests."""

    def __init__(self, page: Page, address: str) -> None:
        self._page = page
        self._address = address
        self._routes: list[Route] = []
        self._answers: dict[Route, APIResponse] = {}
        self._holds = True
        page.route(address, self._take)
        intercepts(page)

    def _take(self, route: Route) -> None:
        if self._holds:
            self._routes.append(route)
        else:
            route.continue_()

    def wait(self, count: int = 1) -> None:
        """Until so many requests are held. They are answered now: what is let through later is as old as this call."""
        wait_until(self._page, lambda: len(self._routes) >= count, f"{count} requests of {self._address}")
        for route in self._routes:
            if route not in self._answers:
                self._answers[route] = route.fetch()

    def release_last(self) -> None:
        """Lets the newest answer through; the older ones stay."""
        self._pass_on(self._routes.pop())

    def release(self) -> None:
        """Lets every answer through, and holds no more."""
        self._holds = False
        while self._routes:
            self._pass_on(self._routes.pop(0))

    def _pass_on(self, route: Route) -> None:
        answer = self._answers.pop(route, None)
        if answer is None:
            route.continue_()
        else:
            route.fulfill(response=answer)


class HeldMessages:
    """Messages of the page's next sockets whose type is named, in order. `sent` is all that the page has sent."""

    def __init__(self, page: Page, *types: str) -> None:
        self._page = page
        self._types = types
        self._messages: list[tuple[Any, str | bytes]] = []
        self.sent: list[dict[str, Any]] = []
        page.route_web_socket("**/v1/ws", self._connect)

    def _connect(self, socket: Any) -> None:
        server = socket.connect_to_server()

        def from_server(message: str | bytes) -> None:
            if json.loads(message)["type"] in self._types:
                self._messages.append((socket, message))
            else:
                socket.send(message)

        def from_page(message: str | bytes) -> None:
            self.sent.append(json.loads(message))
            server.send(message)

        server.on_message(from_server)
        socket.on_message(from_page)

    def hold(self, *types: str) -> None:
        """Other types from now on; those that are held stay so."""
        self._types = types

    def wait(self, count: int = 1) -> None:
        wait_until(self._page, lambda: len(self._messages) >= count, f"{count} messages of {self._types}")

    def drop(self) -> None:
        """Forgets what is held, as a lost connection does, and holds no more."""
        self._types = ()
        self._messages.clear()

    def release(self) -> None:
        """Lets every message through, and holds no more."""
        self._types = ()
        for socket, message in self._messages:
            socket.send(message)
        self._messages.clear()


def address(page: Page, conversation: str, seq: int = 0) -> None:
    """Goes there as a link does."""
    page.evaluate("(hash) => { location.hash = hash; }", f"#c={conversation}" + (f"&seq={seq}" if seq else ""))


def settled(page: Page) -> None:
    """Until answers that were let through are drawn: a later answer is here, and two frames have passed."""
    fetch(page, "/healthz")
    page.evaluate(f"async () => {{ for (const _ of [1, 2]) await {FRAME}; }}")


def with_held_messages(
    visit: Callable[..., Page],
    server: Server,
    conversation: str,
    *types: str,
    seq: int = 0,
    fails: tuple[str, ...] = (),
) -> tuple[Page, HeldMessages]:
    """A page that shows a conversation, and the messages of its socket."""
    page = visit("/#c=none", fails=("404", *fails))
    messages = HeldMessages(page, *types)
    page.goto(f"{server.url}/#c={conversation}" + (f"&seq={seq}" if seq else ""))
    page.reload()  # another hash alone is no navigation
    expect(page.locator("html")).to_have_attribute("data-ready", "true")
    return page, messages
