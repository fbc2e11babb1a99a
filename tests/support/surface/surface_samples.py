"""Rows that the chat and html surfaces are tried with: by hand for the golden files, and any at all for the laws.

`VANTAGE_GOLDEN=write` writes the golden files anew; read the difference before it is committed.
"""

import os
from typing import get_args

from hypothesis import strategies as st

from places import FIXTURES
from strategies import TEXT
from vantage.text.spans import Span
from vantage.text.style import ACCENT
from vantage.timeline import request_card
from vantage.timeline.request_card import Choice, Field, Given, Option, OptionKind, RequestCard
from vantage.timeline.row import (
    Action,
    AnsiBlock,
    BadgesBlock,
    Block,
    Capability,
    ChecklistBlock,
    ChecklistItem,
    CodeBlock,
    DiffBlock,
    DiffLine,
    FileDiff,
    ImageBlock,
    KeyValueBlock,
    ListBlock,
    ListItem,
    MarkdownBlock,
    OutputBlock,
    ProgressBlock,
    RequestBlock,
    Row,
    SectionBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    head,
)

FOLDER = FIXTURES / "surfaces"

ANSWER = """\
# What I found

The **parser** drops *trailing* ~~spaces~~ newlines in `read_all`, see [the issue](https://example.com/issues/7) and
[this one](javascript:alert(1)); write to [Ada](mailto:ada@example.com).[^1]

1. Read the file
2. Compare
   - with `diff`
   - by eye

   ```python
   def read_all(path):
       return path.read_text()  # "whole"
   ```

- [x] reproduce
- [ ] fix

> [!WARNING]
> This changes the output.

> As the old saying goes:
> measure twice.

| tool | runs | time |
|:-----|-----:|:----:|
| ruff | 12 | 0.1 s |
| **mypy** | 3 | 2 s |

---

![a chart](https://example.com/chart.png) and <b>markup</b> stay as they are.

[^1]: She wrote it.
"""

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

DIFF = DiffBlock(
    [
        FileDiff(
            "src/main.go",
            hunks=[
                [DiffLine(" ", "import (", 18), DiffLine("+", '\t"axi/prompt"', 19), DiffLine(" ", ")", 20)],
                [DiffLine("-", "old(a < b)", 45), DiffLine("+", "new(a < b)", 46), DiffLine(" ", "}", 47)],
            ],
        ),
        FileDiff("a.txt", "Rename", new_path="b.txt"),
        FileDiff("gone.bin", "Delete", note="binary"),
    ]
)

OPTIONS = [
    Option("allow", "Allow <once>", "allow", "once"),
    Option("always", "Always allow rm", "allow", "always"),
    Option("deny", "Deny, and say why", "deny", needs_text=True),
]
FIELDS = [
    Field(
        "branch",
        "Branch",
        "string",
        "Where to push",
        required=True,
        choices=[Choice("main", "main"), Choice("dev", "dev")],
    ),
    Field("force", "force", "boolean"),
]

