"""The page when answers come late or in another order: a test holds an answer until the next thing is done."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from held_answers import Held, address, settled, with_held_messages
from page_home import NETWORK, call, live, say, stack_with_a_needle
from server_home import Server
from vantage.server.http.routes.static import version

ROWS = "**/rows?*"
SEARCH = "**/v1/search?*"
LIST = "**/v1/conversations"


def module(page: Page, name: str, body: str) -> Any:
    """What a function of a module's exports returns, in the page."""
    return page.evaluate(f"async () => {{ const made = await import('/static/{version()}/{name}'); {body} }}")


# search


def press_at_once(page: Page, *keys: str) -> None:
    """Keys in one task: the browser takes the focus from a closed dialog only after it."""
    page.evaluate(
        """(keys) => {
            const make = (key) => new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
            for (const key of keys) document.activeElement.dispatchEvent(make(key));
        }""",
        list(keys),
    )


def test_a_key_right_after_a_dialog_closed_is_a_shortcut(visit, talk):
    page = visit(f"/#c={talk()}")
    live(page)
    search = page.get_by_role("dialog", name="Search")
    page.keyboard.press("/")
    expect(page.locator("#search-field")).to_be_focused()
    press_at_once(page, "Escape", "/")
    expect(search).to_be_visible()
    expect(page.locator("#search-field")).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Rename this conversation").click()
    press_at_once(page, "Enter", "/")
    expect(search).to_be_visible()


def test_enter_before_the_answer_opens_a_hit_of_the_words_in_the_field(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *[{"type": "user_message", "text": text} for text in ("a needle", "a thread", "more")])
    page = visit(f"/#c={conversation}")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator(".hit")).to_contain_text("a needle")
    held = Held(page, SEARCH)
    page.locator("#search-field").fill("thread")
    page.keyboard.press("Enter")
    held.wait()
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()
    held.release()
    expect(page.locator(".entry[aria-current]")).to_contain_text("a thread")
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()


def test_a_closed_search_opens_no_late_hit(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, {"type": "user_message", "text": "a needle"})
    page = visit(f"/#c={conversation}")
    held = Held(page, SEARCH)
    page.keyboard.press("/")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    held.wait()
    page.keyboard.press("Escape")
    held.release()
    page.keyboard.press("/")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()
    assert "seq=" not in page.url


def test_hits_of_another_conversation_are_not_offered(visit, talk, server: Server):
    here, there = talk(name="Here"), talk(name="There")
    say(server, here, {"type": "user_message", "text": "a needle here"})
    say(server, there, {"type": "user_message", "text": "a needle there"}, {"type": "user_message", "text": "more"})
    page = visit(f"/#c={here}")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator(".hit")).to_contain_text("a needle here")
    page.keyboard.press("Escape")
    held = Held(page, SEARCH)
    address(page, there)
    expect(page.locator("h1")).to_have_text("There")
    page.keyboard.press("/")
    expect(page.locator(".hit")).to_have_count(0)
    page.keyboard.press("Enter")
    held.wait()
    held.release()
    expect(page.locator(".entry[aria-current]")).to_contain_text("a needle there")


def test_the_chosen_hit_stays_chosen_when_the_answer_comes_again(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *[{"type": "user_message", "text": f"needle {n}"} for n in range(2)])
    page = visit(f"/#c={conversation}")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator(".hit")).to_have_count(2)
    page.keyboard.press("Escape")
    say(server, conversation, {"type": "user_message", "text": "needle 2"})
    held = Held(page, SEARCH)
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".hit[aria-selected=true] .text")
    words = chosen.inner_text()
    held.wait()
    held.release()
    expect(page.locator(".hit")).to_have_count(3)
    expect(chosen).to_have_text(words)


# moves in the timeline


