"""The page's terminal when answers come late or in another order: a test holds one until the next thing is done."""

import re

from playwright.sync_api import Route, expect

from held_answers import Held, address, intercepts, settled, wait_until, with_held_messages
from page_home import live
from server_home import Server

ASKS = "stty -echo; printf 'Secret: '; read -r answer; stty echo; echo; echo \"got ${#answer} characters\""
BLOCKS = "**/pty/blocks"
SCROLLBACK = "**/pty/read_scrollback"


def screens(server: Server, conversation: str) -> None:
    """Three commands, each with a screen of its own."""
    for number in ("1st", "2nd", "3rd"):
        server.pty(conversation, "exec_block", command=f"clear; echo the {number} screen")


def test_the_command_before_is_the_last_one_while_commands_are_read(visit, talk, server: Server):
    """The list of commands may be older than the live screen: both come by ways of their own."""
    conversation = talk(cols=60, rows=10)
    screens(server, conversation)
    page, messages = with_held_messages(visit, server, conversation, "snapshot")
    expect(page.locator("#lane span")).to_have_count(3)
    held = Held(page, BLOCKS)
    back, marked = page.get_by_role("button", name="Command before"), page.locator("#command-list li[aria-current]")
    back.click()
    expect(marked).to_contain_text("3rd")
    page.get_by_role("button", name="Back to live").click()
    messages.release()
    expect(page.locator("#rows")).to_contain_text("the 3rd screen")
    back.click()
    expect(marked).to_contain_text("3rd")
    back.click()
    expect(marked).to_contain_text("2nd")
    expect(page.locator("#rows")).to_contain_text("the 2nd screen")
    held.wait()
    held.release()
    settled(page)
    expect(marked).to_contain_text("2nd")


def test_a_moment_is_shown_when_the_one_before_it_could_not_be(visit, talk, server: Server):
    conversation = talk(cols=60, rows=10)
    screens(server, conversation)
    page = visit(f"/#c={conversation}", fails=("503",))
    expect(page.locator("#lane span")).to_have_count(3)
    refused: list[Route] = []
    page.route("**/pty/read_screen", lambda route: route.continue_() if refused else refused.append(route))
    intercepts(page)
    back = page.get_by_role("button", name="Command before")
    back.click()
    wait_until(page, lambda: bool(refused), "a request for the screen")
    back.click()
    error = {"error": {"code": "busy", "message": "not now", "hint": ""}}
    refused[0].fulfill(status=503, json=error)
    expect(page.locator("#notice")).to_contain_text("not now")
    expect(page.locator("#rows")).to_contain_text("the 2nd screen")


def test_a_screen_of_the_past_that_comes_late_does_not_cover_a_later_one(visit, talk, server: Server):
    conversation = talk(cols=60, rows=10)
    screens(server, conversation)
    page = visit(f"/#c={conversation}")
    expect(page.locator("#lane span")).to_have_count(3)
    held = Held(page, "**/pty/read_screen")
    page.get_by_role("button", name=re.compile("screen as it was after .*1st")).click()
    held.wait()
    page.get_by_role("button", name="Back to live").click()
    page.get_by_role("button", name=re.compile("screen as it was after .*2nd")).click()
    held.wait(2)
    held.release_last()
    expect(page.locator("#rows")).to_contain_text("the 2nd screen")
    held.release()
    settled(page)
    expect(page.locator("#rows")).to_contain_text("the 2nd screen")


