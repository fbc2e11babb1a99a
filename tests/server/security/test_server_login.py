"""Logging in with a browser: a link, a link that was used, a pasted token, and out again."""

import http.server
import json
import os
import re
import stat
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import expect

from command_line import CommandLine
from page_home import live, say
from terminal_home import PATIENCE


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


ASK = """async () => {
    const { token } = JSON.parse(localStorage.getItem("vantage-session"));
    return (await fetch("/v1/tools", { headers: { Authorization: `Bearer ${token}` } })).status; }"""


def link(server):
    return server.post("/v1/links").json["url"]


BROWSER = """#!/bin/sh
# a browser as another user of the machine sees it: by the arguments of all processes
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' > {place}/seen
printf '%s' "$1" > {place}/address.part
mv {place}/address.part {place}/address
"""


@pytest.fixture
def opening(server, tmp_path):
    """`vantage open` with a browser that only writes down what it was given."""
    browser = tmp_path / "browser"
    browser.write_text(BROWSER.format(place=tmp_path))
    browser.chmod(0o755)
    with CommandLine(server.home, DISPLAY=":0", BROWSER=f"{browser} %s") as vantage:
        yield vantage, tmp_path


def given_to(place):
    """The address that the browser was given."""
    until = time.monotonic() + PATIENCE
    while not (place / "address").exists():
        assert time.monotonic() < until, "no browser was started"
        time.sleep(0.02)
    return (place / "address").read_text()


def test_open_shows_the_link_to_no_other_user(window, server, opening):
    vantage, place = opening
    running = vantage.start("open", "--wait", "120")
    address = given_to(place)
    file = Path(unquote(urlsplit(address).path))
    secret = re.search(r"login#([\w-]{20,})", file.read_text())[1]
    assert secret not in (place / "seen").read_text()
    assert str(file) in (place / "seen").read_text()
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
    window.goto(address)
    expect(window).to_have_url(page_of(server))
    live(window)
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out, err.decode()) == (0, b"", f"vantage: Opened {server.url} in your browser.\n")
    assert not file.exists()


def test_open_prints_the_link_when_the_browser_does_not_use_it(server, opening):
    vantage, place = opening
    ran = vantage.run("open", "--wait", "0.1")
    assert (ran.code, ran.err) == (0, "vantage: No browser has used the link yet. It works here, too:\n")
    assert server.post("/login", {"secret": ran.out.strip().partition("#")[2]}, token="").status == 200
    file = Path(unquote(urlsplit(given_to(place)).path))
    os.utime(file, (0, 0))  # long ago
    vantage.run("open", "--wait", "0.1")
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "started"), [("firefox_firefox.desktop", False), ("chromium.desktop", True)], ids=["snap", "package"]
)
def test_a_browser_that_cannot_read_the_file_is_not_started(server, tmp_path, name, started):
    programs = {"xdg-settings": f"echo {name}", "xdg-open": f"echo > {tmp_path}/address"}
    for program, does in programs.items():
        (tmp_path / program).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / program).chmod(0o755)
    with CommandLine(server.home, DISPLAY=":0", PATH=str(tmp_path)) as vantage:
        ran = vantage.run("open", "--wait", "0")
    if started:
        given_to(tmp_path)
    assert (tmp_path / "address").exists() is started
    assert server.post("/login", {"secret": ran.out.strip().partition("#")[2]}, token="").status == 200


def test_the_demo_shows_its_link_to_no_other_user(server, opening):
    vantage, place = opening
    vantage.run("demo", "--detach", "--pace", "0")
    file = Path(unquote(urlsplit(given_to(place)).path))
    secret = re.search(r"login#([\w-]{20,})", file.read_text())[1]
    assert secret not in (place / "seen").read_text()


def page_of(server):
    """The page's address, whatever it shows first: the conversation that was used last, where there is one."""
    return re.compile(rf"{re.escape(server.url)}/(#c=[\w.-]+)?$")


def test_a_link_logs_in_and_leaves_no_trace(window, server):
    url = link(server)
    window.goto(url)
    expect(window).to_have_url(page_of(server))
    live(window)
    assert window.context.cookies() == []
    assert window.evaluate(ASK) == 200
    assert window.evaluate("async () => (await fetch('/v1/tools')).status") == 401, "the browser sends nothing itself"
    kept = window.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert url.partition("#")[2] not in kept
    session = window.evaluate("JSON.parse(localStorage.getItem('vantage-session'))")
    assert session["device"] == "Chromium on Linux"
    window.goto(url)  # it was used before, but by this very browser
    expect(window).to_have_url(page_of(server))
    window.go_back()
    live(window)  # Chromium may not close a window in the middle of a step back
    assert "#" not in window.url or "#c=" in window.url, "nor is the secret in the history"
    assert not [said for said in window.complaints if "401" not in said]


def test_a_link_works_where_the_login_page_is_shown_already(window, server):
    window.goto(f"{server.url}/login")
    expect(window.get_by_label("Token")).to_be_focused()
    window.goto(link(server))
    expect(window).to_have_url(page_of(server))
    live(window)


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
    assert window.evaluate("localStorage.getItem('vantage-session')") is None
    assert not [said for said in window.complaints if "401" not in said]


