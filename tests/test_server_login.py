"""Logging in with a browser: a link, a link that was used, a pasted token, and out again."""

import re

import pytest
from playwright.sync_api import expect


@pytest.fixture
def window(browser):
    """A browser that knows nothing. What it complains about is kept."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en-GB")
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda said: page.complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    context.close()


def link(server):
    return server.post("/v1/links").json["url"]


def page_of(server):
    """The page's address, whatever it shows first: the conversation that was used last, where there is one."""
    return re.compile(rf"{re.escape(server.url)}/(#c=[\w.-]+)?$")


def test_a_link_logs_in_and_leaves_no_trace(window, server):
    url = link(server)
    window.goto(url)
    expect(window).to_have_url(page_of(server))
    cookie = next(each for each in window.context.cookies() if each["name"] == f"vantage_{server.port}")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert window.evaluate("document.cookie") == ""
    assert window.evaluate("async () => (await fetch('/v1/tools')).status") == 200
    window.goto(url)  # it was used before, but by this very browser
    expect(window).to_have_url(page_of(server))
    assert not [said for said in window.complaints if "401" not in said]


def test_a_used_link_says_what_to_do_and_a_token_does_it(window, server):
    used = link(server)
    server.post("/login", {"secret": used.partition("#")[2]}, token="")
    window.goto(used)
    expect(window.get_by_role("status")).to_have_text("This link was used before, or is too old.")
    expect(window.get_by_text("vantage open")).to_be_visible()
    assert window.url == f"{server.url}/login"
    field = window.get_by_label("Token")
    expect(field).to_be_focused()
    field.fill("wrong")
    field.press("Enter")
    expect(window.get_by_role("status")).to_have_text("This token is not valid.")
    field.fill(server.token)
    window.get_by_role("button", name="Log in").click()
    expect(window).to_have_url(page_of(server))
    window.goto(f"{server.url}/login")
    expect(window.get_by_role("status")).to_have_text("You are logged in.")
    window.get_by_role("button", name="Log out").click()
    expect(window.get_by_role("status")).to_have_text("You are logged out.")
    assert window.evaluate("async () => (await fetch('/v1/tools')).status") == 401
    assert not [said for said in window.complaints if "401" not in said]


def test_a_page_of_somebody_else_gets_nothing(window, server):
    """From another port of this machine, which browsers take for the same site."""
    import http.server
    import threading

    class Foreign(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>other</title>")

        def log_message(self, *_):
            pass

    window.goto(link(server))
    expect(window).to_have_url(page_of(server))
    foreign = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    thread = threading.Thread(target=foreign.serve_forever)
    thread.start()
    try:
        window.goto(f"http://127.0.0.1:{foreign.server_port}/")
        ask = """async ([url, how]) => {
            try { const answer = await fetch(url, how); return `${answer.type} ${answer.status}`; }
            catch (error) { return "refused"; } }"""
        base = f"{server.url}/v1"
        for how in ({"credentials": "include"}, {"credentials": "include", "method": "POST", "body": "{}"}):
            assert window.evaluate(ask, [f"{base}/conversations", how]) == "refused"
        blind = {"credentials": "include", "mode": "no-cors", "method": "POST", "body": '{"id": "made-by-a-stranger"}'}
        window.evaluate(ask, [f"{base}/conversations", blind])
        assert server.get("/v1/conversations/made-by-a-stranger").status == 404
        opened = """(url) => new Promise((done) => {
            const socket = new WebSocket(url);
            socket.onopen = () => done("open");
            socket.onerror = () => done("refused"); })"""
        assert window.evaluate(opened, f"ws://127.0.0.1:{server.port}/v1/ws") == "refused"
    finally:
        foreign.shutdown()
        foreign.server_close()
        thread.join()
