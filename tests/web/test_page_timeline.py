"""The page's timeline in a browser: from the first start on, however long, whatever happens to the network."""

import re

import pytest
from playwright.sync_api import Page, expect

from held_answers import address, intercepts, settled, wait_until, with_held_messages
from page_home import NETWORK, PHONE, call, clipboard, live, places, say, screen, stack_with_a_needle
from server_home import Server, serving
from vantage.server.security.tokens import Tokens

MAX_NODES = 4000
"""Elements that the page may have, whatever the conversation's length."""


def nodes(page: Page) -> int:
    return page.evaluate("document.querySelectorAll('*').length")


def rows(page: Page):
    return page.locator(".entry > article")


def test_first_start_to_first_block(visit, private_home):
    with serving(private_home) as server:
        page = visit(at=server, log_in=False, fails=("401", *NETWORK))  # the server ends before the page does
        page.goto(server.line.strip())
        live(page)
        expect(page.get_by_role("heading", name="Nothing is running yet")).to_be_visible()
        expect(page.get_by_text("vantage connect claude --write", exact=True)).to_be_visible()
        expect(page.get_by_text("vantage connect codex --write", exact=True)).to_be_visible()
        page.get_by_role("button", name="New conversation").click()
        expect(page.get_by_role("heading", name="Nothing has happened here yet")).to_be_visible()
        page.get_by_role("button", name="Type in its terminal").click()
        expect(page.get_by_role("button", name="Give the keyboard back")).to_be_visible()
        page.keyboard.type("echo first-$((20 + 3))\n")
        expect(page.get_by_text("first-23").first).to_be_visible()
        row = rows(page).filter(has_text="echo first-")
        expect(row).to_have_attribute("data-status", "ok")
        row.locator("summary").click()
        expect(row.locator(".v-output")).to_have_text("first-23")
        expect(page.locator("#command-list li.good")).to_have_count(1)
        page.keyboard.press("Control+\\")


def test_five_thousand_rows(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *[{"type": "user_message", "text": f"message {n}"} for n in range(1, 5001)])
    page = visit(f"/#c={conversation}")
    expect(page.get_by_text("message 5000", exact=True)).to_be_visible()
    expect(page.locator("#count")).to_have_text("5000 rows")
    assert nodes(page) < MAX_NODES
    page.keyboard.press("g")
    expect(page.get_by_text("message 1", exact=True)).to_be_visible()
    assert nodes(page) < MAX_NODES
    page.mouse.move(600, 400)
    for _ in range(20):
        page.mouse.wheel(0, 1500)
    expect(page.locator(".entry-wait")).to_have_count(0)
    shown = places(page)
    assert shown == list(range(shown[0], shown[-1] + 1)), "in order, without gaps"
    assert shown[0] > 100
    page.locator("#timeline").evaluate("(log) => { log.scrollTop = log.scrollHeight * 0.37; }")
    expect(page.locator("#timeline")).to_have_attribute("data-first", re.compile(r"^1[5-9]\d\d$"))
    expect(page.locator(".entry-wait")).to_have_count(0)
    for n in places(page):
        assert page.locator(f".entry[data-n='{n}']").inner_text().endswith(f"message {n}")
    page.get_by_role("button", name="Jump to latest").click()
    expect(page.get_by_text("message 5000", exact=True)).to_be_visible()
    expect(page.locator("#latest")).to_be_hidden()
    assert nodes(page) < MAX_NODES


def test_the_end_is_followed_only_at_the_end(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *[{"type": "assistant_text", "text": f"line {n}\n\nand more"} for n in range(60)])
    page = visit(f"/#c={conversation}")
    expect(page.get_by_text("line 59")).to_be_visible()
    say(server, conversation, {"type": "assistant_text", "text": "one more"})
    expect(page.get_by_text("one more")).to_be_in_viewport()
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -900)
    expect(page.locator("#latest")).to_be_visible()
    first = page.locator(".entry:not(:has(.entry-wait))").nth(8)
    at, before = first.get_attribute("data-n"), first.bounding_box()
    say(server, conversation, *[{"type": "assistant_text", "text": f"later {n}"} for n in range(5)])
    expect(page.locator("#latest")).to_contain_text("5 new")
    assert page.locator(f".entry[data-n='{at}']").bounding_box() == before, "nothing moves under the reader's eyes"
    page.locator("#latest").click()
    expect(page.get_by_text("later 4")).to_be_in_viewport()