@contextmanager
def another_program():
    """Something else that listens on a port of this machine: its address, and the headers of every request to it."""
    seen = []

    class Foreign(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(dict(self.headers))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><link rel=icon href=data:,><title>another program</title>")

        def log_message(self, *_):
            pass

    foreign = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    thread = threading.Thread(target=foreign.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{foreign.server_port}/", seen
    finally:
        foreign.shutdown()
        foreign.server_close()
        thread.join()


def test_a_link_to_another_port_gives_nothing_away(window, server):
    """An agent's message has one, and a person clicks it on the page: the program there may be another user's."""
    with another_program() as (url, seen), server.conversation() as conversation:
        say(server, conversation, {"type": "assistant_text", "text": f"See [the preview]({url})."})
        window.set_viewport_size({"width": 1200, "height": 800})
        window.goto(link(server))
        expect(window).to_have_url(page_of(server))
        window.goto(f"{server.url}/#c={conversation}")
        live(window)
        with window.context.expect_page() as opened:
            window.get_by_role("link", name="the preview").click()
        expect(opened.value).to_have_title("another program")
        assert opened.value.evaluate("window.opener") is None
        window.goto(url)  # typed into the address bar
        expect(window).to_have_title("another program")
        assert len(seen) >= 2
        for headers in seen:
            kept = {name: value for name, value in headers.items() if name in ("Cookie", "Authorization")}
            assert server.get("/v1/conversations", token="", headers=kept).status == 401, headers
            assert "Referer" not in headers
        assert window.context.cookies() == []


def test_a_page_of_another_origin_gets_nothing(window, server):
    """From another port of this machine, which browsers take for the same site."""
    window.goto(link(server))
    expect(window).to_have_url(page_of(server))
    with another_program() as (url, _):
        window.goto(url)
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


def test_logging_out_on_the_page_ends_the_session_in_every_tab(window, server):
    window.set_viewport_size({"width": 1200, "height": 800})
    window.goto(link(server))
    expect(window).to_have_url(page_of(server))
    live(window)
    token = window.evaluate("JSON.parse(localStorage.getItem('vantage-session')).token")
    other = window.context.new_page()
    other.goto(server.url)
    live(other)
    window.get_by_role("button", name="Settings and help").click()
    window.get_by_role("button", name="Log out", exact=True).click()
    for tab in (window, other):
        expect(tab.get_by_role("heading", name="This browser is not logged in")).to_be_visible()
    assert server.get("/v1/tools", token=token).status == 401
    other.goto(link(server))  # and in again, in one of them
    live(other)
    live(window)
    other.close()


def test_another_session_is_another_client(window, server):
    """A client's name belongs to its session: one that logs in again has another name, also in the same tab."""
    said = []
    window.on("websocket", lambda ws: ws.on("framesent", lambda text: said.append(json.loads(text))))

    def names():
        return {each["token"]: each["client_id"] for each in said if each["type"] == "hello"}

    with server.conversation() as conversation:
        say(server, conversation, {"type": "user_message", "text": "to be seen"})
        for number in (1, 2):
            window.goto("about:blank")
            window.goto(link(server))
            expect(window).to_have_url(page_of(server))
            window.goto(f"{server.url}/#c={conversation}")
            window.reload()
            expect(window.get_by_text("to be seen")).to_be_visible()
            assert len(names()) == number
    assert len(set(names().values())) == 2


def test_a_browser_is_logged_out_from_another(window, server):
    window.set_viewport_size({"width": 1200, "height": 800})
    phone = server.post("/login", {"token": server.token}, token="", headers={"User-Agent": "iPhone Safari/604.1"}).json
    window.goto(link(server))
    expect(window).to_have_url(page_of(server))
    live(window)
    window.get_by_role("button", name="Settings and help").click()
    window.get_by_role("button", name="Logged-in browsers…").click()
    dialog = window.get_by_role("dialog", name="Logged-in browsers")
    here = dialog.get_by_role("listitem").filter(has_text="this browser")
    expect(here).to_have_count(1)
    expect(here).to_contain_text("Chromium on Linux")
    listed = dialog.get_by_role("listitem").filter(has_text="Safari on iPhone")
    listed.get_by_role("button").click()
    expect(listed).to_have_count(0)
    assert server.get("/v1/tools", token=phone["token"]).status == 401
    here.get_by_role("button").click()
    expect(window.get_by_role("heading", name="This browser is not logged in")).to_be_visible()


def test_a_session_that_was_ended_elsewhere_is_noticed(window, server):
    window.goto(link(server))
    expect(window).to_have_url(page_of(server))
    live(window)
    session = window.evaluate("JSON.parse(localStorage.getItem('vantage-session'))")
    assert server.ask("DELETE", f"/v1/sessions/{session['id']}").status == 200
    expect(window.get_by_role("heading", name="This browser is not logged in")).to_be_visible()
    assert window.evaluate("localStorage.getItem('vantage-session')") is None


def test_an_export_is_saved_from_the_page(window, server, tmp_path):
    window.set_viewport_size({"width": 1200, "height": 800})
    with server.conversation(name="Kept") as conversation:
        say(server, conversation, {"type": "user_message", "text": "to be kept"})
        window.goto(link(server))
        expect(window).to_have_url(page_of(server))
        window.goto(f"{server.url}/#c={conversation}")
        live(window)
        window.get_by_role("button", name="Settings and help").click()
        with window.expect_download() as saving:
            window.get_by_role("button", name="Export this conversation").click()
        saving.value.save_as(tmp_path / "saved.html")
        assert saving.value.suggested_filename == f"{conversation}.html"
        assert "to be kept" in (tmp_path / "saved.html").read_text()
        assert not window.complaints
