"""A whole conversation as one file: it has every row, in order, and its content is inert."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import sync_playwright

from strategies import EVENT, TEXT
from terminal_home import environment
from vantage.cli import main
from vantage.conversation.manager import Manager
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.event_log import EventLog
from vantage.document.markdown import PARSER, parse
from vantage.errors import InputError
from vantage.events import decode_event
from vantage.export.conversation import FORMATS, content_type, export, file_name
from vantage.export.markdown_source import code_span, embed, escaped, fenced
from vantage.export.rows import MAX_OUTPUT, exported_rows
from vantage.timeline.fold import Timeline
from written_conversation import Written
from written_terminal import WrittenTerminal

BROWSER = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def exported(one, format: str) -> str:
    return "".join(export(one.folder, format))


SAID = [
    {"type": "user_message", "text": "Why *does* it fail?\n# no heading"},
    {"type": "assistant_reasoning", "text": "**Looking around**\n\nIn the tests."},
    {"type": "tool_start", "tool": "bash", "toolCallId": "t", "args": {"command": "ls"}},
    {"type": "assistant_delta", "message_id": "m", "text": "First "},
    {"type": "tool_end", "toolCallId": "t", "output": "\n".join(f"file {n}" for n in range(20))},
    {"type": "assistant_text", "message_id": "m", "text": "## The whole\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
    {"type": "error", "message": "connection lost"},
]


def test_a_document_to_read(tmp_path):
    one = Written(tmp_path)
    one.say(*SAID)
    one.run("make\nmake install", "```\ndone\n")
    assert exported(one, "markdown") == (
        "# one\n\nConversation `one`, begun 1970-01-01 00:00 UTC\n"
        "\n## You · 00:00:01\n\nWhy \\*does\\* it fail?  \n\\# no heading\n"
        "\n## Assistant · 00:00:01\n\n> **Looking around**\n"
        "\n**Ran** `ls`\n\n```text\n" + "\n".join(f"file {n}" for n in range(20)) + "\n```\n"
        "\n#### The whole\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        "\n**Error**: connection lost\n"
        "\n**Ran**\n\n```sh\nmake\nmake install\n```\n\n````text\n```\ndone\n````\n"
    )


def test_plain_text_to_read(tmp_path):
    one = Written(tmp_path)
    one.say(*SAID[:4], *SAID[4:])
    one.run("seq 3", "1\n2\n3\n")
    text = exported(one, "text")
    assert text.startswith(
        "one\nconversation one, begun 1970-01-01 00:00 UTC\n\n› Why *does* it fail?\n  # no heading\n"
    )
    assert "\n• Ran ls\n  └ file 0\n    file 1\n" in text
    assert "\n    file 19\n" in text  # nothing is folded away
    assert text.endswith("\n• Error: connection lost\n\n• Ran seq 3\n  └ 1\n    2\n    3\n")


def test_a_long_command_is_there_as_a_whole(tmp_path):
    one = Written(tmp_path)
    command = "cat <<END\n" + "\n".join(f"line {n}" for n in range(12)) + "\nEND"
    one.run(command, "x\n")
    assert all(f"line {n}\n" in exported(one, "text") for n in range(12))
    assert command in exported(one, "markdown")


def test_rows_come_in_the_order_in_which_they_began_whatever_ends_first(tmp_path):
    one = Written(tmp_path)
    one.say({"type": "tool_start", "tool": "task", "toolCallId": "outer", "args": {"description": "all of it"}})
    one.say(*SAID)
    one.say({"type": "tool_end", "toolCallId": "outer", "output": "at last"})
    rows = list(exported_rows(one.folder))
    assert [row.id for row in rows] == [f"r{n}" for n in range(1, len(rows) + 1)]
    assert rows[0].status == "ok"
    assert "running" not in {row.status for row in rows}


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_an_export_says_how_much_output_is_left_out(tmp_path, format):
    one = Written(tmp_path)
    output = "".join(f"line {n}\n" for n in range(40_000))
    one.run("seq", output)
    one.say({"type": "tool_end", "tool": "bash", "toolCallId": "x", "args": {"command": "y"}, "output": output})
    whole = exported(one, format)
    assert len(whole) < 6 * MAX_OUTPUT
    spoken = re.search(r"… ([\d,]+) bytes left out \(spool (\d+)–(\d+)\) …", whole)
    assert int(spoken[1].replace(",", "")) == int(spoken[3]) - int(spoken[2])
    assert re.search(r"… [\d,]+ characters left out …", whole)
    assert "line 0\n" in whole
    assert "line 39999" in whole


def test_a_command_that_has_not_ended_says_so(tmp_path):
    one = Written(tmp_path)
    one.say({"type": "agent_block_begin", "block_id": "b1", "cmd": "sleep"})
    assert "it had not ended" in exported(one, "text")


def test_a_log_that_grows_meanwhile(tmp_path):
    one = Written(tmp_path)
    one.say(*SAID)
    pieces = export(one.folder, "markdown")
    first = next(pieces) + next(pieces)
    one.say({"type": "user_message", "text": "too late"})
    with one.folder.events.open("ab") as log:
        log.write(b'{"type":"user_mess')
    rest = "".join(pieces)
    assert "connection lost" in rest
    assert "too late" not in first + rest
    assert one.folder.events.read_bytes().endswith(b'{"type":"user_mess')  # only read


def test_an_empty_conversation(tmp_path):
    one = Written(tmp_path)
    assert exported(one, "markdown").startswith("# one\n")
    assert "Nothing was said or run." in exported(one, "html")
    assert 'id="terminal"' not in exported(one, "html")


def test_names_and_kinds():
    assert file_name("c-1", "markdown") == "c-1.md"
    assert content_type("html") == "text/html; charset=utf-8"
    with pytest.raises(InputError, match="did you mean 'markdown'"):
        content_type("markdwn")


# a message's markdown inside a document

# what it was → what it is in the document
EMBEDDED = {
    "plain *text*": "plain *text*",
    "# Title\n\ntext": "### Title\n\ntext",
    "Title\n=====\ntext": "### Title\ntext",
    "###### deep": "###### deep",
    "a <b>c</b>": "a &lt;b>c&lt;/b>",
    "<script>\nx()\n</script>": "&lt;script>\nx()\n&lt;/script>",
    "<!-- never closed": "&lt;!-- never closed",
    "```\n<b>\n```": "```\n<b>\n```",
    "```py\nopen": "```py\nopen\n```",
    " ````\nopen\n```": " ````\nopen\n```\n````",
    "~~~~\nopen\n~~~": "~~~~\nopen\n~~~\n~~~~",
    "- a\n  ```\n  open": "- a\n  ```\n  open",
    "[x](javascript:alert(1))": "\\[x](javascript:alert(1))",
    "[x](https://e.x)": "[x](https://e.x)",
    "[x](docs/a.md)": "[x](docs/a.md)",
    "![x](https://e.x/y.png)": "[x](https://e.x/y.png)",
    "a[^1]\n\n[^1]: note": "a[^n1]\n\n[^n1]: note",
    "| a |\n|---|\n| `x` |": "| a |\n|---|\n| `x` |",
    "tab\there \x1b[31m \u202e": "tab\there \\x1B[31m \\u202E",
}


@pytest.mark.parametrize("source", EMBEDDED)
def test_markdown_as_part_of_a_document(source):
    assert embed(source, "n", 2) == EMBEDDED[source]


def kinds(document: str) -> list[str]:
    return [next(iter(event)) if isinstance(event, dict) else event for event in PARSER.events(document)]


@given(TEXT)
def test_no_html_and_nothing_left_open(text):
    document = f"{embed(text, 'n-', 2)}\n\n## Next\n"
    assert not {"Html", "InlineHtml"} & set(kinds(document))
    events = list(PARSER.events(document))
    last = next(n for n in range(len(events) - 1, -1, -1) if isinstance(events[n], dict) and "Start" in events[n])
    assert "Heading" in str(events[last])  # what follows is not swallowed


@given(TEXT)
def test_escaped_text_reads_as_it_was(text):
    document = parse(escaped(text))
    words = "".join("".join(str(block) for block in document).split())
    assert "Html" not in words
    assert not {"Html", "InlineHtml", "Heading", "Rule"} & set(kinds(escaped(text)))


@given(TEXT)
def test_code_is_never_broken_out_of(text):
    assert kinds(fenced(text.replace("\r", ""))).count("Start") == 1
    line = " ".join(text.split())
    if line:
        assert "Code" in kinds(f"x {code_span(line)}")


@given(
    st.lists(EVENT.filter(lambda event: event.get("type") not in ("agent_block_delta", "screen_delta")), max_size=12)
)
def test_whatever_happens_can_be_exported(events):
    import tempfile

    with tempfile.TemporaryDirectory(prefix="vantage-test-") as place:
        one = Written(Path(place))
        one.say(*events)
        rows = list(exported_rows(one.folder))
        log = EventLog(one.folder.events)
        timeline = Timeline()
        for event in log.read(0, 100):
            timeline.add(event)
        log.close()
        assert [(row.id, row.kind, row.status, row.seq) for row in rows] == [
            (row.id, row.kind, row.status, row.seq) for row in timeline.rows
        ]
        document = exported(one, "markdown")
        assert not {"Html", "InlineHtml"} & set(kinds(document))
        document.encode()
        exported(one, "text").encode()
        page = exported(one, "html")
        page.encode()
        assert page.count("<article ") == len(rows)


# the page


@pytest.fixture(scope="module")
def real(home, tmp_path_factory):
    """The folder of a conversation that really ran."""
    import asyncio

    async def record() -> ConversationFolder:
        async with Manager(home) as manager:
            conversation = manager.create(name="A <real> one", env=environment(), user_rc=False, cwd=str(home))
            conversation.append([decode_event(event) for event in SAID])
            await conversation.terminal.exec_block("printf 'red\\033[31m%s\\033[0m\\n' alert; seq 1 50")
            await conversation.terminal.exec_block("echo '<img src=x onerror=document.title=1>'; false")
            conversation.append(
                [decode_event({"type": "assistant_text", "text": "<img src=x onerror=document.title=2> done"})]
            )
            await manager.close_conversation(conversation.id)
            return conversation.folder

    folder = asyncio.run(record())
    yield folder

    async def remove() -> None:
        async with Manager(home) as manager:
            await manager.delete(folder.path.name)

    asyncio.run(remove())


def test_a_page_shows_the_timeline_and_plays_the_terminal(real, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("".join(export(real, "html")))
    complaints = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=BROWSER)
        try:
            page = browser.new_page(viewport={"width": 1000, "height": 800})
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda request: complaints.append(request.url) if request.url[:4] == "http" else None)
            page.goto(file.as_uri())
            assert page.title() == "A <real> one"
            assert page.locator("article.v-row").count() == 8
            assert page.locator("details.v-details[open]").count() == 0
            page.get_by_role("button", name="Show details").click()
            output = page.locator("article.v-tool").nth(1).locator("pre")
            assert output.inner_text().startswith("redalert\n1\n2\n")
            assert output.inner_text().endswith("\n50\n")
            assert page.evaluate("getComputedStyle(document.querySelector('.v-user')).borderRadius") == "10px"
            page.get_by_role("link", name="Terminal").click()
            player = page.frame_locator("#terminal iframe")
            assert player.locator("#list button").count() == 2
            player.locator("#list button").nth(1).click()
            player.locator("#rows", has_text="onerror=document.title=1").wait_for()
            page.get_by_role("button", name="Light or dark").click()
            assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark")
            assert page.title() == "A <real> one"
        finally:
            browser.close()
    assert complaints == []


def test_a_policy_names_all_that_runs(real):
    page = "".join(export(real, "html"))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; ")
    assert len(re.findall(r"sha256-", policy)) == 4


# the command


def run(*arguments: str):
    return CliRunner().invoke(main, ["export", *arguments])


@pytest.mark.parametrize("format", FORMATS)
def test_the_command_writes_what_the_function_makes(tmp_path, format):
    terminal = WrittenTerminal(tmp_path)
    terminal.prompt()
    terminal.command("echo hi", "hi\r\n")
    result = run("c", "--home", str(tmp_path), "--format", format)
    assert result.exit_code == 0, result.output
    assert result.stdout == "".join(export(terminal.folder, format))
    target = tmp_path / "out"
    assert run("c", "--home", str(tmp_path), "--format", format, "-o", str(target)).exit_code == 0
    assert target.read_text() == result.stdout


def test_wrong_usage(tmp_path):
    Written(tmp_path)
    for arguments, words, code in [
        (["one"], "--format", 2),
        (["one", "--format", "pdf"], "pdf", 2),
        (["two", "--format", "text"], "there is no conversation 'two'", 1),
        (["one", "--format", "asciicast"], "never used", 1),
    ]:
        result = run(*arguments, "--home", str(tmp_path))
        assert result.exit_code == code
        assert words in result.output


def test_it_draws_tools_as_the_home_knows_them(tmp_path):
    one = Written(tmp_path)
    one.say({"type": "tool_start", "tool": "weather", "toolCallId": "w", "args": {"city": "Oslo"}})
    one.say({"type": "tool_end", "toolCallId": "w", "output": "rain"})
    spec = '{"weather": {"specVersion": 1, "collapsed": {"title": "Weather in {{args.city}}"}}}'
    (tmp_path / "tools.json").write_text(spec)
    done = subprocess.run(
        [sys.executable, "-m", "vantage", "export", "one", "--format", "text", "--home", str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Weather in Oslo" in done.stdout
