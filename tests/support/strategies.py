"""Hostile and ordinary input for property tests."""

from hypothesis import strategies as st

NASTY = st.sampled_from(
    [
        "\x1b[2J", "\x1b]52;c;AAAA\x07", "\x9b31m", "\x1b]8;;http://evil\x1b\\", "\x1bP", "\x1b_",
        "\x00", "\x07", "\x7f", "\x85",
        "\u202e", "\u2066", "\u2028", "\ud800", "\U000e0041", "\r", "\r\n", "\t", "\n", "\n\n",
        "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️", "🇩🇪",
        "한글", "漢字、かな。", "é", "a" * 90, "https://example.com/" + "x" * 70, "- ", "* ", "1. ", "> ",
        "```\n", "~~~", "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "**bold**", "`code`", "[x](javascript:alert(1))", "[l](https://e.x/y)", "![i](http://x/y.png)",
        "# ", "$x^2$", "<b>", "&amp;", "\\", "[^1]",
    ]
)  # fmt: skip
WORDS = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x2FFF), max_size=12)
TEXT = st.lists(st.one_of(NASTY, WORDS, st.just(" ")), max_size=14).map("".join)

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.one_of(WORDS, TEXT), inner, max_size=4)),
    max_leaves=8,
)

TOOLS = st.sampled_from(
    [
        "shell", "bash", "ls", "read_file", "Read", "update_plan", "TodoWrite", "get_public_api",
        "clarify_public_api",
        "update_usage", "change_api", "get_usage", "module_info", "run_tests", "apply_patch", "Edit",
        "Write", "MultiEdit",
        "remember", "recall", "search", "web_fetch", "web_search", "task", "some_tool", "mcp__x__y",
        "functions.shell", "",
    ]
)  # fmt: skip
ARGUMENTS = st.sampled_from(
    [
        "command", "cmd", "path", "file_path", "plan", "todos", "explanation", "import_path",
        "identifiers", "identifier",
        "question", "paths", "instructions", "package", "package_search", "include_dependency_packages", "test_name",
        "verbose", "patch", "input", "old_string", "new_string", "edits", "content", "text", "tags",
        "query", "pattern",
        "url", "description", "prompt",
    ]
)  # fmt: skip
PLAN = st.lists(
    st.fixed_dictionaries({"step": TEXT, "status": st.sampled_from(["pending", "completed", "odd"])}), max_size=4
)
PATCH_LINE = st.one_of(
    st.sampled_from(
        [
            "*** Begin Patch", "*** Update File: a/b.py", "*** Add File: c", "*** Delete File: d", "*** Move to: e",
            "*** End Patch", "@@", "@@ -1,2 +3,4 @@", "@@ -999999999,1 +1 @@", "--- a/x", "+++ b/x",
            "diff --git a/x b/y", "rename from q", "rename to r", "new file mode 1", "Binary files differ",
            "\\ No newline at end of file", "",
        ]
    ),
    st.tuples(st.sampled_from([" ", "+", "-", ""]), TEXT).map("".join),
)  # fmt: skip
PATCH = st.lists(PATCH_LINE, max_size=14).map("\n".join)
VALUE = st.one_of(JSON, TEXT, PLAN, PATCH, st.lists(TEXT, max_size=4), st.booleans())
ARGS = st.one_of(st.none(), TEXT, PATCH, JSON, st.dictionaries(ARGUMENTS, VALUE, max_size=5))
OUTPUT = st.one_of(
    st.none(), TEXT, JSON, PATCH, st.fixed_dictionaries({"success": st.booleans(), "content": TEXT, "error": TEXT})
)
AGENT = st.one_of(
    st.none(),
    st.fixed_dictionaries({"id": st.just("a"), "depth": st.integers(0, 60)}),
    JSON,
)


def _event(kind: str, /, **fields: st.SearchStrategy) -> st.SearchStrategy:
    return st.fixed_dictionaries({"type": st.just(kind), **fields}, optional={"agent": AGENT, "seq": st.integers()})


EVENT = st.one_of(
    *(_event(kind, text=TEXT) for kind in ("assistant_text", "assistant_reasoning", "user_message")),
    *(
        _event(kind, text=TEXT, message_id=st.sampled_from(["m", "n"]))
        for kind in ("assistant_delta", "reasoning_delta")
    ),
    *(_event(kind, message=st.one_of(TEXT, JSON)) for kind in ("error", "warning", "canceled")),
    _event("tool_start", tool=TOOLS, toolCallId=st.sampled_from("123"), args=ARGS),
    _event("tool_start", tool=TOOLS, toolCallId=st.sampled_from("123"), args=ARGS, renderCall=TEXT),
    _event(
        "tool_output",
        toolCallId=st.sampled_from("123"),
        output=OUTPUT,
        mode=st.sampled_from(["append", "replace", "?"]),
    ),
    _event("tool_end", toolCallId=st.sampled_from("123"), output=OUTPUT, isError=st.booleans(), details=JSON),
    _event("tool_end", toolCallId=st.sampled_from("123"), tool=TOOLS, args=ARGS, output=OUTPUT, error=JSON),
    _event("tool_end", toolCallId=st.sampled_from("123"), tool=TOOLS, args=ARGS, renderResult=TEXT, details=JSON),
    _event("agent_block_begin", block_id=st.sampled_from("ab"), cmd=TEXT),
    _event("agent_block_delta", block_id=st.sampled_from("ab"), text=TEXT),
    _event("agent_block_end", block_id=st.sampled_from("ab"), exit_code=st.integers(), done_because=TEXT),
    _event("pty_gap", why=TEXT),
    _event("turn_complete", usage=JSON),
    _event(
        "request",
        request_id=st.sampled_from("pq"),
        kind=st.sampled_from(["approval", "question", "secret", "?"]),
        title=TEXT,
        text=TEXT,
        tool=st.none() | TOOLS,
        args=ARGS,
        cwd=TEXT,
        details=st.one_of(JSON, PATCH),
        options=st.one_of(JSON, st.just([{"id": "allow", "label": "Allow", "kind": "allow"}])),
        schema=st.one_of(JSON, st.just({"properties": {"a": {"type": "string"}}})),
        expires=st.sampled_from([None, 1 << 45]),  # never in the past: a conversation that is opened closes those
    ),
    _event("answer", request_id=st.sampled_from("pq"), option=TEXT, values=JSON, by=TEXT),
    _event("request_closed", request_id=st.sampled_from("pq"), why=TEXT),
    _event("agent_state", state=st.sampled_from(["working", "exited", "?"]), error=TEXT),
    st.dictionaries(WORDS, JSON, max_size=4),
    st.fixed_dictionaries({"type": st.one_of(TEXT, JSON)}),
)