@pytest.mark.parametrize("move", ["key", "wheel", "button"])
def test_a_later_move_ends_one_that_waits_for_rows(visit, talk, server: Server, move):
    conversation = talk()
    needle = stack_with_a_needle(server, conversation)
    page = visit(f"/#c={conversation}")
    expect(page.get_by_text("more hay 399", exact=True)).to_be_visible()
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -300)
    expect(page.locator("#latest")).to_be_visible()
    held = Held(page, ROWS)
    address(page, conversation, needle)
    held.wait()
    if move == "key":
        page.keyboard.press("G")
    elif move == "button":
        page.locator("#latest").click()
    else:
        page.mouse.wheel(0, 3000)
    expect(page.locator("#latest")).to_be_hidden()
    held.release()
    settled(page)
    expect(page.locator("#latest")).to_be_hidden()
    assert page.locator(".entry", has_text="the needle of this stack").count() == 0


def test_a_late_row_does_not_take_the_focus_from_a_field(visit, talk, server: Server):
    conversation = talk()
    needle = stack_with_a_needle(server, conversation)
    page = visit(f"/#c={conversation}")
    expect(page.get_by_text("more hay 399", exact=True)).to_be_visible()
    held = Held(page, ROWS)
    address(page, conversation, needle)
    held.wait()
    field = page.get_by_role("searchbox", name="Filter conversations")
    field.click()
    page.keyboard.type("ab")
    held.release()
    expect(page.locator(".entry[aria-current]")).to_contain_text("the needle of this stack")
    page.keyboard.type("cd")
    expect(field).to_have_value("abcd")


def test_a_move_after_the_address_holds_when_the_snapshot_comes(visit, talk, server: Server):
    conversation = talk(name="Slow")
    needle = stack_with_a_needle(server, conversation)
    page, messages = with_held_messages(visit, server, conversation, "snapshot", seq=needle)
    messages.wait()
    page.keyboard.press("g")
    messages.release()
    expect(page.get_by_text("hay 0", exact=True)).to_be_in_viewport()
    settled(page)
    expect(page.get_by_text("hay 0", exact=True)).to_be_in_viewport()


def test_rows_are_fetched_while_those_of_the_conversation_before_are_on_their_way(visit, talk, server: Server):
    first, second = talk(name="First"), talk(name="Second")
    stack_with_a_needle(server, first)
    stack_with_a_needle(server, second, "straw")
    page = visit(f"/#c={first}")
    expect(page.get_by_text("more hay 399", exact=True)).to_be_visible()
    held = Held(page, f"**/conversations/{first}/rows?*")
    page.keyboard.press("g")
    held.wait()
    address(page, second)
    expect(page.get_by_text("more straw 399", exact=True)).to_be_visible()
    page.keyboard.press("g")
    expect(page.get_by_text("straw 0", exact=True)).to_be_in_viewport()
    held.release()


@pytest.mark.parametrize("more", [100, 300], ids=["resumed by the tail", "resumed by a snapshot"])
def test_rows_that_changed_before_a_fetched_one_are_there_after_a_resume(visit, talk, server: Server, more):
    conversation = talk()
    begun, ended = call(1, "make", "made\n")
    words = [{"type": "user_message", "text": f"word {n}"} for n in range(100 + more)]
    say(server, conversation, begun, *words[:100])
    page, messages = with_held_messages(visit, server, conversation, fails=NETWORK)
    row = page.locator(".entry[data-n='1'] article")
    page.keyboard.press("g")
    expect(row).to_have_attribute("data-status", "running")
    messages.hold("row", "snapshot")
    last = say(server, conversation, ended, *words[100:])
    messages.wait()
    address(page, conversation, last)  # fetched, not told
    expect(page.locator(".entry[aria-current]")).to_contain_text(f"word {99 + more}")
    page.context.set_offline(True)
    expect(page.locator("#link")).to_have_attribute("data-state", "offline")
    messages.drop()
    page.context.set_offline(False)
    live(page)
    expect(page.locator("#count")).to_have_text(f"{101 + more} rows")
    page.keyboard.press("g")
    expect(row).to_have_attribute("data-status", "ok")