SAMPLES: dict[str, list[Row]] = {
    "answer": [
        Row(id="u1", kind="user", blocks=[TextBlock("Why is the\nlast line missing?")], seq=1, ts=1_700_000_000_000),
        Row(id="m1", kind="message", blocks=[MarkdownBlock(ANSWER)], seq=2),
    ],
    "tools": [
        Row(
            id="t1",
            kind="tool",
            status="ok",
            title=head("Ran", "go test ./..."),
            blocks=[OutputBlock("\n".join(f"ok  \tpkg/{n}\t0.00{n}s" for n in range(8)))],
            seq=3,
            tool="shell",
            duration_ms=1234,
        ),
        Row(id="t2", kind="tool", status="running", title=head("Running", "make <all>"), seq=4, tool="shell"),
        Row(
            id="t3",
            kind="tool",
            status="error",
            title=head("Read", "no/such_file*.go"),
            blocks=[TextBlock("Error: no such file", "error")],
            seq=5,
            diagnostics=["render spec refused: unknown block 'chart'"],
        ),
        Row(id="t4", kind="tool", status="ok", title=head("Edit", "src/main.go"), blocks=[DIFF], seq=6),
        Row(
            id="t5",
            kind="tool",
            status="ok",
            title=head("Update Plan"),
            blocks=[
                ChecklistBlock(
                    [
                        ChecklistItem("Look", "completed"),
                        ChecklistItem("Leap", "in_progress"),
                        ChecklistItem("Land"),
                    ],
                    "Need to look before the leap.",
                )
            ],
        ),
        Row(id="n1", kind="notice", title=[Span("Warning"), Span(": disk is nearly full", ACCENT)]),
    ],
    "blocks": [
        Row(
            id="every block",
            kind="tool",
            status="ok",
            title=head("Weather", "Berlin"),
            icon="cloud.sun",
            icon_color="cyan",
            trailing="3 days",
            blocks=[
                TextBlock("plain\ntext"),
                TextBlock("set in\n  columns", "monospace"),
                TextBlock("aside", "dim"),
                MarkdownBlock("Thinking *hard* about `it`.", italic=True),
                CodeBlock("let x = 1;\nlet y = 2;", "rust", 10),
                KeyValueBlock([("city", "Berlin"), ("wind", "5 m/s\nfrom the west")]),
                BadgesBlock(["sunny", "dry & warm"], "yellow"),
                ListBlock([ListItem("Mon", "ok", "21°"), ListItem("Tue"), ListItem("Wed")], 2),
                AnsiBlock("\x1b[1;31mhot\x1b[0m and \x1b[38;5;39mcold\x1b[0m"),
                OutputBlock("one line"),
                TableBlock(["day", "high"], [["Mon", "21"], ["Tue", "19", "extra"], ["Wed"]]),
                ImageBlock("asset-1.png", "a map"),
                ImageBlock(PIXEL, "a pixel"),
                ImageBlock("https://example.com/x.png", "remote"),
                ProgressBlock(0.6, "loading"),
                TerminalBlock("b7", "$ date\nMon"),
                SectionBlock(
                    "Sources",
                    [
                        TextBlock("two stations", spoken="measured by two stations"),
                        SectionBlock("Tempelhof", [KeyValueBlock([("height", "48 m")])]),
                    ],
                    actions=[Action("open", "https://example.com/stations?a=1&b=2", "All stations")],
                ),
            ],
        )
    ],
    "specs": [
        Row(
            id="c1",
            kind="tool",
            status="ok",
            title=[Span("a search for\nsomething that takes so many words that no display has room for them on " * 2)],
            icon="magnifyingglass",
            icon_color="success",
            trailing="2 results",
            cut_title="tail",
            blocks=[
                ListBlock(
                    [ListItem("One", subtitle="https://example.com/1")],
                    spoken="one result of two",
                    actions=[
                        Action("copy", 'two\n\tlines & "quotes"', "Copy all"),
                        Action("open", "mailto:ada@example.com", "Write"),
                        Action("open", "javascript:alert(1)", "Run"),
                        Action("open", "https://example.com/"),
                        Action("goto", "every block"),
                        Action("send", "search.more", "More"),
                    ],
                ),
                TableBlock(["a"], [["1"]], requires=["tables"], fallback=TextBlock("a is 1")),
                MarkdownBlock("```mermaid\npie\n```", requires=["mermaid", "images"]),
            ],
        ),
        Row(
            id="c2",
            kind="tool",
            status="running",
            title=[Span("/a/very/long/path/" + "x" * 120 + "/whose/end/matters.py")],
            icon="no.such.icon",
            icon_color="no colour",
            cut_title="middle",
        ),
        Row(id="c3", kind="event", title=[Span("Deployed")], icon="rocket", icon_color="purple", trailing="v1.2"),
    ],
    "requests": [
        Row(
            id="q1",
            kind="request",
            status="waiting",
            title=head("Asks", "Run", "rm -rf build"),
            blocks=[
                KeyValueBlock([("directory", "/home/ada/shop")]),
                RequestBlock(
                    RequestCard(
                        request_id="r1-120", kind="approval", state="open", options=OPTIONS, expires=1795000000000
                    )
                ),
            ],
        ),
        Row(
            id="q2",
            kind="request",
            status="none",
            title=head("Asked", "Run", "rm -rf build"),
            blocks=[
                RequestBlock(
                    RequestCard(
                        request_id="r1-121",
                        kind="approval",
                        state="answered",
                        options=OPTIONS,
                        answer=Given("bot:telegram:ada", "deny", "use <make> clean"),
                    )
                )
            ],
        ),
        Row(
            id="q3",
            kind="request",
            status="waiting",
            title=head("Asks", "Where to?"),
            blocks=[
                RequestBlock(
                    RequestCard(
                        request_id="r1-122", kind="question", state="open", fields=FIELDS, schema={"type": "object"}
                    )
                )
            ],
        ),
        Row(
            id="q4",
            kind="request",
            status="warning",
            title=head("Asked", "What now?"),
            blocks=[RequestBlock(RequestCard(request_id="r1-123", kind="question", state="closed", why="expired"))],
        ),
        Row(id="u2", kind="user", blocks=[TextBlock("Go on.")], by="bot:telegram:ada"),
    ],
    "sub_agents": [
        Row(id="s1", kind="message", depth=1, agent="reviewer", blocks=[MarkdownBlock("I **agree**.")]),
        Row(
            id="s2",
            kind="tool",
            status="ok",
            depth=2,
            title=head("Ran Tests", "some/pkg"),
            blocks=[OutputBlock("long\n" * 12, None)],
        ),
    ],
}


