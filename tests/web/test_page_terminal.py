"""The page's terminal in a browser: a real shell, vim, a secret, the past, a phone."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from home_files import holding
from linked_texts import HONEST, MISLEADING
from page_home import PHONE, live, screen
from server_home import Server
from vantage.conversation.store.conversation_folder import ConversationFolder

ASKS = "stty -echo; printf 'Secret: '; read -r answer; stty echo; echo; echo \"got ${#answer} characters\""


def take(page: Page) -> None:
    page.get_by_role("button", name="Take the keyboard").click()
    expect(page.locator("#typing")).to_be_focused()


def test_the_live_screen(visit, talk, server: Server):
    conversation = talk(cols=60, rows=12)
    page = visit(f"/#c={conversation}")
    server.pty(
        conversation,
        "exec_block",
        command=r"printf '\e]2;a title\a\e[31mred\e[0m \e[1;44mbold on blue\e[0m true 日本|e\u0301|\n'",
    )
    expect(page.locator("#rows")).to_contain_text("red bold on blue true 日本|e\u0301|")
    expect(page.locator("#terminal-title")).to_have_text("a title")
    expect(page.locator("#terminal-size")).to_have_text("60 × 12")
    red = page.locator(".term-row span", has_text=re.compile("^red$"))
    assert red.evaluate("(span) => getComputedStyle(span).color") == "rgb(247, 118, 142)"
    bold = page.locator(".term-row span", has_text=re.compile("^bold on blue$"))
    assert bold.evaluate("(span) => getComputedStyle(span).fontWeight") == "700"
    # every character is where its cell is: the bar behind two wide ones is in the 26th column
    left, width = page.evaluate(
        """() => {
            const grid = document.querySelector("#grid").getBoundingClientRect();
            const rows = [...document.querySelectorAll(".term-row")];
            const row = rows.find((row) => row.textContent.startsWith("red bold"));
            const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf("|");
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + 1);
                return [range.getBoundingClientRect().left - grid.left, grid.width / 60];
            }
        }"""
    )
    assert abs(left / width - 26) < 0.3
    status = server.pty(conversation, "status")
    assert (status["cols"], status["rows"]) == (60, 12), "looking does not resize"


def test_scrollback(visit, talk, server: Server):
    conversation = talk(cols=40, rows=10)
    server.pty(conversation, "exec_block", command="seq 1001 1500")
    page = visit(f"/#c={conversation}")
    expect(page.locator("#rows")).to_contain_text("1500")
    assert "1100" not in screen(page)
    page.get_by_role("button", name="Earlier lines").click()
    expect(page.locator("#scrollback")).to_contain_text("1450")
    page.get_by_role("button", name="Earlier lines").click()
    expect(page.locator("#scrollback")).to_contain_text("1001")
    expect(page.get_by_role("button", name="Earlier lines")).to_be_hidden()
    lines = page.locator("#scrollback").inner_text().splitlines()
    first = lines.index("1001")
    assert lines[first:] == [str(n) for n in range(1001, 1001 + len(lines) - first)]


def test_the_keyboard_in_vim(visit, talk, server: Server, tmp_path):
    file = tmp_path / "poem.txt"
    file.write_text("one\ntwo\n")
    conversation = talk(cols=80, rows=20)
    started = server.pty(conversation, "exec_interactive", command=f"vim -u NONE -N {file}")
    page = visit(f"/#c={conversation}")
    expect(page.locator("#rows")).to_contain_text("poem.txt")
    expect(page.locator("#terminal-size")).to_contain_text("alternate screen")
    take(page)
    refused = server.post(f"/v1/conversations/{conversation}/pty/keys", {"keys": ["x"]})
    assert refused.code == "keyboard_taken"
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.keyboard.type("three")
    expect(page.locator("#rows")).to_contain_text("-- INSERT --")
    page.keyboard.press("Escape")
    expect(page.locator("#rows")).not_to_contain_text("-- INSERT --")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    page.keyboard.press("i")
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text/plain", "pasted\\nlines ");
            const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(paste);
        }"""
    )
    expect(page.locator("#rows")).to_contain_text("lines two")
    page.keyboard.press("Escape")
    expect(page.locator("#rows")).not_to_contain_text("-- INSERT --")
    page.keyboard.type(":wq")
    page.keyboard.press("Enter")
    expect(page.locator("#terminal-size")).not_to_contain_text("alternate screen")
    assert file.read_text() == "one\npasted\nlines two\nthree\n"
    page.keyboard.press("Control+\\")
    expect(page.get_by_role("button", name="Take the keyboard")).to_be_enabled()
    assert server.pty(conversation, "wait_for", match="EOF", session_id=started["session_id"])["matched"]


