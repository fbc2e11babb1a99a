"""Render specs: templates, validation, resolution, the registry and the chain."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from strategies import JSON, TEXT
from vantage import PresentationContext, RenderSpec, Timeline, render, resolve_template
from vantage.timeline import row as rows
from vantage.timeline.calls import ToolCall
from vantage.timeline.specs.check import SpecError, check_spec, load_spec, spec_hash
from vantage.timeline.specs.filters import FILTERS
from vantage.timeline.specs.registry import SpecRegistry
from vantage.timeline.specs.resolve import resolve
from vantage.timeline.specs.scope import MAX_BLOCK_TEXT, MAX_ROW_TEXT, Resolver, Scope
from vantage.timeline.tools.registry import ToolRegistry

TITLE = {"collapsed": {"title": "{{args.x}}"}}
WORD = {"type": "text", "content": "x"}


def with_blocks(*blocks: dict, **expanded) -> dict:
    return {**TITLE, "expanded": {"blocks": list(blocks), **expanded}}


def shown(spec: dict, args=None, output="", **call) -> list:
    loaded, _ = load_spec(spec)
    presentation, _ = resolve(loaded, ToolCall(tool="t", args=args or {}, output=output, done=True, **call))
    return presentation.blocks


@pytest.mark.parametrize("case", cases("templates"), ids=str)
def test_template(case):
    template = case.first("template").removesuffix("\n")
    assert resolve_template(template, **json.loads(case.first("scope"))) == case.first("text").removesuffix("\n")


def test_a_single_expression_keeps_its_type():
    resolver = Resolver(Scope(args={"l": [1, {"a": 2}]}))
    assert resolver.value("{{args.l}}") == [1, {"a": 2}]
    assert resolver.value(" {{args.l}}") == ' [1, {"a": 2}]'


def test_a_missing_path_is_said():
    resolver = Resolver(Scope(args={}))
    assert resolver.text("{{args.nope | truncate:3}}") == ""
    assert resolver.notes == ["nothing at args.nope | truncate:3"]


TEMPLATES = st.lists(
    st.one_of(
        TEXT,
        st.sampled_from(
            [
                "{{",
                "}}",
                "{{args.x}}",
                "{{output}}",
                "{{output.a[0]}}",
                "\\{{",
                "|",
                ":",
                '"',
                "'",
                "[",
                "]",
                ".",
                "args",
            ]
            + [f"{{{{args.x | {name}:3}}}}" for name in FILTERS]
            + [f"{{{{args.x | {name}}}}}" for name in FILTERS]
        ),
    ),
    max_size=8,
).map("".join)


@given(TEMPLATES, JSON, st.one_of(TEXT, JSON.map(json.dumps)))
def test_resolving_never_raises(template, x, output):
    assert isinstance(resolve_template(template, args={"x": x}, output=output), str)


@given(JSON)
def test_checking_never_raises(value):
    problems = check_spec(value)
    assert all(problem.code and problem.message for problem in problems)


BLOCK_TYPES = [
    "text",
    "markdown",
    "code",
    "kv",
    "badges",
    "list",
    "ansi",
    "diff",
    "table",
    "progress",
    "image",
    "terminal",
]
BLOCKS = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from([*BLOCK_TYPES, "new"])},
        optional={
            "content": TEMPLATES, "items": TEMPLATES, "titleField": TEXT, "value": TEMPLATES, "source": TEMPLATES,
            "pairs": st.just([{"key": "k", "value": "{{args.x}}"}]), "alt": TEXT, "blockId": TEXT, "when": TEMPLATES,
            "fallback": st.just("drop"),
            "color": st.sampled_from(["red", "success"]), "startLine": st.integers(), "maxItems": st.integers(0, 3),
            "requires": st.just(["tables"]), "accessibility": st.just({"label": "{{args.x}}"}),
            "actions": st.just([{"type": "open", "value": "{{args.x}}"}]),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("section"), "title": TEXT, "blocks": st.lists(inner, max_size=3)}, optional={"fallback": inner}
    ),
    max_leaves=4,
)  # fmt: skip


@given(st.lists(BLOCKS, max_size=4), JSON, st.one_of(TEXT, JSON.map(json.dumps)), st.integers(20, 100))
def test_any_spec_with_any_values_is_drawn_harmlessly(blocks, x, output, width):
    timeline = Timeline()
    spec = {"collapsed": {"title": "{{args.x}}", "trailing": "{{output}}"}, "expanded": {"blocks": blocks}}
    timeline.add({"type": "tool_start", "tool": "t", "toolCallId": "1", "args": {"x": x}, "renderSpec": spec})
    timeline.add({"type": "tool_end", "toolCallId": "1", "output": output})
    (row,) = timeline.rows
    drawn = render([row], PresentationContext(content_width=width))
    assert re.search("[\x00-\x09\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e]", drawn) is None
    assert sum(len(block.content) for block in row.blocks if hasattr(block, "content")) <= MAX_ROW_TEXT + 4096


def problems(spec) -> list[tuple[str, str]]:
    return [(problem.code, problem.path) for problem in check_spec(spec)]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (TITLE, []),
        ([], [("wrong_type", "")]),
        ({}, [("missing_field", "collapsed")]),
        ({"collapsed": {"titel": "x"}}, [("unknown_field", "collapsed.titel"), ("missing_field", "collapsed.title")]),
        ({"collapsed": {"title": 5}}, [("wrong_type", "collapsed.title")]),
        ({"collapsed": {"title": "{{args.x"}}, [("bad_template", "collapsed.title")]),
        ({"collapsed": {"title": "{{args.x | trunk:3}}"}}, [("unknown_filter", "collapsed.title")]),
        ({"collapsed": {"title": "{{args.x | truncate}}"}}, [("bad_argument", "collapsed.title")]),
        ({"collapsed": {"title": "{{args.x | truncate:many}}"}}, [("bad_argument", "collapsed.title")]),
        ({"collapsed": {"title": "{{arg.x}}"}}, [("unlikely_path", "collapsed.title")]),
        ({"collapsed": {"title": "x", "iconColor": "rde"}}, [("unknown_value", "collapsed.iconColor")]),
        ({**TITLE, "specVersion": 2}, [("newer", "specVersion")]),
        (with_blocks({"type": "txt"}), [("unknown_block", "expanded.blocks[0].type")]),
        (with_blocks({"content": "x"}), [("missing_field", "expanded.blocks[0].type")]),
        (with_blocks({**WORD, "when": {"eq": 1}}), [("missing_field", "expanded.blocks[0].when.path")]),
        (with_blocks({**WORD, "when": "output.error"}), [("constant_condition", "expanded.blocks[0].when")]),
        (with_blocks({"type": "new", "when": 5}),
         [("unknown_block", "expanded.blocks[0].type"), ("wrong_type", "expanded.blocks[0].when")]),
        (with_blocks({"type": "new", "fallback": "later"}),
         [("unknown_block", "expanded.blocks[0].type"), ("unknown_value", "expanded.blocks[0].fallback")]),
        (with_blocks({"type": "image", "source": "a"}), [("missing_field", "expanded.blocks[0].alt")]),
        (with_blocks({**WORD, "fallback": "later"}), [("unknown_value", "expanded.blocks[0].fallback")]),
        (with_blocks(*[{"type": "text", "content": "x"}] * 65), [("too_many_blocks", "expanded.blocks")]),
        ({"collapsed": {"title": "x" * 40_000}}, [("too_large", "")]),
    ],
)  # fmt: skip
def test_every_problem_is_found_where_it_is(spec, found):
    assert problems(spec) == found


def test_all_problems_come_at_once_with_a_way_out():
    spec = {"collapsed": {"titel": "x", "iconColor": "blu"}, "expanded": {"blocks": [{"type": "txt"}, 7]}}
    with pytest.raises(SpecError) as refused:
        load_spec(spec)
    assert len(refused.value.problems) == 5
    hints = [problem.hint for problem in refused.value.problems]
    assert [hint for hint in hints if hint.startswith("did")] == [
        "did you mean 'title'?",
        "did you mean 'blue'?",
        "did you mean 'text'?",
    ]


def test_blocks_nested_too_deep_are_refused():
    block = {"type": "text", "content": "x"}
    for _ in range(5):
        block = {"type": "section", "blocks": [block]}
    assert "too_deep" in [code for code, _ in problems(with_blocks(block))]
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert problems(deep) == [("too_deep", "")]


def test_conditions():
    def visible(when, **scope) -> bool:
        return bool(shown(with_blocks({"type": "text", "content": "x", "when": when}), **scope))

    assert visible("{{args.a}}", args={"a": 1})
    assert not visible("{{args.a}}", args={"a": 0})
    assert not visible("{{args.a}}", args={"a": []})
    assert not visible("{{args.nope}}")
    assert visible({"path": "args.a", "eq": "x"}, args={"a": "x"})
    assert not visible({"path": "args.a", "ne": "x"}, args={"a": "x"})
    assert visible({"path": "args.nope", "eq": None})
    assert visible({"path": "args.a"}, args={"a": "yes"})


def test_an_unknown_block_falls_back_to_its_own_then_to_the_one_around_it_then_gives_way():
    plain = {"type": "text", "content": "instead"}
    unknown = {"type": "hologram", "content": "x"}
    assert shown(with_blocks({**unknown, "fallback": plain})) == [rows.TextBlock("instead")]
    assert shown(with_blocks({**unknown, "fallback": "drop"})) == []
    section = {"type": "section", "title": "s", "blocks": [unknown], "fallback": plain}
    assert shown(with_blocks(section)) == [rows.SectionBlock("s", [rows.TextBlock("instead")])]
    timeline = Timeline()
    timeline.add({"type": "tool_start", "tool": "t", "args": {}, "renderSpec": with_blocks(unknown)})
    (row,) = timeline.rows
    assert row.text == "Tool t {}"
    assert row.diagnostics == ["the render spec of t needs a newer version: there is no block type 'hologram'"]


def test_an_unknown_filter_falls_back_too():
    spec = with_blocks(
        {"type": "text", "content": "{{args.x | sparkle}}", "fallback": {"type": "text", "content": "plain"}}
    )
    assert shown(spec) == [rows.TextBlock("plain")]


def test_an_unknown_filter_in_a_condition_falls_back():
    assert shown(
        with_blocks({**WORD, "when": "{{args.x | sparkle}}", "fallback": {"type": "text", "content": "plain"}})
    ) == [rows.TextBlock("plain")]


def test_a_list_that_was_cut_is_one_block_with_its_actions_and_one_fallback():
    block = {
        "type": "list", "items": "{{args.l}}", "titleField": "t", "maxItems": 1, "requires": ["tables"],
        "actions": [{"type": "copy", "value": "{{args.l | count}}"}], "fallback": WORD,
    }  # fmt: skip
    (section,) = shown(with_blocks(block), {"l": [{"t": "a"}, {"t": "b"}]})
    assert section.blocks == [rows.ListBlock([rows.ListItem("a")]), rows.TextBlock("+1 more", "dim")]
    assert (section.actions, section.fallback) == ([rows.Action("copy", "2")], rows.TextBlock("x"))


def test_only_what_is_really_missing_is_noted():
    loaded, _ = load_spec(
        {
            "collapsed": {"title": '{{args.a | default:"none"}}'},
            "expanded": {"blocks": [{**WORD, "when": "{{args.b}}"}]},
        }
    )
    assert resolve(loaded, ToolCall(tool="t"))[1] == []


def test_what_a_display_lacks_is_replaced_by_the_fallback():
    spec = with_blocks(
        {
            "type": "table",
            "items": "{{args.l}}",
            "requires": ["tables"],
            "fallback": {"type": "text", "content": "a list"},
        }
    )
    timeline = Timeline()
    timeline.add({"type": "tool_end", "tool": "t", "args": {}})
    timeline.specs.register("u", spec)
    timeline.add({"type": "tool_start", "tool": "u", "args": {"l": [{"a": 1}]}})
    row = timeline.rows[-1]
    assert "│ 1 │" in render([row], PresentationContext(color_depth=0))
    assert "a list" in render([row], PresentationContext(color_depth=0, supports_tables=False))


def test_lists_and_tables_say_how_many_more_there_are():
    items = [{"t": f"item {n}", "s": "open"} for n in range(500)]
    block = {"type": "list", "items": "{{args.l}}", "titleField": "t", "statusField": "s", "maxItems": 2}
    assert shown(with_blocks(block), {"l": items}) == [
        rows.ListBlock([rows.ListItem("item 0", "open"), rows.ListItem("item 1", "open")]),
        rows.TextBlock("+498 more", "dim"),
    ]
    table, more = shown(with_blocks({"type": "table", "items": "{{args.l}}"}), {"l": items})
    assert (table.header, len(table.rows), more.content) == (["t", "s"], 200, "+300 more")


def test_limits_are_kept_and_said():
    loaded, _ = load_spec(with_blocks(*[{"type": "text", "content": "{{args.x}}"}] * 10))
    presentation, notes = resolve(loaded, ToolCall(tool="t", args={"x": "x" * 100_000}))
    lengths = [len(block.content) for block in presentation.blocks]
    assert max(lengths) == MAX_BLOCK_TEXT
    assert sum(lengths) + MAX_BLOCK_TEXT >= MAX_ROW_TEXT >= sum(lengths)
    assert notes == [f"a text was cut: a block holds {MAX_BLOCK_TEXT} characters, a row {MAX_ROW_TEXT}"]


def test_what_a_row_costs_is_bounded_whatever_its_values():
    resolver = Resolver(Scope(args={"l": [["x"] * 1000] * 1000}))
    assert resolver.text("{{args.l | json | count}}" * 50) == ""
    assert resolver.steps <= 4
    assert resolver.notes == ["the spec asks for too much: what came after is left out"]


def test_the_work_of_a_row_is_bounded_by_its_spec():
    resolver = Resolver(Scope(args={"x": "{{args.x}}" * 1000}))
    resolver.text("{{args.x | truncate:3}}" * 100)
    assert resolver.steps == 200


def test_progress_images_terminals_code_and_diffs():
    assert shown(
        with_blocks({"type": "progress", "value": "{{args.n}}", "total": "{{args.t}}", "label": "l"}),
        {"n": 3, "t": "4"},
    ) == [rows.ProgressBlock(0.75, "l")]
    assert shown(with_blocks({"type": "progress", "value": "{{args.n}}"}), {"n": "many"}) == []
    assert shown(with_blocks({"type": "image", "source": "asset-1", "alt": "a cat"})) == [
        rows.ImageBlock("asset-1", "a cat")
    ]
    assert shown(with_blocks({"type": "terminal", "blockId": "{{args.b}}"}), {"b": "b7"}) == [rows.TerminalBlock("b7")]
    assert shown(with_blocks({"type": "code", "content": "x = 1\n", "language": "python", "startLine": 4})) == [
        rows.CodeBlock("x = 1", "python", 4)
    ]
    (diff,) = shown(
        with_blocks({"type": "diff", "content": "{{output}}"}), output="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"
    )
    assert diff.files[0].path == "x"
    assert shown(with_blocks({"type": "diff", "content": "{{output}}"}), output="no diff") == [
        rows.OutputBlock("no diff", None)
    ]


def test_the_hash_is_that_of_the_canonical_json():
    assert spec_hash({"b": 1, "a": "é"}) == spec_hash(json.loads('{"a": "\\u00e9", "b": 1}'))
    import hashlib

    assert spec_hash({"b": 1, "a": 2}) == hashlib.sha256(b'{"a":2,"b":1}').hexdigest()[:16]


@pytest.mark.parametrize("levels", [150, 300, 400])
@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ('{"a":', "}"), ('{"type":"section","blocks":[', "]}")])
def test_a_spec_of_any_depth_is_refused_and_harms_nothing(levels, open_, close):
    deep = json.loads('{"collapsed":{"title":"x","z":%s}}' % (open_ * levels + "1" + close * levels))
    timeline = Timeline()
    timeline.add({**start("gadget", "1"), "renderSpec": deep})
    [row] = timeline.rows
    assert "levels" in row.diagnostics[0]


def test_the_registry_knows_specs_by_name_and_hash():
    common = SpecRegistry()
    first = common.register("functions.Weather", {"collapsed": {"title": "one"}})
    mine = SpecRegistry(common)
    second = mine.register("weather", {"collapsed": {"title": "two"}})
    assert mine.find("WEATHER").collapsed.title == "two"
    assert mine.find("weather", first).collapsed.title == "one"
    assert common.find("weather", second) is None
    assert mine.tools() == {"weather": second}
    mine.clear()
    assert mine.find("weather").collapsed.title == "one"


def test_an_extension_offers_specs_that_are_read_when_they_are_needed():
    tools = ToolRegistry()
    tools.render_spec("offered_tool", {"collapsed": {"title": "as offered"}})
    tools.render_spec("bad_offer", {"collapsed": {}})
    timeline = Timeline(tools)
    timeline.add(start("offered_tool", "1"))
    timeline.add(start("bad_offer", "2"))
    good, bad = timeline.rows
    assert good.text == "as offered"
    assert bad.text == "Tool bad_offer {}"
    assert bad.diagnostics == ["not a render spec: collapsed.title: 'title' is missing"]
    assert "offered_tool" in tools.specs.tools()


def test_remember_and_recall_are_specs_and_say_what_a_presenter_would():
    timeline = Timeline()
    arguments = {"text": "The build needs **Go**\nand make", "tags": ["build", "go"]}
    timeline.add({"type": "tool_end", "tool": "remember", "args": arguments, "output": "ok"})
    timeline.add(
        {"type": "tool_end", "tool": "recall", "args": {"query": "go"}, "output": "1: \x1b[1mGo\x1b[0m\n2: make"}
    )
    remember, recall = timeline.rows
    assert (remember.text, remember.trailing, remember.icon, remember.icon_color, remember.status) == (
        "The build needs **Go**", "build, go", "brain.head.profile", "yellow", "ok"
    )  # fmt: skip
    assert remember.blocks == [rows.MarkdownBlock(arguments["text"]), rows.BadgesBlock(["build", "go"], "blue")]
    assert (recall.text, recall.trailing) == ('"go"', "2 matches")
    assert recall.blocks == [rows.AnsiBlock("1: \x1b[1mGo\x1b[0m\n2: make")]


@pytest.mark.parametrize(
    ("output", "block"),
    [
        ('{"a": 1}', rows.OutputBlock('{\n  "a": 1\n}')),
        ("# Title\n\nwords", rows.MarkdownBlock("# Title\n\nwords")),
        ("see:\n\n```sh\nls\n```", rows.MarkdownBlock("see:\n\n```sh\nls\n```")),
        ("just words - and a dash", rows.OutputBlock("just words - and a dash")),
    ],
)
def test_raw_answers_are_drawn_as_what_they_plainly_are(output, block):
    timeline = Timeline()
    timeline.add({"type": "tool_end", "tool": "mystery", "args": {}, "output": output})
    assert timeline.rows[0].blocks == [block]


def test_a_very_long_raw_answer_says_how_long_it_is_and_is_kept_whole():
    timeline = Timeline()
    timeline.add({"type": "tool_end", "tool": "mystery", "args": {}, "output": "# " + "x" * 70_000})
    assert timeline.rows[0].blocks == [
        rows.OutputBlock("# " + "x" * 70_000),
        rows.TextBlock("70,002 characters in all", "dim"),
    ]


def test_a_raw_diff_is_drawn_as_one():
    timeline = Timeline()
    timeline.add(
        {"type": "tool_end", "tool": "mystery", "args": {}, "output": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}
    )
    (block,) = timeline.rows[0].blocks
    assert [file.path for file in block.files] == ["x"]


def test_a_refused_spec_is_refused_again_without_being_read_again():
    registry = SpecRegistry()
    for _ in range(2):
        with pytest.raises(SpecError, match="'title' is missing"):
            registry.register("t", {"collapsed": {}})


def start(tool: str, call: str, **more) -> dict:
    return {"type": "tool_start", "tool": tool, "toolCallId": call, "args": {}, **more}


def test_a_spec_stays_with_the_conversation_and_history_is_not_redrawn():
    old, new = {"collapsed": {"title": "old look"}}, {"collapsed": {"title": "new look"}}
    timeline, other = Timeline(), Timeline()
    timeline.add(start("gadget", "1", renderSpec=old))
    timeline.add(start("gadget", "2"))
    timeline.add(start("gadget", "3", renderSpec=new))
    timeline.add(start("gadget", "4", specHash=spec_hash(old)))
    timeline.add({"type": "tool_end", "toolCallId": "1"})
    other.add(start("gadget", "1"))
    assert [row.text for row in timeline.rows] == ["old look", "old look", "new look", "old look"]
    assert [row.text for row in other.rows] == ["Tool gadget {}"]


def test_a_spec_comes_after_native_presenters_but_before_them_for_other_servers_tools():
    spec = {"collapsed": {"title": "by spec"}}
    timeline = Timeline()
    arguments = {"command": "ls"}
    for number, tool in enumerate(["shell", "mcp__x__shell", "search", "web_search", "gadget"]):
        timeline.add({**start(tool, str(number), renderSpec=spec), "args": arguments})
    assert [row.text for row in timeline.rows] == ["Running ls", "by spec", "by spec", "by spec", "by spec"]


def test_streamed_output_ends_where_whole_output_does():
    spec = with_blocks(
        {"type": "ansi", "content": "{{output}}"}, {"type": "text", "content": "{{output | lineCount}} lines"}
    )
    whole, pieces = Timeline(), Timeline()
    for timeline in (whole, pieces):
        timeline.add(start("t", "1", renderSpec=spec))
    for piece in ("on", "e\ntw", "o"):
        pieces.add({"type": "tool_output", "toolCallId": "1", "output": piece})
    assert pieces.rows[0].blocks[1].content == "2 lines"
    pieces.add({"type": "tool_end", "toolCallId": "1"})
    whole.add({"type": "tool_end", "toolCallId": "1", "output": "one\ntwo"})
    assert pieces.rows == whole.rows


def test_a_failure_is_shown_under_what_the_spec_draws():
    timeline = Timeline()
    timeline.add(start("t", "1", renderSpec=TITLE))
    timeline.add({"type": "tool_end", "toolCallId": "1", "error": "quota exceeded"})
    assert timeline.rows[0].status == "error"
    assert timeline.rows[0].blocks == [rows.OutputBlock("Error: quota exceeded", error=True)]


def test_render_spec_is_public():
    assert RenderSpec is load_spec(TITLE)[0].__class__