def golden(name: str, got: str) -> tuple[str, str]:
    """What a surface drew, and what the golden file says; missing ones are written."""
    path = FOLDER / name
    if os.environ.get("VANTAGE_GOLDEN") == "write":
        path.write_text(got)
    return got, path.read_text()


def any_block(text: st.SearchStrategy = TEXT) -> st.SearchStrategy:
    """Every block type, with any text in any of its fields."""
    plain = _plain_block(text)
    return st.one_of(
        plain,
        st.builds(SectionBlock, text, st.lists(plain, max_size=2), spoken=text, actions=any_actions(text)),
        st.builds(
            TextBlock,
            text,
            spoken=text,
            actions=any_actions(text),
            requires=st.lists(st.sampled_from(get_args(Capability)), max_size=2),
            fallback=st.none() | plain,
        ),
    )


def any_actions(text: st.SearchStrategy) -> st.SearchStrategy:
    address = st.one_of(text, st.sampled_from(["https://example.com/a?b", "mailto:a@b.c", "javascript:alert(1)"]))
    return st.lists(st.builds(Action, st.sampled_from(["copy", "open", "goto", "send"]), address, text), max_size=3)


def _plain_block(text: st.SearchStrategy) -> st.SearchStrategy:
    texts = st.lists(text, max_size=3)
    return st.one_of(
        st.builds(TextBlock, text, st.sampled_from(["default", "monospace", "error", "dim", "accent"])),
        st.builds(MarkdownBlock, text, st.booleans()),
        st.builds(CodeBlock, text, st.one_of(st.just("python"), text), st.none() | st.integers(-5, 2000)),
        st.builds(KeyValueBlock, st.lists(st.tuples(text, text), max_size=3)),
        st.builds(BadgesBlock, texts, st.one_of(st.just("blue"), text)),
        st.builds(
            ListBlock, st.lists(st.builds(ListItem, text, text, text), max_size=3), st.none() | st.integers(0, 2)
        ),
        st.builds(AnsiBlock, text),
        st.builds(OutputBlock, text, st.none() | st.integers(0, 5)),
        st.builds(
            DiffBlock,
            st.lists(
                st.builds(
                    FileDiff,
                    text,
                    st.sampled_from(["Edit", "Add", "Delete", "Rename"]),
                    text,
                    st.lists(
                        st.lists(
                            st.builds(DiffLine, st.sampled_from(" +-"), text, st.none() | st.integers(0, 99)),
                            max_size=3,
                        ),
                        max_size=2,
                    ),
                    text,
                ),
                max_size=2,
            ),
        ),
        st.builds(
            ChecklistBlock,
            st.lists(
                st.builds(ChecklistItem, text, st.sampled_from(["pending", "in_progress", "completed"])), max_size=3
            ),
            text,
        ),
        st.builds(TableBlock, texts, st.lists(texts, max_size=3)),
        st.builds(ImageBlock, st.one_of(text, st.just(PIXEL), st.just("asset")), text),
        st.builds(ProgressBlock, st.floats(), text),
        st.builds(TerminalBlock, text, text),
        st.builds(RequestBlock, any_card(text)),
    )


def any_card(text: st.SearchStrategy = TEXT) -> st.SearchStrategy:
    return st.builds(
        RequestCard,
        request_id=text,
        kind=st.sampled_from(get_args(request_card.Kind)),
        state=st.sampled_from(get_args(request_card.State)),
        options=st.lists(st.builds(Option, text, text, st.sampled_from(get_args(OptionKind)), text), max_size=3),
        schema=st.none() | st.just({"type": "object"}),
        fields=st.lists(
            st.builds(
                Field, text, text, st.just("string"), text, choices=st.lists(st.builds(Choice, text, text), max_size=2)
            ),
            max_size=2,
        ),
        expires=st.none() | st.integers(),
        answer=st.none() | st.builds(Given, text, text, text, st.none() | st.dictionaries(text, text, max_size=2)),
        why=text,
    )