def test_rows_that_grow_stay_in_their_place(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": "It **gro"})
    page = visit(f"/#c={conversation}")
    expect(rows(page)).to_have_count(1)
    say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": "ws** in"})
    say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": " pieces."})
    expect(rows(page).locator(".v-markdown")).to_have_text("It grows in pieces.")
    expect(rows(page).locator("strong")).to_have_text("grows")
    say(server, conversation, {"type": "tool_start", "tool": "shell", "toolCallId": "t", "args": {"command": "ls"}})
    expect(rows(page).nth(1)).to_have_attribute("data-status", "running")
    say(server, conversation, {"type": "tool_end", "toolCallId": "t", "output": "a\nb\n", "durationMs": 12})
    expect(rows(page).nth(1)).to_have_attribute("data-status", "ok")
    expect(rows(page).nth(1).locator(".v-duration")).to_have_text("12 ms")
    assert places(page) == [1, 2]


def test_opened_rows_are_open_after_a_reload(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *call(1, "one", "first output"), *call(2, "two", "second output"))
    page = visit(f"/#c={conversation}")
    expect(page.get_by_text("second output")).to_have_count(0), "a body that is closed is not drawn"
    rows(page).nth(1).locator("summary").click()
    expect(page.get_by_text("second output")).to_be_visible()
    page.reload()
    expect(page.get_by_text("second output")).to_be_visible()
    expect(page.get_by_text("first output")).to_have_count(0)
    page.get_by_role("button", name="Expand all").click()
    expect(page.get_by_text("first output")).to_be_visible()
    page.reload()
    expect(page.get_by_text("first output")).to_be_visible()
    page.get_by_role("button", name="Collapse all").click()
    expect(page.locator("details[open]")).to_have_count(0)


def test_reload_in_mid_stream(visit, talk, server: Server):
    conversation = talk()
    for n in range(3):
        say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": f"part {n}, "})
    page = visit(f"/#c={conversation}")
    expect(rows(page).locator(".v-markdown")).to_have_text("part 0, part 1, part 2,")
    say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": "part 3, "})
    page.reload()
    say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": "the end."})
    expect(rows(page).locator(".v-markdown")).to_have_text("part 0, part 1, part 2, part 3, the end.")
    assert places(page) == [1]


def test_the_network_is_lost_and_restored(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *[{"type": "user_message", "text": f"before {n}"} for n in range(5)])
    page = visit(f"/#c={conversation}", fails=NETWORK)
    expect(page.get_by_text("before 4")).to_be_visible()
    live(page)
    page.context.set_offline(True)
    expect(page.locator("#link")).to_have_attribute("data-state", "offline")
    expect(page.locator("#link")).to_contain_text("offline")
    say(server, conversation, *call(1, "meanwhile", "out"), {"type": "user_message", "text": "after"})
    page.context.set_offline(False)
    live(page)
    expect(page.get_by_text("after", exact=True)).to_be_visible()
    assert places(page) == list(range(1, 8))


def test_the_server_is_killed_and_started_again(visit, private_home):
    with serving(private_home) as server, server.conversation() as conversation:
        say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": "one, "})
        page = visit(f"/#c={conversation}", at=server, fails=(*NETWORK, "404"))
        expect(rows(page).locator(".v-markdown")).to_have_text("one,")
        server.kill()
        expect(page.locator("#link")).to_have_attribute("data-state", re.compile("waiting|connecting"))
        server.start()
        say(server, conversation, {"type": "assistant_delta", "message_id": "m", "text": "two"})
        live(page)
        expect(rows(page).locator(".v-markdown")).to_have_text("one, two")
        assert places(page) == [1]


def test_two_tabs(visit, talk, server: Server):
    conversation = talk()
    first = visit(f"/#c={conversation}")
    second = visit(f"/#c={conversation}", beside=first)
    server.pty(conversation, "exec_block", command="echo both-$((1 + 1))")
    for page in (first, second):
        expect(rows(page).filter(has_text="echo both-")).to_have_attribute("data-status", "ok")
        expect(page.locator("#rows")).to_contain_text("both-2")
    first.get_by_role("button", name="Take the keyboard").click()
    expect(first.get_by_role("button", name="Give the keyboard back")).to_be_visible()
    expect(second.locator("#hands-word")).to_contain_text("has the keyboard.")
    expect(second.locator("#take")).to_be_disabled()
    refused = server.post(f"/v1/conversations/{conversation}/pty/send", {"data": "x"})
    assert (refused.status, refused.code) == (409, "keyboard_taken")
    assert "client:web-" in refused.json["error"]["message"], "the error names the holder"
    first.get_by_role("button", name="Give the keyboard back").click()
    expect(second.locator("#take")).to_be_enabled()


def test_search_and_permalinks(visit, talk, server: Server):
    here = talk(name="Here")
    there = talk(name="Elsewhere")
    needle = stack_with_a_needle(server, here)
    say(server, there, {"type": "assistant_text", "text": "another needle altogether"})
    page = visit(f"/#c={here}")
    live(page)
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit mark")).to_have_text("needle")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.press("Enter")
    row = page.locator(".entry", has_text="the needle of this stack")
    expect(row).to_be_in_viewport()
    expect(row).to_have_attribute("aria-current", "true")
    assert page.url.endswith(f"#c={here}&seq={needle}")
    page.keyboard.press("G")
    expect(row).not_to_be_in_viewport()
    page.keyboard.press("/")
    page.keyboard.press("Enter")
    expect(row).to_be_in_viewport()  # the same hit again
    page.keyboard.press("/")
    page.get_by_role("radio", name="Everywhere").check()
    expect(page.locator(".hit")).to_have_count(2)
    page.locator(".hit", has_text="altogether").click()
    expect(rows(page).get_by_text("another needle altogether")).to_be_visible()
    expect(page.locator("h1")).to_have_text("Elsewhere")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Here")
    # a link alone leads there
    other = visit(f"/#c={here}&seq={needle}")
    expect(other.locator(".entry", has_text="the needle of this stack")).to_be_in_viewport()
    shown = places(other)
    assert shown == list(range(shown[0], shown[-1] + 1))


def test_a_place_found_before_the_snapshot_holds_after_it(visit, talk, server: Server):
    conversation = talk(name="Slow")
    needle = stack_with_a_needle(server, conversation)
    page, messages = with_held_messages(visit, server, conversation, "snapshot")
    expect(page.locator("h1")).to_have_text("Slow")
    live(page)
    address(page, conversation, needle)
    row = page.locator(".entry", has_text="the needle of this stack")
    expect(row).to_be_in_viewport()
    expect(row).to_have_attribute("aria-current", "true")
    messages.release()
    expect(page.locator("#count")).to_have_text("801 rows")
    expect(row).to_be_in_viewport()
    expect(row).to_have_attribute("aria-current", "true")
    expect(page.locator("#latest")).to_be_visible()


def test_the_first_row_wanted_before_the_snapshot_is_shown_after_it(visit, talk, server: Server):
    conversation = talk(name="Slow")
    stack_with_a_needle(server, conversation)
    page, messages = with_held_messages(visit, server, conversation, "snapshot")
    expect(page.locator("h1")).to_have_text("Slow")
    live(page)
    page.keyboard.press("g")
    messages.release()
    expect(page.locator("#count")).to_have_text("801 rows")
    expect(page.get_by_text("hay 0", exact=True)).to_be_in_viewport()


def test_keyboard_only(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, {"type": "user_message", "text": "begin"}, *call(1, "ls", "a\nb\tc\n"))
    page = visit(f"/#c={conversation}")
    expect(rows(page)).to_have_count(2)
    page.keyboard.press("j")
    expect(page.locator(".entry[aria-current]")).to_have_attribute("data-n", "2")
    page.keyboard.press("k")
    expect(page.locator(".entry[aria-current]")).to_have_attribute("data-n", "1")
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(rows(page).nth(1).locator("details")).to_have_attribute("open", "")
    expect(rows(page).nth(1).locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows(page).nth(1).locator("details")).not_to_have_attribute("open", "")
    page.keyboard.press("c")
    expect(page.locator("#notice")).to_contain_text("Copied")
    assert clipboard(page) == "Ran ls\na\nb\tc\n"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    server.pty(conversation, "exec_block", command="true")
    expect(page.locator("#take")).to_be_enabled()
    page.keyboard.press("i")
    expect(page.locator("#typing")).to_be_focused()
    page.keyboard.type("echo by-$((3 * 3))")
    page.keyboard.press("Enter")
    expect(page.locator("#rows")).to_contain_text("by-9")
    page.keyboard.press("Control+\\")
    expect(page.locator("#take")).to_be_focused()


def test_a_copy_is_the_whole_source(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_block", command="seq 1 30000")
    page = visit(f"/#c={conversation}")
    rows(page).locator("summary").click()
    expect(rows(page).locator(".v-output")).to_contain_text("30000")
    block = rows(page).locator(".v-block-terminal")
    block.hover()
    block.get_by_role("button", name="Copy").click()
    expect(page.locator("#notice")).to_contain_text("Copied")
    assert clipboard(page).strip() == "\n".join(map(str, range(1, 30001)))


def test_a_command_leads_to_its_row_when_a_request_fails(visit, talk, server: Server):
    """The page asks again for the same row, instead of searching where the row is not."""
    conversation = talk()
    server.pty(conversation, "exec_block", command="echo early-$((40 + 2))")
    say(server, conversation, *[{"type": "user_message", "text": f"hay {n}"} for n in range(600)])
    page = visit(f"/#c={conversation}", fails=("429",))
    expect(page.locator("#rows")).to_contain_text("early-42")
    expect(page.get_by_text("hay 599")).to_be_visible()
    refused = []

    def refuse(route):
        if len(refused) < 10:
            refused.append(route.request.url)
            route.fulfill(status=429, json={"ok": False, "error": {"code": "too_many", "message": "too many requests"}})
        else:
            route.continue_()

    page.route(f"**/v1/conversations/{conversation}/rows?**", refuse)
    intercepts(page)
    page.get_by_role("button", name=re.compile("echo early.*show its output")).click()
    expect(page.locator(".entry .v-output", has_text="early-42")).to_be_in_viewport()
    assert len(refused) == 10


def test_commands_lead_to_their_rows(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_block", command="echo early-$((40 + 2))")
    say(server, conversation, *[{"type": "user_message", "text": f"hay {n}"} for n in range(600)])
    server.pty(conversation, "exec_block", command="false")
    page = visit(f"/#c={conversation}")
    expect(page.locator("#command-list li.bad em")).to_have_text("exit 1")
    expect(page.locator("#rows")).to_contain_text("early-42")  # the list below it moves until then
    page.get_by_role("button", name=re.compile("echo early.*show its output")).click()
    expect(page.locator(".entry .v-output", has_text="early-42")).to_be_in_viewport()


@pytest.mark.parametrize("expanded", [False, True], ids=["closed", "open"])
def test_hostile_rows_are_inert(visit, talk, server: Server, expanded):
    evil = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    deep = ">" * 400 + " deep" + "\n\n" + "".join(f"{'  ' * n}- level {n}\n" for n in range(200))
    conversation = talk()
    say(
        server,
        conversation,
        {"type": "user_message", "text": evil},
        {"type": "assistant_text", "text": f"{evil}\n\n[click](javascript:document.title='owned') ![x](http://127.0.0.1:9/x.png)"},
        {"type": "assistant_text", "text": deep},
        {"type": "assistant_text", "text": "huge " * 200_000},
        {"type": "assistant_text", "text": "bidi \u202egnp.exe\u202c and \u2066isolate\u2069 and \U000e0041tags"},
        {"type": "tool_start", "tool": evil, "toolCallId": "1", "args": {"x": evil, "</script>": [evil]}},
        {"type": "tool_end", "toolCallId": "1", "output": f"\x1b]0;title\x07\x1b[2J{evil}", "isError": True},
        {"type": "tool_start", "tool": "open", "toolCallId": "2", "args": {}, "renderSpec": {
            "collapsed": {"title": evil, "icon": '"><script>'},
            "expanded": {"blocks": [
                {"type": "text", "content": evil,
                 "actions": [{"type": "open", "value": "javascript:document.title='owned'", "label": "go"}]},
                {"type": "image", "source": "http://127.0.0.1:9/leak.png", "alt": evil},
            ]}}},
        {"type": "tool_end", "toolCallId": "2", "output": "x"},
        *call(3, "seq 1 100000", "line\n" * 100_000),
    )  # fmt: skip
    if expanded:
        server.pty(
            conversation, "exec_block", command=f"printf '%s' {evil!r} \"\" '\\033]8;;javascript:alert(1)\\033\\\\x\\n'"
        )
    page = visit("/", bypass_csp=False)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(
        "document.addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective))"
    )
    page.evaluate(f"location.hash = '#c={conversation}'")
    expect(rows(page).last).to_be_visible()
    if expanded:
        page.get_by_role("button", name="Expand all").click()
        expect(page.locator("details.v-details[open]").first).to_be_visible()
        expect(page.locator("#rows")).to_contain_text("<script>")
    page.keyboard.press("g")
    expect(page.locator(".entry[data-n='1']")).to_be_in_viewport()
    last = int(page.locator("#count").inner_text().split()[0])
    for _ in range(last):
        page.keyboard.press("j")
    expect(page.locator(f".entry[data-n='{last}']")).to_have_attribute("aria-current", "true")
    assert "owned" not in page.title()
    assert page.locator("#timeline script, #timeline [onerror], #timeline iframe, #timeline style").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    assert [url for url in asked if "127.0.0.1:9" in url] == []
    assert "\u202e" not in page.locator("#timeline").inner_text()


def test_several_conversations(visit, talk, server: Server):
    one = talk(name="Alpha")
    two = talk(name="Beta")
    server.pty(two, "exec_block", command="sleep 1000", timeout_ms=0)
    page = visit(f"/#c={one}", fails=("404",))
    beta = page.locator(".conversation", has_text="Beta")
    expect(beta).to_contain_text("running")
    expect(beta.locator(".doing")).to_have_text("sleep 1000")
    page.get_by_role("searchbox", name="Filter conversations").fill("alph")
    expect(page.locator(".conversation")).to_have_count(1)
    page.get_by_role("searchbox", name="Filter conversations").fill("")
    beta.click()
    expect(page.locator("h1")).to_have_text("Beta")
    expect(page.locator("#state")).to_contain_text("running")
    page.get_by_role("button", name="Rename this conversation").click()
    page.get_by_role("textbox", name="Rename this conversation").fill("Gamma")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Gamma")
    page.get_by_role("button", name="Settings and help").click()
    page.get_by_role("button", name="Delete this conversation…").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator(".conversation", has_text="Gamma")).to_have_count(0)
    expect(page.get_by_role("heading", name="No conversation is chosen")).to_be_visible()
    assert server.get(f"/v1/conversations/{two}").status == 404


def test_a_conversation_that_is_not_here_and_one_that_comes(visit, talk, server: Server):
    talk(name="Another one")
    page = visit("/#c=made-later", fails=("404",))
    expect(page.get_by_role("heading", name="This conversation is not here")).to_be_visible()
    for name in ("#terminal-pane", "#timeline", "#rename", "#state"):
        expect(page.locator(name)).to_be_hidden()
    talk(id="made-later", name="Made later")
    say(server, "made-later", {"type": "user_message", "text": "here I am"})
    expect(rows(page).get_by_text("here I am")).to_be_visible()
    expect(page.locator("h1")).to_have_text("Made later")


def test_a_refused_deletion_leaves_the_page_as_it_is(visit, talk, server: Server):
    conversation = talk(name="Kept")
    say(server, conversation, {"type": "user_message", "text": "still here"})
    _, token = Tokens(server.home).new(scope="read")
    page = visit(f"/#c={conversation}", token=token, fails=("403",))
    expect(rows(page).get_by_text("still here")).to_be_visible()
    page.get_by_role("button", name="Settings and help").click()
    page.get_by_role("button", name="Delete this conversation…").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator("#notice")).to_contain_text("may only watch")
    expect(rows(page).get_by_text("still here")).to_be_visible()
    assert page.url.endswith(f"#c={conversation}")


def test_without_a_shell_nothing_has_ended(visit, talk, server: Server):
    conversation = talk(name="Only said")
    say(server, conversation, {"type": "assistant_text", "text": "I need no terminal."})
    page = visit(f"/#c={conversation}")
    expect(page.locator("#terminal-state")).to_contain_text("no shell")
    expect(page.locator("#state")).to_have_text(re.compile("idle"))
    expect(page.locator(".conversation", has_text="Only said").locator(".state")).to_have_text(re.compile("idle"))


def test_a_row_from_years_ago_shows_its_date(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, {"type": "user_message", "text": "long gone", "ts": 1_600_000_000_000})
    page = visit(f"/#c={conversation}")
    expect(page.locator(".entry-day")).to_have_text(re.compile("13 September 2020"))
    page.keyboard.press("/")
    page.keyboard.type("gone")
    expect(page.locator(".hit .where")).to_contain_text("13 Sept 2020")


LONG = "make " + " ".join(f"target-{n}" for n in range(60))


def test_a_long_command_can_be_read_to_its_end(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *call(1, LONG), *call(2, LONG, "built\n"))
    page = visit(f"/#c={conversation}")
    silent, spoken = rows(page).nth(0), rows(page).nth(1)
    expect(silent.locator("summary")).to_have_count(0)
    cut = "(title) => title.scrollHeight > title.clientHeight + 2"
    assert not silent.locator(".v-title").evaluate(cut), "what cannot be opened is whole"
    assert spoken.locator(".v-title").evaluate(cut)
    spoken.locator("summary").hover()
    expect(spoken.locator("summary")).to_have_attribute("title", f"Ran {LONG}")
    spoken.locator("summary").click()
    expect(spoken.locator(".v-output")).to_be_visible()
    assert not spoken.locator(".v-title").evaluate(cut)


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, PHONE])
def test_nothing_of_a_diff_or_a_table_is_out_of_sight(visit, talk, server: Server, size):
    conversation = talk()
    edit = {"file_path": "a.py", "old_string": "x = 1\n", "new_string": "x = " + " + ".join(["some_value"] * 40) + "\n"}
    names = [f"Column {n}" for n in range(9)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (names, ["---"] * 9, ["a value"] * 9))
    say(
        server,
        conversation,
        {"type": "assistant_text", "text": table},
        {"type": "tool_start", "tool": "Edit", "toolCallId": "e", "args": edit},
        {"type": "tool_end", "toolCallId": "e", "output": "ok"},
    )
    page = visit(f"/#c={conversation}", viewport=size)
    rows(page).locator("summary").click()
    expect(page.locator(".v-diff")).to_be_visible()
    for scroller in page.locator(".v-table-scroll").all():
        assert scroller.evaluate("(box) => box.scrollWidth <= box.clientWidth + 1")


