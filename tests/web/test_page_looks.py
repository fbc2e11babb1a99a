"""How the page looks: pictures of its main views for the documents, and what axe finds wrong with each of them.

`VANTAGE_GOLDEN=write make test` writes `docs/pictures/` anew; look at every picture before it is committed.
"""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from page_home import DESK, NETWORK, PHONE, live
from page_story import tell
from places import ROOT
from server_home import Server, serving

AXE = ROOT / ".venv-peers/page/node_modules/axe-core/axe.min.js"
PICTURES = ROOT / "docs/pictures"
WRITE = os.environ.get("VANTAGE_GOLDEN") == "write"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A server in which the story was told."""
    with serving(tmp_path_factory.mktemp("looks")) as server:
        tell(server, server.home)
        yield server


@pytest.fixture
def taken(tmp_path):
    """Takes a picture; it stands in the documents when it was asked for."""

    def take(page: Page, name: str) -> None:
        path = (PICTURES if WRITE else tmp_path) / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        page.screenshot(path=path)
        assert path.stat().st_size > 10_000

    return take


def check(page: Page) -> None:
    """Asserts that axe finds no serious problem."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("(rules) => axe.run(document, rules)", RULES)["violations"]
    serious = [
        f"{each['id']}: {each['help']}: " + " | ".join(node["html"][:200] for node in each["nodes"][:3])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


def story(visit, told: Server, **settings) -> Page:
    page = visit("/#c=importer", at=told, **settings)
    live(page)
    expect(page.locator("#command-list li.good").first).to_contain_text("ls -F")
    expect(page.locator("#count")).to_contain_text("rows")
    return page


def opened(page: Page) -> None:
    """Rows worth seeing are open, and in sight."""
    expect(page.locator("#count")).to_contain_text("rows")
    page.keyboard.press("g")
    expect(page.locator(".entry[data-n='1'] article")).to_be_in_viewport()
    for words in ("Update Plan", "Edit importer/rows.py"):
        page.locator("summary", has_text=words).first.click()
    page.keyboard.press("g")
    page.locator("#timeline").evaluate("(log) => log.scrollTo(0, 0)")


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_desk(visit, told, taken, scheme):
    page = story(visit, told, color_scheme=scheme)
    opened(page)
    expect(page.locator(".v-diff")).to_be_visible()
    taken(page, f"desk-{scheme}")
    check(page)
    page.keyboard.press("G")
    page.get_by_role("button", name="Expand all").click()
    check(page)
    page.get_by_role("button", name="Collapse all").click()
    page.keyboard.press("?")
    check(page)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_phone(visit, told, taken, scheme):
    page = visit("/#c=importer", at=told, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme=scheme)
    live(page)
    opened(page)
    expect(page.locator(".v-diff")).to_be_visible()
    if scheme == "dark":
        taken(page, "phone")
    check(page)
    page.get_by_role("button", name="Conversations").tap()
    check(page)
    page.get_by_role("navigation", name="Panes").get_by_role("button", name="Terminal").tap()
    expect(page.locator("#rows")).to_contain_text("48 passed")
    check(page)
    page.get_by_role("button", name="Take the keyboard").tap()
    expect(page.locator("#keys-row")).to_be_visible()
    if scheme == "light":
        taken(page, "phone-terminal")
    check(page)
    page.get_by_role("button", name="Give the keyboard back").tap()
    expect(page.locator("#keys-row")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_terminal(visit, told, taken):
    started = told.pty("importer", "exec_interactive", command="vim -u NONE -N --cmd 'syntax on' importer/rows.py")
    page = visit("/#c=importer", at=told)
    expect(page.locator("#rows")).to_contain_text("def read_rows")
    for _ in range(8):
        page.get_by_role("separator", name="Width of the terminal").press("ArrowLeft")
    page.get_by_role("button", name="Take the keyboard").click()
    expect(page.locator("#typing")).to_be_focused()
    page.keyboard.type("/yield\n")
    expect(page.locator("#rows")).to_contain_text("/yield")
    taken(page, "terminal")
    check(page)
    page.keyboard.type(":q!\n")
    page.keyboard.press("Control+\\")
    told.pty("importer", "wait_for", match="EOF", session_id=started["session_id"])
    page.get_by_role("button", name=re.compile("screen as it was after ls -F")).click()
    expect(page.locator("#rows")).not_to_contain_text("48 passed")
    expect(page.locator("#terminal-pane")).to_have_class(re.compile("past"))
    check(page)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_search(visit, told, taken, scheme):
    page = story(visit, told, color_scheme=scheme)
    page.keyboard.press("/")
    page.get_by_role("radio", name="Everywhere").check()
    page.get_by_role("combobox", name="Search").fill("row")
    expect(page.locator(".hit mark").first).to_be_visible()
    if scheme == "dark":
        taken(page, "search")
    check(page)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_a_secret_is_asked_for(visit, told, scheme):
    command = "stty -echo; printf 'Passphrase: '; read -r answer; stty echo; echo"
    told.pty("docs", "exec_block", command=command, timeout_ms=0)
    page = visit("/#c=docs", at=told, color_scheme=scheme)
    expect(page.get_by_label("asks for a secret")).to_be_visible()
    try:
        check(page)
    finally:
        told.pty("docs", "ctrl_c")
    expect(page.get_by_label("asks for a secret")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_gallery(visit, told, taken, scheme):
    page = visit("/gallery", at=told, color_scheme=scheme)
    expect(page.locator("[data-surface=slack]").last).to_contain_text("Seattle")
    if scheme == "light":
        taken(page, "gallery")
    check(page)
    page.get_by_role("textbox", name="Spec").fill('{"collapsed": {"title": 5}}')
    expect(page.locator("#verdict")).to_contain_text("collapsed.title")
    expect(page.get_by_role("textbox", name="Spec")).to_have_attribute("aria-invalid", "true")
    check(page)
    page.get_by_role("textbox", name="Spec").fill('{"collapsed": ')
    expect(page.locator("#verdict")).to_contain_text("The spec is not JSON")
    page.get_by_role("textbox", name="Spec").fill("null")
    expect(page.locator("#verdict")).to_contain_text("The spec is not an object")
    page.get_by_role("textbox", name="Spec").fill("{}")
    page.get_by_role("textbox", name="Sample call").fill("[1]")
    expect(page.locator("#verdict")).to_contain_text("The sample is not an object")
    page.get_by_role("combobox", name="Example").select_option("test_run")
    expect(page.locator("#verdict")).to_contain_text("The spec is valid.")


def test_gallery_on_a_phone(visit, told):
    page = visit("/gallery", at=told, viewport=PHONE, has_touch=True, is_mobile=True)
    expect(page.locator("#verdict")).to_contain_text("The spec is valid.")
    parts = [page.locator(name).bounding_box() for name in ("#spec", "#verdict", "#sample", ".choices", "#drawings")]
    for above, below in pairwise(parts):
        assert above["y"] + above["height"] <= below["y"] + 1, "nothing lies on anything else"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_empty(visit, taken, private_home):
    with serving(private_home) as server:
        page = visit("/", at=server, color_scheme="light", fails=NETWORK)
        live(page)
        expect(page.get_by_role("heading", name="Nothing is running yet")).to_be_visible()
        taken(page, "empty")
        check(page)
        page.set_viewport_size(PHONE)
        check(page)


def test_not_logged_in(visit, told):
    page = visit("/", at=told, log_in=False, viewport=DESK, fails=("401", *NETWORK))
    expect(page.get_by_role("heading", name="This browser is not logged in")).to_be_visible()
    check(page)


def test_every_picture_stands_in_the_documents():
    pages = "".join(path.read_text() for path in [ROOT / "README.md", *Path(ROOT / "docs").glob("*.md")])
    assert PICTURES.exists()
    for picture in PICTURES.glob("*.png"):
        assert f"pictures/{picture.name}" in pages
