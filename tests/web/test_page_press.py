"""A click counts though the page changes between press and release: what is held down is drawn after the release."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from held_answers import Held, intercepts, settled
from page_home import call, live, say
from server_home import Server

SEARCH = "**/v1/search?*"
BLOCKS = "**/pty/blocks"
LONG_PRESS = "() => new Promise((resolve) => setTimeout(resolve, 300))"
"""Longer than the page waits for a click after a release."""


def press(page: Page, what: Locator) -> None:
    """Presses the button of the mouse on an element, and holds it."""
    what.hover()
    page.mouse.down()


@pytest.mark.parametrize("words", ["needle", "needle 1"])
def test_a_hit_that_is_pressed_while_an_answer_comes_is_opened(visit, talk, server: Server, words: str):
    conversation = talk()
    say(server, conversation, *[{"type": "user_message", "text": f"needle {n}"} for n in range(3)])
    page = visit(f"/#c={conversation}")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator(".hit")).to_have_count(3)
    held = Held(page, SEARCH)
    page.locator("#search-field").fill(words)
    held.wait()
    press(page, page.locator(".hit").last)
    page.evaluate(LONG_PRESS)
    held.release()
    settled(page)
    page.mouse.up()
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()
    expect(page.locator(".entry[aria-current]")).to_contain_text("needle 0")


def test_an_answer_that_comes_while_a_hit_is_pressed_is_shown_after_it(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *[{"type": "user_message", "text": f"needle {n}"} for n in range(3)])
    page = visit(f"/#c={conversation}")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator(".hit")).to_have_count(3)
    held = Held(page, SEARCH)
    page.locator("#search-field").fill("needle 1")
    held.wait()
    press(page, page.locator(".hit").last)
    held.release()
    settled(page)
    page.locator("#search-field").hover()  # no click: it is released elsewhere
    page.mouse.up()
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()


def test_a_row_that_is_pressed_while_it_changes_is_opened(visit, talk, server: Server):
    conversation = talk()
    start, end = call(1, "make test", "all is well")
    say(server, conversation, start, {"type": "tool_output", "toolCallId": "call-1", "output": "so far so good\n"})
    page = visit(f"/#c={conversation}")
    row = page.locator(".entry > article").filter(has_text="make test")
    expect(row).to_have_attribute("data-status", "running")
    press(page, row.locator("summary"))
    say(server, conversation, end)
    expect(page.locator("#said")).to_contain_text("done")
    settled(page)
    page.mouse.up()
    expect(row).to_have_attribute("data-status", "ok")
    expect(row.locator("details")).to_have_attribute("open", "")
    expect(row).to_contain_text("all is well")


def running_at_first(page: Page) -> Callable[[], None]:
    """The first command is said to run until the function is called."""
    runs = [True]

    def answer(route: Route) -> None:
        reply = route.fetch()
        said = reply.json()
        if runs:
            said["blocks"][0] |= {"done_because": None, "exit_code": None}
        route.fulfill(response=reply, body=json.dumps(said))

    page.route(BLOCKS, answer)
    intercepts(page)
    return runs.clear


def test_a_command_that_is_pressed_while_it_ends_is_shown(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_block", command="echo first")
    page = visit("/#c=none", fails=("404",))
    end = running_at_first(page)
    page.goto(f"{server.url}/#c={conversation}")
    live(page)
    item = page.locator("#command-list li").first
    expect(item).to_contain_text("running")
    expect(page.locator(".entry")).to_have_count(1)
    end()
    press(page, item.locator(".go"))
    with page.expect_response(BLOCKS):
        server.pty(conversation, "exec_block", command="echo second")
    settled(page)
    page.mouse.up()
    expect(item).to_contain_text("exit 0")
    expect(page.locator("#command-list li")).to_have_count(2)
    expect(page.locator(".entry[aria-current]")).to_contain_text("echo first")


def test_a_link_of_the_terminal_that_is_pressed_while_the_screen_changes_is_followed(visit, talk, server: Server):
    conversation = talk(cols=60, rows=10)
    address = f"{server.url}/healthz"
    server.pty(conversation, "exec_block", command=f"clear; printf '\\e]8;;{address}\\ahealth\\e]8;;\\a\\n'")
    page = visit(f"/#c={conversation}")
    link = page.locator("#rows a")
    expect(link).to_have_text("health")
    press(page, link)
    server.pty(conversation, "exec_block", command="echo next")
    expect(page.locator("#rows")).to_contain_text("next")
    with page.expect_popup() as opened:
        page.mouse.up()
    assert opened.value.url == address