def test_text_cut_off_at_the_right_fades(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *call(1, "long", "x" * 500), *call(2, "short", "x"))
    page = visit(f"/#c={conversation}")
    page.get_by_role("button", name="Expand all").click()
    expect(rows(page).nth(0).locator(".v-pre")).to_have_css("mask-image", re.compile("gradient.*0.15"))
    expect(rows(page).nth(1).locator(".v-pre")).to_have_css("mask-image", "none")


def test_a_touch_opens_a_row(visit, talk, server: Server):
    conversation = talk()
    say(server, conversation, *[event for n in range(30) for event in call(n, f"echo {n}", f"{n}\n")])
    page = visit(f"/#c={conversation}", viewport=PHONE, has_touch=True, is_mobile=True)
    for n in (24, 27):  # at the end, where what grows moves what is above it
        row = page.locator(f".entry[data-n='{n}']")
        expect(row).to_be_in_viewport()
        settled(page)
        box = row.locator("summary").bounding_box()
        assert box["height"] >= 38
        page.touchscreen.tap(box["x"] + 40, box["y"] + box["height"] / 2)
        expect(row.locator("details")).to_have_attribute("open", "")
        stays = pytest.approx(box["y"], abs=1)
        wait_until(page, lambda: row.locator("summary").bounding_box()["y"] == stays, "the row where it was")  # noqa: B023
        expect(row.locator(".entry-when")).to_be_visible()