def test_a_row_that_a_later_snapshot_leaves_out_is_fetched_again(visit, talk, server: Server):
    conversation = talk()
    begun, ended = call(1, "make", "made\n")
    say(server, conversation, begun)
    page = visit(f"/#c={conversation}")
    row = page.locator(".entry[data-n='1'] article")
    expect(row).to_have_attribute("data-status", "running")
    say(server, conversation, ended, *[{"type": "user_message", "text": f"word {n}"} for n in range(300)])
    expect(page.locator("#count")).to_have_text("301 rows")
    page.keyboard.press("g")
    expect(row).to_have_attribute("data-status", "ok")


# conversations


def test_an_older_list_of_conversations_does_not_replace_a_newer_one(visit, talk):
    talk(name="Alpha")
    page = visit("/")
    live(page)
    expect(page.locator(".conversation", has_text="Alpha")).to_be_visible()
    held = Held(page, LIST)
    look = "document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(look)
    held.wait(1)
    talk(name="Beta")
    page.evaluate(look)
    held.wait(2)
    held.release_last()
    expect(page.locator(".conversation", has_text="Beta")).to_be_visible()
    held.release_last()
    settled(page)
    expect(page.locator(".conversation", has_text="Beta")).to_be_visible()


def test_a_conversation_that_is_made_slowly_does_not_leave_the_one_opened_meanwhile(visit, talk, server: Server):
    first, second = talk(name="First"), talk(name="Second")
    page = visit(f"/#c={first}")
    live(page)
    held = Held(page, LIST)
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/v1/conversations")):
        page.locator("#new").click()
    address(page, second)
    expect(page.locator("h1")).to_have_text("Second")
    held.wait()
    held.release()
    expect(page.locator(".conversation")).to_have_count(len(server.get("/v1/conversations").json["conversations"]))
    assert page.url.endswith(f"#c={second}")


def test_an_answer_renames_the_conversation_that_was_asked_about(visit, talk, server: Server):
    first, second = talk(name="First"), talk(name="Second")
    page = visit(f"/#c={first}")
    live(page)
    page.get_by_role("button", name="Rename this conversation").click()
    address(page, second)
    expect(page.locator("h1")).to_have_text("Second")
    page.get_by_role("textbox", name="Rename this conversation").fill("Renamed")
    page.keyboard.press("Enter")
    expect(page.locator(".conversation", has_text="Renamed")).to_be_visible()
    assert server.get(f"/v1/conversations/{first}").json["name"] == "Renamed"
    assert server.get(f"/v1/conversations/{second}").json["name"] == "Second"


# the order itself


def test_a_step_asked_for_while_it_runs_runs_once_more_after_it(visit):
    page = visit("/")
    log = module(
        page,
        "parts/async_order.js",
        """
        const log = [], ends = [];
        const step = made.inTurn(async () => {
            log.push("begins");
            await new Promise((end) => ends.push(end));
            log.push("ends");
        });
        const first = step();
        step();
        const last = step();
        ends[0]();
        await new Promise((next) => setTimeout(next));
        ends[1]();
        await Promise.all([first, last]);
        log.push("idle");
        step();
        return log;
        """,
    )
    assert log == ["begins", "ends", "begins", "ends", "idle", "begins"]


def test_a_width_that_changes_during_the_greeting_is_told_after_it(visit):
    page = visit("/")
    sent = module(
        page,
        "connection/socket.js",
        """
        const sent = [], real = window.WebSocket;
        class Socket extends EventTarget {
            static OPEN = 1;
            readyState = 1;
            send(text) { sent.push(JSON.parse(text)); }
            close() {}
        }
        window.WebSocket = Socket;
        const link = new made.Link("web-test", { onState() {}, onMessage() {}, denied: async () => false });
        link.present({ content_width: 100 });
        link.connect();
        link.socket.dispatchEvent(new Event("open"));
        link.present({ content_width: 40 });
        link.socket.dispatchEvent(new MessageEvent("message", { data: JSON.stringify({ type: "welcome" }) }));
        window.WebSocket = real;
        return sent.map(({ type, presentation }) => [type, presentation.content_width]);
        """,
    )
    assert json.loads(json.dumps(sent)) == [["hello", 100], ["client_config", 40]]
