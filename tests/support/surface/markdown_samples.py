"""Markdown for property tests: fragments that parsers stumble over, and whatever else."""

from hypothesis import strategies as st

FRAGMENTS = [
    "a", "b c", "é", "語", "😀", "\n", "\n\n", "\r\n", "\r", " ", "  ", "    ", "\t", "\\", "\0", "\ud83d", "\ude00",
    "- x", "* y", "- ", "1. one", "2. two", "2", "2.", "- [ ] to do", "- [x] done",
    "> q", ">", "> [!NOTE]\n> hi", "# h", "#", "===", "---", "***",
    "```\n", "```py\n", "~~~\n", "```md\n| a |\n|---|\n| b |\n```", "`code`", "``",
    "| a | b |\n|---|---|\n| 1 | 2 |", "|---|---|", "| a | b |", "| `x|y` | 2 | 3 |", "text below",
    "+---+---+\n| a | b |\n+---+---+\n| c | d |\n+---+---+", "+---+", "+===",
    "[foo]", "[foo]: /u", "[foo]: /v 't'\n", "[FOO][]", "[x][foo]", "![i][foo]", "[a\n> b]", "> [a b]: /q",
    "[^1]", "[^1]: note", "[^1]: n\n\n    more", "[", "]", "(", "]:", "![",
    "<div>", "</div>", "<!-- c", "-->", "<br>", "<script>", "</script>", "<b>",
    "$x$", "$$\ny\n$$", "$5 and $6", "*", "**", "~~", "_", "&amp;", "https://x.example/z).", "www.x.example",
]  # fmt: skip
"""Pieces that mean something else beside other pieces, or after a line more."""

BROKEN = st.lists(
    st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(["", "", "\n", "\n\n", " "])).map("".join), max_size=14
).map("".join)
ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
MARKDOWN = st.one_of(BROKEN, BROKEN, ANY_TEXT)

WORD = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=6)
INLINE = st.lists(
    st.tuples(
        st.sampled_from(
            ["{}", "*{}*", "**{}**", "`{}`", "~~{}~~", "[{}](/u)", "![{}](/u)", "<b>{}</b>", "{}\\", "$$ {} $$"]
        ),
        WORD,
    ),
    min_size=1,
    max_size=5,
)
"""Words, each with the markup that it stands in."""
BLOCK = st.sampled_from(
    [
        "{}", "# {}", "> {}", "- {}", "3. {}", "- [ ] {}", "> - {}", "```\n{}\n```", "~~~md\n{}\n~~~", "    {}",
        "<div>\n{}\n</div>", "{}\n===", "| h |\n|---|\n| {} |", "| h | i |\n|---|---|\n| 1 | 2 | {} |",
        "| h |\n|---|\n| 1 |\n{}", "[^1]: {}", "{}  \nend", "+----+\n| h  |\n+----+\n| {} |\n+----+",
        "text\n+----+\n| h  |\n+----+\n| 1  |\n+----+\n{}",
    ]
)  # fmt: skip
WORDY = st.lists(st.tuples(BLOCK, INLINE), min_size=1, max_size=5).map(
    lambda blocks: (
        "\n\n".join(
            block.replace("{}", " ".join(form.replace("{}", word) for form, word in line)) for block, line in blocks
        ),
        [word for _, line in blocks for _, word in line],
    )
)
"""A document, and its words in order."""