def test_rows_that_come_while_another_pane_is_shown(visit, talk, server: Server):
    first = talk(name="First")
    second = talk(name="Second")
    say(server, second, *[event for n in range(40) for event in call(n, f"echo {n}", f"{n}\n")])
    page = visit(f"/#c={first}", viewport=PHONE, has_touch=True, is_mobile=True)
    live(page)
    panes = page.get_by_role("navigation", name="Panes")
    panes.get_by_role("button", name="Terminal").tap()
    page.goto(f"{server.url}/#c={second}")
    expect(page.locator("h1")).to_have_text("Second")
    expect(page.locator("#command-list")).to_be_visible()
    panes.get_by_role("button", name="Timeline").tap()
    expect(page.locator(".entry[data-n='40']")).to_be_in_viewport()
    page.keyboard.press("g")
    expect(page.locator(".entry[data-n='1']")).to_be_in_viewport()
    expect(page.locator(".entry[data-n='9']")).to_be_in_viewport()


def test_the_width_of_the_page_reaches_the_agent(visit, talk, server: Server):
    cells = ["web-1", "Frankfurt am Main", "4.2.0", "degraded", "restarted once after a signal"]
    table = f"| Host | Region | Version | Status | Notes |\n|---|---|---|---|---|\n| {' | '.join(cells)} |\n"
    conversation = talk()
    say(server, conversation, {"type": "assistant_text", "text": table})
    page = visit(f"/#c={conversation}")
    expect(rows(page).locator("table")).to_have_count(1)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(rows(page).locator("dl.v-record")).to_have_count(1)
    told = server.get(f"/v1/conversations/{conversation}/instructions").json["text"]
    assert "NARROW" in told


