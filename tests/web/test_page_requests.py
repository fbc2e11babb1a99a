"""Requests on the page: a card while one is open, one answer, and what became of it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from held_answers import Held, intercepts
from page_home import NETWORK, PHONE, live
from server_home import Server, serving
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.event_log import EventLog
from vantage.events import decode_event
from vantage.server.security.tokens import Tokens

OPTIONS = [
    {"id": "once", "label": "Allow once", "kind": "allow", "scope": "once"},
    {"id": "always", "label": "Allow rm", "kind": "allow", "scope": "always"},
    {"id": "no", "label": "Deny, and say why", "kind": "deny", "needs_text": True},
]
APPROVAL = {
    "kind": "approval",
    "title": "Claude wants to use Bash",
    "tool": "Bash",
    "args": {"command": "rm -rf build", "timeout": 600},
    "cwd": "/home/ada/shop",
    "text": "The build is *stale*.",
    "options": OPTIONS,
}


def ask(server: Server, conversation: str, **fields: Any) -> dict[str, Any]:
    answer = server.post(f"/v1/conversations/{conversation}/requests", fields)
    assert answer.status == 200, answer.body
    return answer.json


def state(server: Server, conversation: str, asked: dict[str, Any]) -> dict[str, Any]:
    return server.get(f"/v1/conversations/{conversation}/requests/{asked['request_id']}").json


def row(page: Page) -> Locator:
    return page.locator("article.v-request").last


def shown(visit, server: Server, conversation: str, **settings: Any) -> Locator:
    page = visit(f"/#c={conversation}", **settings)
    live(page)
    expect(row(page)).to_be_visible()
    return row(page)


@pytest.fixture
def asked(talk, server: Server):
    conversation = talk()
    return conversation, ask(server, conversation, **APPROVAL)


def test_an_approval_shows_what_is_decided_and_takes_one_press(visit, server: Server, asked):
    conversation, request = asked
    card = shown(visit, server, conversation)
    expect(card).to_have_attribute("data-status", "waiting")
    for part in ("Asks: Run rm -rf build", "/home/ada/shop", "timeout", "The build is stale."):
        expect(card).to_contain_text(part)
    card.get_by_role("button", name="Allow once").click()
    expect(card).to_have_attribute("data-status", "ok")
    expect(card).to_contain_text("Asked: Run rm -rf build")
    expect(card.locator(".v-outcome")).to_contain_text("Allow once")
    expect(card.get_by_role("button", name="Allow")).to_have_count(0)
    assert state(server, conversation, request)["answer"]["option"] == "once"


def test_it_is_answered_with_the_keyboard_alone(visit, server: Server, asked):
    conversation, request = asked
    card = shown(visit, server, conversation)
    card.page.locator("#timeline").focus()
    card.page.keyboard.press("j")
    for _ in range(20):
        card.page.keyboard.press("Tab")
        if card.get_by_role("button", name="Allow rm").evaluate("(button) => button === document.activeElement"):
            break
    expect(card.get_by_role("button", name="Allow rm from now on")).to_be_focused()
    card.page.keyboard.press("Enter")
    expect(card).to_have_attribute("data-status", "ok")
    assert state(server, conversation, request)["answer"]["option"] == "always"


def test_an_option_that_needs_words_waits_for_them(visit, server: Server, asked):
    conversation, request = asked
    card = shown(visit, server, conversation)
    deny, words = card.get_by_role("button", name="Deny, and say why"), card.get_by_role("textbox")
    deny.click()
    expect(words).to_be_focused()
    assert state(server, conversation, request)["state"] == "open"
    words.fill("use make clean")
    deny.click()
    expect(card.locator(".v-outcome")).to_contain_text("Deny, and say why: use make clean")
    expect(card).to_have_attribute("data-status", "none")


def test_what_was_typed_stays_while_rows_come_and_the_width_changes(visit, server: Server, asked):
    conversation, _ = asked
    card = shown(visit, server, conversation)
    card.get_by_role("textbox").fill("half a sen")
    card.page.set_viewport_size({"width": 900, "height": 700})
    ask(server, conversation, kind="question", title="And this?")
    expect(card.page.locator("article.v-request")).to_have_count(2)
    first = card.page.locator("article.v-request").first.get_by_role("textbox")
    expect(first).to_have_value("half a sen")
    expect(first).to_be_focused()


def test_a_question_without_options_is_answered_in_words(visit, talk, server: Server):
    conversation = talk()
    request = ask(server, conversation, kind="question", title="Which branch?")
    card = shown(visit, server, conversation)
    card.get_by_role("button", name="Send the answer").click()
    expect(card.get_by_role("textbox")).to_be_focused()
    card.get_by_role("textbox").fill("main, please")
    card.get_by_role("button", name="Send the answer").click()
    expect(card.locator(".v-outcome")).to_contain_text("main, please")
    assert state(server, conversation, request)["answer"]["text"] == "main, please"


def test_a_form_has_a_field_for_each_value(visit, talk, server: Server):
    conversation = talk()
    schema = {
        "type": "object",
        "properties": {
            "branch": {"type": "string", "title": "Branch", "enum": ["main", "dev"], "description": "Where to push"},
            "count": {"type": "integer", "title": "How many"},
            "force": {"type": "boolean", "title": "Force", "default": True},
            "note": {"type": "string", "title": "Note"},
        },
        "required": ["branch", "count"],
    }
    request = ask(server, conversation, kind="question", title="Push where?", schema=schema)
    card = shown(visit, server, conversation)
    expect(card.get_by_label("Force")).to_be_checked()
    send = card.get_by_role("button", name="Send the answer")
    send.click()
    assert card.get_by_label("Branch").evaluate("(field) => field.matches(':invalid')")
    assert state(server, conversation, request)["state"] == "open"
    card.get_by_label("Branch").select_option("dev")
    card.get_by_label("How many").fill("3")
    send.click()
    expect(card.locator(".v-outcome")).to_contain_text("branch: dev, count: 3, force: true")
    assert state(server, conversation, request)["answer"]["values"] == {"branch": "dev", "count": 3, "force": True}


def test_a_form_with_other_values_takes_json(visit, talk, server: Server):
    conversation = talk()
    schema = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
    request = ask(server, conversation, kind="question", title="Who?", schema=schema)
    card = shown(visit, server, conversation)
    field, send = card.get_by_label("The answer as JSON"), card.get_by_role("button", name="Send the answer")
    field.fill("[ada")
    send.click()
    assert "no JSON" in field.evaluate("(area) => area.validationMessage")
    field.fill(json.dumps({"names": ["ada"]}))
    send.click()
    expect(card.locator(".v-outcome")).to_contain_text("names")
    assert state(server, conversation, request)["answer"]["values"] == {"names": ["ada"]}


def test_a_second_press_sends_nothing(visit, server: Server, asked):
    conversation, _ = asked
    card = shown(visit, server, conversation)
    sent = []
    card.page.on("request", lambda each: sent.append(each.url) if each.url.endswith("/answer") else None)
    held = Held(card.page, "**/requests/*/answer")
    once = card.get_by_role("button", name="Allow once")
    once.evaluate("(button) => { button.click(); button.click(); button.form.requestSubmit(); }")
    expect(once).to_be_disabled()
    expect(card.get_by_role("button", name="Allow rm")).to_be_disabled()
    held.release()
    expect(card).to_have_attribute("data-status", "ok")
    assert len(sent) == 1


def test_the_second_of_two_people_is_told(visit, server: Server, asked):
    conversation, request = asked
    first = shown(visit, server, conversation)
    second = shown(visit, server, conversation, fails=("409",))
    held = Held(second.page, "**/requests/*/answer")
    second.get_by_role("button", name="Allow rm").click()
    expect(second.get_by_role("status")).to_have_text("Sending…")
    first.get_by_role("button", name="Allow once").click()
    expect(second.locator(".v-outcome")).to_contain_text("Allow once")
    held.release()
    expect(second.page.locator("#notice")).to_contain_text("Another answer came first.")
    assert state(server, conversation, request)["answer"]["option"] == "once"


@pytest.mark.parametrize(
    ("code", "words", "again"),
    [
        ("answered", "Another answer came first.", False),
        ("closed", "The request is closed, so it takes no answer.", False),
        ("changed", "The question has changed since it was shown here: read it again, then answer.", True),
        ("other", "it is as it is. Nothing was answered.", True),
    ],
)
def test_a_refusal_is_said_in_words(visit, server: Server, asked, code, words, again):
    """Answers of the server that come before the row does are played here."""
    conversation, request = asked
    card = shown(visit, server, conversation, fails=("409",))

    def refuse(route: Route) -> None:
        assert route.request.post_data_json == {"option": "once", "hash": request["hash"]}
        route.fulfill(status=409, json={"ok": False, "error": {"code": code, "message": "it is as it is", "hint": ""}})

    card.page.route("**/requests/*/answer", refuse)
    intercepts(card.page)
    card.get_by_role("button", name="Allow once").click()
    expect(card.get_by_role("status")).to_contain_text(words)
    expect(card.get_by_role("button", name="Allow once")).to_be_enabled(enabled=again)


def test_a_request_that_is_withdrawn_loses_its_buttons(visit, server: Server, asked):
    conversation, request = asked
    card = shown(visit, server, conversation)
    expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
    server.ask("DELETE", f"/v1/conversations/{conversation}/requests/{request['request_id']}")
    expect(card.locator(".v-outcome")).to_have_text("withdrawn")
    expect(card.get_by_role("button", name="Allow once")).to_have_count(0)


def test_until_when_it_can_be_answered_is_said(visit, talk, server: Server):
    conversation = talk()
    ask(server, conversation, **APPROVAL, expires=round(time.time() * 1000) + 3_600_000)
    expect(shown(visit, server, conversation)).to_contain_text("Can be answered until")


def test_a_read_only_browser_sees_the_request_and_cannot_answer(visit, server: Server, asked):
    conversation, _ = asked
    _, token = Tokens(server.home).new("eye", "read")
    card = shown(visit, server, conversation, token=token, fails=("403",))
    expect(card.get_by_role("button", name="Allow once")).to_be_disabled()
    expect(card.get_by_role("status")).to_contain_text("This browser may only look")


def test_a_finger_finds_the_buttons(visit, server: Server, asked):
    conversation, _ = asked
    card = shown(visit, server, conversation, viewport=PHONE, has_touch=True)
    for part in card.locator("button, textarea").all():
        if part.is_visible() and part.evaluate("(part) => part.closest('.request-card') !== null"):
            box = part.bounding_box()
            assert box["height"] >= 44 and box["width"] >= 44
            assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]


def test_a_screen_reader_is_told(visit, talk, server: Server):
    conversation = talk()
    ask(server, conversation, kind="question", title="First?")
    card = shown(visit, server, conversation)
    request = ask(server, conversation, **APPROVAL)
    expect(card.page.locator("#said")).to_have_text("Asks: Run rm -rf build")
    expect(card.get_by_role("form", name="Your answer")).to_be_visible()
    path = f"/v1/conversations/{conversation}/requests/{request['request_id']}/answer"
    assert server.post(path, {"option": "once", "hash": request["hash"]}).status == 200
    expect(card.page.locator("#said")).to_have_text("Asked: Run rm -rf build")


def test_the_terminal_when_it_was_asked_is_one_press_away(visit, private_home):
    with serving(private_home) as before, before.conversation(id="one"):
        before.pty("one", "exec_block", command="echo before-$((20 + 3))")
        at = before.pty("one", "read_screen")["raw_offset"]
        before.pty("one", "exec_block", command="clear; echo after-$((20 + 4))")
        before.end()
        log(private_home, {**REQUEST, **APPROVAL, "screen_offset": at})
        with serving(private_home) as server:
            page = shown(visit, server, "one", at=server, fails=NETWORK).page
            expect(page.locator(".term-row").filter(has_text="after-24").first).to_be_visible()
            row(page).get_by_role("button", name="The terminal when it was asked").click()
            expect(page.locator(".term-row").filter(has_text="before-23").first).to_be_visible()
            expect(page.locator(".term-row").filter(has_text="after-24")).to_have_count(0)


def test_a_secret_leads_to_the_field_that_no_log_sees(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_interactive", command="read -rsp 'password: ' x; echo; echo \"got ${#x}\"")
    card = shown(visit, server, conversation)
    page = card.page
    expect(card).to_contain_text("password:")
    expect(page.locator("#secret")).to_be_visible()
    page.locator("#timeline").focus()
    expect(card.get_by_role("textbox")).to_have_count(0)
    card.get_by_role("button", name="Type it in the terminal’s field").click()
    expect(page.locator("#secret-field")).to_be_focused()
    page.keyboard.type("sesam")
    page.keyboard.press("Enter")
    expect(card).to_contain_text("answered (client")
    assert "sesam" not in json.dumps(server.get(f"/v1/conversations/{conversation}/events").json)


REQUEST = {"type": "request", "request_id": "r1-7", "hash": "0" * 16}


def log(home: Path, event: dict[str, Any]) -> None:
    """Writes an event as the server does that opens a request itself."""
    events = EventLog(ConversationFolder(home / "conversations/one").events)
    events.append([decode_event(event)], "one")
    events.close()