def test_the_focus_stays_in_the_list_of_commands(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_block", command="echo one")
    server.pty(conversation, "exec_block", command="sleep 1000", wait_for={"foreground": "sleep"})
    page = visit(f"/#c={conversation}")
    items = page.locator("#command-list li")
    expect(items).to_have_count(2)
    items.nth(1).locator(".go").focus()
    server.pty(conversation, "ctrl_c")
    expect(items.nth(1).locator("em")).to_have_text("exit 130")
    expect(items.nth(1).locator(".go")).to_be_focused()
    server.pty(conversation, "exec_block", command="echo two")
    expect(items).to_have_count(3)
    expect(items.nth(1).locator(".go")).to_be_focused()


def test_earlier_lines_asked_for_twice_come_once(visit, talk, server: Server):
    conversation = talk(cols=40, rows=10)
    server.pty(conversation, "exec_block", command="seq 1001 1500")
    page = visit(f"/#c={conversation}")
    earlier = page.get_by_role("button", name="Earlier lines")
    earlier.click()
    expect(page.locator("#scrollback")).to_contain_text("1450")
    held = Held(page, SCROLLBACK)
    earlier.click()
    earlier.click()
    held.wait()
    held.release()
    expect(page.locator("#scrollback")).to_contain_text("1001")
    settled(page)
    numbers = [line for line in page.locator("#scrollback").inner_text().splitlines() if line.isdigit()]
    assert len(numbers) == len(set(numbers))


def test_earlier_lines_of_another_conversation_are_not_shown(visit, talk, server: Server):
    first, second = talk(name="First", cols=40, rows=10), talk(name="Second", cols=40, rows=10)
    for conversation in (first, second):
        server.pty(conversation, "exec_block", command="seq 1001 1500")
    page = visit(f"/#c={first}")
    earlier = page.get_by_role("button", name="Earlier lines")
    expect(earlier).to_be_visible()
    held = Held(page, f"**/conversations/{first}/pty/read_scrollback")
    earlier.click()
    held.wait()
    address(page, second)
    expect(page.locator("h1")).to_have_text("Second")
    expect(page.locator("#rows")).to_contain_text("1500")
    held.release()
    settled(page)
    expect(page.locator("#scrollback")).to_be_hidden()


def test_a_shell_is_started_only_in_the_conversation_of_the_button(visit, talk, server: Server):
    first, second = talk(name="First"), talk(name="Second")
    for conversation in (first, second):
        server.pty(conversation, "exec_block", command="true")
    shell = server.pty(second, "status")["shell_id"]
    page, messages = with_held_messages(visit, server, first)
    page.get_by_role("button", name="Take the keyboard").click()
    expect(page.locator("#typing")).to_be_focused()
    page.keyboard.type("exit\n")
    expect(page.locator("#terminal-state")).to_contain_text("no shell")
    messages.hold("pty_state")
    page.get_by_role("button", name="Start a shell").click()
    messages.wait()  # the keyboard was given back, and the page does not know it yet
    address(page, second)
    expect(page.locator("h1")).to_have_text("Second")
    settled(page)
    messages.release()
    expect(page.locator("#terminal-state")).to_contain_text("idle")
    assert server.pty(second, "status")["shell_id"] == shell
    assert [
        each for each in messages.sent if each["type"] == "take_keyboard" and each["conversation_id"] == second
    ] == []


def test_an_answer_to_a_secret_waits_for_no_other_conversation(visit, talk, server: Server):
    first, second = talk(name="First"), talk(name="Second")
    for conversation in (first, second):
        server.pty(conversation, "exec_block", command="true")
    page, messages = with_held_messages(visit, server, first)
    live(page)
    expect(page.locator("#take")).to_be_enabled()
    Held(page, f"**/conversations/{first}/pty/status")  # the page would learn there who has the keyboard
    server.pty(first, "exec_block", command=ASKS, timeout_ms=0)
    expect(page.locator("#secret-field")).to_be_visible()
    messages.hold("pty_state")
    page.locator("#secret-field").fill("correct horse")
    page.keyboard.press("Enter")
    messages.wait()  # the keyboard was taken, and the page does not know it yet
    address(page, second)
    expect(page.locator("h1")).to_have_text("Second")
    messages.release()
    page.get_by_role("button", name="Take the keyboard").click()
    expect(page.locator("#typing")).to_be_focused()
    page.keyboard.type("echo on-$((6 + 6))\n")
    expect(page.locator("#rows")).to_contain_text("on-12")
    assert [each for each in messages.sent if each["type"] == "input" and each.get("secret")] == []
    assert server.pty(first, "status")["keyboard"] == "agent", "it is given back where it was taken"


def test_a_keyboard_that_comes_late_does_not_take_the_focus_from_a_field(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_block", command="true")
    page, messages = with_held_messages(visit, server, conversation)
    expect(page.locator("#take")).to_be_enabled()
    messages.hold("pty_state")
    page.get_by_role("button", name="Take the keyboard").click()
    messages.wait()
    field = page.get_by_role("searchbox", name="Filter conversations")
    field.click()
    page.keyboard.type("ab")
    messages.release()
    expect(page.get_by_role("button", name="Give the keyboard back")).to_be_visible()
    page.keyboard.type("cd")
    expect(field).to_have_value("abcd")