AWAY = """
window.told = [];
window.Notification = class extends EventTarget {
  static permission = "granted";
  static requestPermission = async () => "granted";
  constructor(title, { body }) { super(); window.told.push(`${title}: ${body}`); }
  close() {}
};
Object.defineProperty(document, "hidden", { get: () => window.away === true });
"""
"""Records notifications instead of showing them; `window.away` makes the page hidden."""


def test_a_hidden_page_notifies_when_it_was_asked_to(visit, talk, server: Server):
    conversation = talk(name="Long work")
    page = visit()
    page.add_init_script(AWAY)
    page.goto(f"{server.url}/#c={conversation}")
    page.reload()
    live(page)
    begun, ended = {"type": "user_message", "text": "go"}, {"type": "turn_complete"}
    say(server, conversation, begun, ended)
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="Settings and help").click()
    page.get_by_label("Notify me").check()
    page.evaluate("window.away = true")
    say(server, conversation, begun)
    expect(rows(page)).to_have_count(2)
    say(server, conversation, ended)
    expect(page.locator("#said")).to_have_text("The turn has ended.")
    server.pty(conversation, "exec_block", command="stty -echo; read -r answer; stty echo", timeout_ms=0)
    expect(page.locator("#secret")).to_be_visible()
    assert page.evaluate("window.told") == ["A turn has ended: Long work", "A secret is asked for: Long work"]


def test_without_a_session_the_page_says_how_to_log_in(visit):
    page = visit("/", log_in=False)
    expect(page.get_by_role("heading", name="This browser is not logged in")).to_be_visible()
    expect(page.get_by_text("vantage open", exact=True)).to_be_visible()
    assert screen(page) == ""


def test_pictures_of_the_conversation_are_shown(visit, talk, server: Server):
    conversation = talk()
    dot = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    server.ask("PUT", f"/v1/conversations/{conversation}/assets/chart", {"data_b64": dot})
    spec = {"collapsed": {"title": "Chart"}, "expanded": {"blocks": [{"type": "image", "source": "chart", "alt": "A"}]}}
    drawing = {"tool": "draw", "toolCallId": "1", "args": {}}
    say(
        server,
        conversation,
        {"type": "tool_start", **drawing, "renderSpec": spec},
        {"type": "tool_end", **drawing, "output": "drawn"},
    )
    page = visit(f"/#c={conversation}")
    row = rows(page).filter(has_text="Chart")
    row.locator("summary").click()
    picture = row.get_by_role("img", name="A")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 1)