def any_row(text: st.SearchStrategy = TEXT) -> st.SearchStrategy:
    return st.builds(
        Row,
        id=text,
        kind=st.sampled_from(["message", "reasoning", "user", "tool", "request", "notice", "event"]),
        status=st.sampled_from(["none", "running", "waiting", "ok", "error"]),
        title=st.one_of(st.just([]), st.builds(head, text, text)),
        blocks=st.lists(any_block(text), max_size=4),
        depth=st.integers(0, 9),
        agent=text,
        by=st.one_of(st.just("bot:telegram:ada"), text),
        icon=st.one_of(st.just(""), st.just("cloud.sun"), text),
        icon_color=st.one_of(st.just("red"), text),
        trailing=text,
        cut_title=st.sampled_from(["", "tail", "middle"]),
        seq=st.none() | st.integers(0, 10**9),
        duration_ms=st.none() | st.integers(-1, 10**8),
        tool=text,
        diagnostics=st.lists(text, max_size=2),
    )


BLOCK_TYPES = get_args(Block)

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "[x](javascript:alert(1)) ![y](javascript:alert(2)) <javascript:alert(3)>",
    "[x](data:text/html,<script>alert(1)</script>)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "\u202egnp.exe\u2066",
    "\x1b]52;c;AAAA\x07\x1b[2J\x9b31m",
    "a\x00b",
    "\ud800 lone \udfff",
    "<!channel> <@U123> <https://evil.example|bank.example>",
    "]]>--><![CDATA[",
    "&lt;b&gt; &#x3c;script&#x3e;",
    "'; drop table rows; --",
    "x" * 1_000_000,
    "word " * 200_000,
    "🏳️‍🌈" * 20_000,
    "a" + "\u0301" * 10_000,
    "> " * 3_000 + "deep",
    "- " * 3_000 + "deep",
    "[" * 5_000,
    "|a" * 300 + "|\n" + "|-" * 300 + "|\n" + "|1" * 300 + "|",
]
"""Hostile texts that must stay inert and be drawn in bounded time."""


def hostile_rows(text: str) -> list[Row]:
    """The text in every place a row has for text."""
    return [
        Row(id=text, kind="message", blocks=[MarkdownBlock(text), TextBlock(text)], agent=text, depth=1),
        Row(id="person", kind="user", blocks=[TextBlock(text)], by=f"bot:{text}:{text}"),
        Row(
            id="tool",
            kind="tool",
            status="error",
            title=head(text, text),
            trailing=text,
            icon=text,
            icon_color=text,
            tool=text,
            diagnostics=[text],
            blocks=[
                CodeBlock(text, text),
                KeyValueBlock([(text, text)]),
                BadgesBlock([text], text),
                ListBlock([ListItem(text, text, text)]),
                AnsiBlock(text),
                OutputBlock(text),
                DiffBlock([FileDiff(text, new_path=text, note=text, hunks=[[DiffLine("+", text, 1)]])]),
                ChecklistBlock([ChecklistItem(text)], text),
                TableBlock([text], [[text]]),
                ImageBlock(text, text),
                ProgressBlock(0.5, text),
                TerminalBlock(text, text),
                RequestBlock(hostile_card(text, "open")),
                RequestBlock(hostile_card(text, "closed")),
                SectionBlock(text, [TextBlock(text, actions=hostile_actions(text))], spoken=text),
                TextBlock(text, requires=["images", "mermaid"], fallback=TextBlock(text, spoken=text)),
            ],
        ),
        *[
            Row(id=cut, kind="tool", status="ok", title=head(text), icon="brain", trailing=text, cut_title=cut)
            for cut in ("tail", "middle")
        ],
    ]


def hostile_card(text: str, state: request_card.State) -> RequestCard:
    return RequestCard(
        request_id=text,
        kind="question",
        state=state,
        options=[Option(text, text, "allow", text)],
        fields=[Field(text, text, "string", text, choices=[Choice(text, text)])],
        answer=Given(f"bot:{text}:{text}", text, text, {text: text}),
        why=text,
    )


def hostile_actions(text: str) -> list[Action]:
    addresses = [
        text,
        f"https://example.com/{text}",
        f"mailto:{text}",
        f"java\nscript:{text}",
        f"data:text/html,{text}",
    ]
    return [
        *[Action("open", address, label) for address in addresses for label in ("", text)],
        *[Action(kind, text, text) for kind in ("copy", "goto", "send")],
    ]