def test_a_secret_goes_to_the_program_and_nowhere_else(visit, talk, server: Server):
    conversation = talk()
    page = visit(f"/#c={conversation}")
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))  # noqa: PLW0108 -- playwright marks the function that it is given
    page.reload()
    live(page)
    server.pty(conversation, "exec_block", command=ASKS, timeout_ms=0)
    field = page.get_by_label("asks for a secret")
    expect(field).to_be_visible()
    expect(page.locator("#state")).to_contain_text("waiting for a secret")
    field.fill("correct horse battery")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#rows")).to_contain_text("got 21 characters")
    expect(field).to_be_hidden()
    assert page.locator("#secret-field").input_value() == ""
    expect(page.locator("#hands-word")).to_have_text("The agent has the keyboard.")
    folder = server.home / "conversations" / conversation
    assert holding(server.home, "correct horse") == []
    assert ConversationFolder(folder).raw.exists()
    assert len([frame for frame in sent if "correct horse" in str(frame)]) == 1
    assert "correct horse" not in page.content()


def test_the_focus_returns_to_the_terminal_after_a_secret(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_block", command="true")
    page = visit(f"/#c={conversation}")
    take(page)
    page.keyboard.type(f"{ASKS}\n")
    expect(page.locator("#secret-field")).to_be_focused()
    page.keyboard.type("four\n")
    expect(page.locator("#rows")).to_contain_text("got 4 characters")
    expect(page.locator("#typing")).to_be_focused()
    page.keyboard.type("echo on-$((6 + 6))\n")
    expect(page.locator("#rows")).to_contain_text("on-12")


def test_a_secret_does_not_take_what_is_typed_elsewhere(visit, talk, server: Server):
    conversation = talk()
    page = visit(f"/#c={conversation}")
    live(page)
    page.get_by_role("searchbox", name="Filter conversations").press_sequentially("ab")
    server.pty(conversation, "exec_block", command=ASKS, timeout_ms=0)
    expect(page.get_by_label("asks for a secret")).to_be_visible()
    page.keyboard.type("cd")
    expect(page.get_by_role("searchbox", name="Filter conversations")).to_have_value("abcd")


def test_a_phone_leads_to_the_field_of_a_secret(visit, talk, server: Server):
    conversation = talk(name="Asks on the go")
    page = visit(f"/#c={conversation}", viewport=PHONE, has_touch=True, is_mobile=True)
    live(page)
    server.pty(conversation, "exec_block", command=ASKS, timeout_ms=0)
    expect(page.locator("h1")).to_have_text("Asks on the go")
    page.get_by_role("button", name="Answer").tap()
    expect(page.locator("#secret-field")).to_be_focused()
    page.keyboard.type("four\n")
    expect(page.locator("#rows")).to_contain_text("got 4 characters")
    expect(page.locator("#asks")).to_be_hidden()


def test_typing_ends_a_rewind(visit, talk, server: Server):
    conversation = talk(cols=60, rows=10)
    server.pty(conversation, "exec_block", command="seq 1 50")
    server.pty(conversation, "exec_block", command="clear; echo the-$((1 + 1))nd screen")
    page = visit(f"/#c={conversation}")
    expect(page.get_by_role("button", name="Earlier lines")).to_be_visible()
    expect(page.locator("#rows")).to_contain_text("the-2nd screen")  # below which the button stands
    back = page.get_by_role("button", name="Command before")
    place = back.bounding_box()
    back.click()
    back.click()
    expect(page.locator("#rows")).to_contain_text("50")
    assert back.bounding_box() == place, "what is clicked twice stays where it is"
    expect(page.get_by_role("button", name="Earlier lines")).to_be_hidden()
    take(page)
    expect(page.locator("#moment")).to_have_text("Live")
    page.keyboard.type("echo now-$((7 + 7))\n")
    expect(page.locator("#rows")).to_contain_text("now-14")
    back.click()
    expect(page.locator("#terminal-pane")).to_have_class(re.compile("past"))
    page.locator("#typing").focus()
    page.keyboard.type("echo then-$((8 + 8))\n")
    expect(page.locator("#moment")).to_have_text("Live")
    expect(page.locator("#rows")).to_contain_text("then-16")


def test_all_of_the_screen_is_seen(visit, talk, server: Server):
    conversation = talk(cols=80, rows=40)
    server.pty(conversation, "exec_block", command="seq 1 60; echo the-$((1 + 1))nd")
    page = visit(f"/#c={conversation}", viewport={"width": 1024, "height": 768})
    expect(page.locator("#rows")).to_contain_text("the-2nd")
    expect(page.get_by_role("button", name="Earlier lines")).to_be_visible()
    expect(page.locator(".term-row").last).to_be_in_viewport(ratio=1)
    expect(page.locator(".term-row").first).to_be_in_viewport(ratio=1)


def test_rewind(visit, talk, server: Server):
    conversation = talk(cols=60, rows=10)
    server.pty(conversation, "exec_block", command="clear; echo the-$((1 + 0))st screen")
    server.pty(conversation, "exec_block", command="clear; echo the-$((1 + 1))nd screen; false")
    server.pty(conversation, "exec_block", command="clear; echo the-$((1 + 2))rd screen")
    page = visit(f"/#c={conversation}")
    expect(page.locator("#rows")).to_contain_text("the-3rd screen")
    expect(page.locator("#lane span")).to_have_count(3)
    expect(page.locator("#lane .bad")).to_have_count(1)
    page.get_by_role("button", name="Command before").click()
    expect(page.locator("#rows")).to_contain_text("the-3rd screen")
    page.get_by_role("button", name="Command before").click()
    expect(page.locator("#rows")).to_contain_text("the-2nd screen")
    page.get_by_role("button", name="Command before").click()
    expect(page.locator("#rows")).to_contain_text("the-1st screen")
    assert "the-2nd" not in screen(page)
    expect(page.locator("#terminal-pane")).to_have_class(re.compile("past"))
    # a command that runs meanwhile does not change the screen of the past
    server.pty(conversation, "exec_block", command="clear; echo the-$((2 + 2))th screen")
    expect(page.locator("#command-list li")).to_have_count(4)
    expect(page.locator("#rows")).to_contain_text("the-1st screen")
    page.get_by_role("button", name="Back to live").click()
    expect(page.locator("#rows")).to_contain_text("the-4th screen")
    # the list of commands leads back too, and the slider by keys
    page.get_by_role("button", name=re.compile("screen as it was after .*nd screen")).click()
    expect(page.locator("#rows")).to_contain_text("the-2nd screen")
    page.get_by_role("slider", name="Time").press("End")
    expect(page.locator("#rows")).to_contain_text("the-4th screen")
    page.get_by_role("slider", name="Time").press("Home")
    expect(page.locator("#rows")).not_to_contain_text("screen")
    page.get_by_role("combobox", name="Speed").select_option("16×")
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#moment")).to_have_text("Live")
    expect(page.locator("#rows")).to_contain_text("the-4th screen")


def test_a_phone(visit, talk, server: Server):
    conversation = talk(name="On the go", cols=120, rows=30)
    page = visit(f"/#c={conversation}", viewport=PHONE, has_touch=True, is_mobile=True)
    server.pty(conversation, "exec_block", command="echo from-$((4 + 4))")
    expect(page.locator(".entry", has_text="echo from-")).to_be_visible()
    expect(page.locator("#terminal-pane")).to_be_hidden()
    expect(page.locator("#conversations")).to_be_hidden()
    page.get_by_role("button", name="Conversations").tap()
    expect(page.locator(".conversation", has_text="On the go")).to_be_visible()
    expect(page.locator("#timeline")).to_be_hidden()
    page.locator(".conversation", has_text="On the go").tap()
    expect(page.locator("#timeline")).to_be_visible()
    page.get_by_role("navigation", name="Panes").get_by_role("button", name="Terminal").tap()
    expect(page.locator("#rows")).to_contain_text("from-8")
    grid = page.locator("#grid").bounding_box()
    assert grid["width"] <= PHONE["width"], "the whole width of the screen fits"
    page.get_by_role("button", name="Take the keyboard").tap()
    expect(page.locator("#keys-row")).to_be_visible()
    page.keyboard.type("sleep 1000")
    page.get_by_role("button", name="enter", exact=True).tap()
    expect(page.locator("#terminal-state")).to_contain_text("running")
    assert server.pty(conversation, "wait_for", match={"foreground": "sleep"})["matched"]
    page.get_by_role("button", name="ctrl", exact=True).tap()
    page.keyboard.type("c")
    expect(page.locator("#command-list li.bad em")).to_have_text("exit 130")
    page.get_by_role("button", name="Up", exact=True).tap()
    expect(page.locator("#rows")).to_contain_text(re.compile(r"sleep 1000.*sleep 1000"))
    page.get_by_role("button", name="Give the keyboard back").tap()
    expect(page.get_by_role("button", name="Take the keyboard")).to_be_enabled()
    status = server.pty(conversation, "status")
    assert (status["cols"], status["rows"]) == (120, 30), "a phone does not resize the terminal"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_another_shell_when_one_has_ended(visit, talk, server: Server):
    conversation = talk()
    server.pty(conversation, "exec_block", command="echo here")
    page = visit(f"/#c={conversation}")
    take(page)
    page.keyboard.type("exit\n")
    expect(page.locator("#terminal-state")).to_contain_text("no shell")
    page.get_by_role("button", name="Start a shell").click()
    expect(page.locator("#terminal-state")).to_contain_text("idle")
    expect(page.locator("#typing")).to_be_focused()
    page.keyboard.type("echo again-$((5 + 5))\n")
    expect(page.locator("#rows")).to_contain_text("again-10")


def test_links_that_show_another_address_are_marked(visit, talk, server: Server, tmp_path: Path):
    """The same texts as in pictures and exports: they cannot be clicked, and their titles say where they lead."""
    conversation = talk(cols=20, rows=8)
    page = visit(f"/#c={conversation}")
    shows = tmp_path / "shows"
    for texts, misleads in ((MISLEADING, True), (HONEST, False)):
        for name, text in texts.items():
            shows.write_text(f"\x1b[H\x1b[2J{text}\x1b[8;1H{name}", encoding="utf-8")
            server.pty(conversation, "exec_interactive", command=f"clear; cat {shows}; read x")
            expect(page.locator(".term-row").last).to_have_text(name)
            linked = page.locator(".term-row [title]")
            expect(linked).not_to_have_count(0)
            assert page.locator(".term-row a").count() == (0 if misleads else linked.count()), name
            assert all("evil.example" in title for title in titles(linked)) or not misleads, name
            assert all(("another address" in title) == misleads for title in titles(linked)), name
            cursor = server.pty(conversation, "ctrl_c")["cursor"]
            server.pty(conversation, "wait_for", match={"prompt": True}, from_cursor=cursor)


def titles(elements: Locator) -> list[str]:
    return [str(title) for title in elements.evaluate_all("(all) => all.map((one) => one.title)")]
