"""The worked specs: drawn on every surface as golden files, shown in `docs/render-specs.md`, described by a schema.

`VANTAGE_GOLDEN=write make test` writes golden files, drawings and schema anew; read the difference before it is
committed.
"""

import ast
import inspect
import json
import os
import re
from typing import Any, get_args

import msgspec
import pytest

from places import FIXTURES, ROOT
from styled import written_out
from vantage import PresentationContext, RenderSpec, profile
from vantage.cli.commands.agents.spec import read_sample, shown_text
from vantage.conversation.store.specs.files import load_file, spec_paths
from vantage.surfaces import draw
from vantage.timeline.row import Row
from vantage.timeline.specs import model
from vantage.timeline.specs.check import check_spec
from vantage.timeline.specs.filters import FILTERS
from vantage.timeline.specs.preview import preview_row
from vantage.timeline.specs.scope import MAX_BLOCK_TEXT, MAX_ITEMS, MAX_ROW_TEXT
from vantage.timeline.specs.template import read_template

FOLDER = FIXTURES / "specs"
PAGE = ROOT / "docs" / "render-specs.md"
SCHEMA = ROOT / "docs" / "render-spec.schema.json"
EXAMPLES = ROOT / "examples" / "specs"
NAMES = [path.stem for path in spec_paths(EXAMPLES)]
DISPLAYS = {
    "terminal": ("terminal.txt", PresentationContext(content_width=80)),
    "plain": ("plain.txt", PresentationContext(content_width=45, color_depth=0)),
    "html": ("html", profile("web")),
    "telegram": ("telegram.json", profile("telegram")),
    "slack": ("slack.json", profile("slack")),
}
WRITE = os.environ.get("VANTAGE_GOLDEN") == "write"


def spec_of(name: str) -> dict:
    return load_file(EXAMPLES / f"{name}.json").specs[name]


def rows_of(name: str) -> list[Row]:
    """The sample call when it has ended; before that, while it runs, where the sample says how that looks."""
    path = EXAMPLES / f"{name}.sample.json"
    states = [True, False] if "partial" in json.loads(path.read_text()) else [False]
    return [preview_row(name, spec_of(name), read_sample(path, running=running))[0] for running in states]


def drawn(name: str, surface: str) -> str:
    text = shown_text(draw(rows_of(name), DISPLAYS[surface][1], surface).output)
    if surface == "html":
        text = text.replace("><", ">\n<")  # a line for each element, so that a difference can be read
    return (written_out(text) if surface == "terminal" else text) + "\n"


def test_there_are_twelve_and_each_has_a_sample():
    assert len(NAMES) == 12
    assert set(NAMES) >= {"remember", "recall", "weather", "search"}
    for name in NAMES:
        assert check_spec(spec_of(name)) == []
        assert (EXAMPLES / f"{name}.sample.json").exists()


@pytest.mark.parametrize("surface", DISPLAYS)
@pytest.mark.parametrize("name", NAMES)
def test_drawing(name, surface):
    path = FOLDER / f"{name}.{DISPLAYS[surface][0]}"
    got = drawn(name, surface)
    if WRITE:
        path.write_text(got)
    assert got == path.read_text()


def test_no_golden_file_is_left_over():
    assert {path.name.split(".")[0] for path in FOLDER.iterdir()} == set(NAMES)


@pytest.mark.parametrize(
    ("name", "title", "trailing", "blocks"),
    [
        ("remember", "Releases are cut on Tuesdays", "release, process", ["MarkdownBlock", "BadgesBlock"]),
        ("recall", '"who signs releases"', "3 matches", ["AnsiBlock"]),
        ("weather", "Seattle", "14 °C", ["KeyValueBlock", "MarkdownBlock"]),
        ("search", '"pseudo-terminal resize race"', "12 results", ["ListBlock"]),
    ],
)
def test_the_first_four_give_the_rows_they_describe(name, title, trailing, blocks):
    (row,) = rows_of(name)
    assert (row.text, row.trailing) == (title, trailing)
    assert [type(block).__name__ for block in row.blocks][: len(blocks)] == blocks


def walk(value: Any):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inner)


def test_every_feature_is_shown_somewhere():
    specs = [spec_of(name) for name in NAMES]
    objects = [value for value in walk(specs) if isinstance(value, dict)]
    blocks = [value for value in objects if value.get("type") in BLOCKS]
    texts = [value for value in walk(specs) if isinstance(value, str) and "{{" in value]
    filters = {call.name for text in texts for part in read_template(text).expressions for call in part.filters}
    actions = {action["type"] for block in blocks for action in block.get("actions", [])}
    conditions = [block["when"] for block in blocks if "when" in block]
    assert {block["type"] for block in blocks} == set(BLOCKS)
    assert filters == set(FILTERS)
    assert actions == set(get_args(model.ActionSpec.__annotations__["type"]))
    assert {frozenset(when) if isinstance(when, dict) else "text" for when in conditions} == {
        "text",
        frozenset({"path"}),
        frozenset({"path", "eq"}),
        frozenset({"path", "ne"}),
    }
    assert {type(block["fallback"]) for block in blocks if "fallback" in block} == {dict, str}
    assert any("accessibility" in block for block in blocks)
    assert any("requires" in block for block in blocks)
    used = {key for value in objects for key in value}
    for struct in (model.RenderSpec, model.Collapsed, model.Expanded, model.Pair, model.Column, *BLOCKS.values()):
        assert {field.encode_name for field in msgspec.structs.fields(struct)} <= used


BLOCKS = {
    str(struct.__struct_config__.tag): struct for struct in get_args(model.BlockSpec) if struct is not model.UnknownSpec
}


def field_docs() -> dict[str, dict[str, str]]:
    """What the model says under its fields: struct → field → words."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.walk(ast.parse(inspect.getsource(model))):
        if isinstance(node, ast.ClassDef):
            for field, after in zip(node.body, node.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr):
                    found.setdefault(node.name, {})[field.target.id] = inspect.cleandoc(after.value.value)
    return found


def schema() -> dict:
    """The schema of the model, without the block that stands for unknown ones, with the words under its fields."""
    made = msgspec.json.schema(RenderSpec)
    unknown = "#/$defs/UnknownSpec"
    del made["$defs"]["UnknownSpec"]
    for value in [value for value in walk(made) if isinstance(value, dict)]:
        if isinstance(value.get("anyOf"), list):
            value["anyOf"] = [member for member in value["anyOf"] if member.get("$ref") != unknown]
        value.pop("discriminator", None)  # OpenAPI's word, not the schema language's
    docs = field_docs()
    for name, definition in made["$defs"].items():
        struct = getattr(model, name)
        definition["title"] = next((tag for tag, block in BLOCKS.items() if block is struct), name.removesuffix("Spec"))
        words = {**docs.get("_Block", {}), **docs.get(name, {})}
        for field in msgspec.structs.fields(struct):
            if field.name in words:
                definition["properties"][field.encode_name]["description"] = words[field.name]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Render spec",
        "description": "How calls of a tool look, on every surface.",
        **made,
    }


def test_the_schema_is_that_of_the_model():
    text = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    if WRITE:
        SCHEMA.write_text(text)
    assert SCHEMA.read_text() == text


TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}


def valid(value: Any, kind: dict, root: dict) -> bool:
    """As much of the schema language as the schema uses."""
    if "$ref" in kind:
        return valid(value, root["$defs"][kind["$ref"].rpartition("/")[2]], root)
    if "anyOf" in kind:
        return any(valid(value, member, root) for member in kind["anyOf"])
    if "enum" in kind:
        return value in kind["enum"]
    if "type" in kind and not isinstance(value, TYPES[kind["type"]]):
        return False
    if "minimum" in kind and value < kind["minimum"]:
        return False
    if isinstance(value, list):
        return all(valid(item, kind["items"], root) for item in value)
    if isinstance(value, dict):
        named = kind.get("properties", {})
        return set(kind.get("required", [])) <= value.keys() and all(
            valid(item, named[key], root) for key, item in value.items() if key in named
        )
    return True


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_takes_the_examples(name):
    assert valid(spec_of(name), schema(), schema())


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"collapsed": {}},
        {"collapsed": {"title": 5}},
        {"collapsed": {"title": "x", "iconColor": "rde"}},
        {"collapsed": {"title": "x"}, "expanded": {"blocks": [{"type": "text"}]}},
        {"collapsed": {"title": "x"}, "expanded": {"blocks": [{"type": "unknown"}]}},
        {"collapsed": {"title": "x"}, "expanded": {"blocks": [{"type": "text", "content": "x", "fallback": "later"}]}},
    ],
)
def test_the_schema_refuses(broken):
    assert not valid(broken, schema(), schema())
    assert check_spec(broken), "and so do we"


def test_the_page_shows_what_the_terminal_draws():
    bare = PresentationContext(content_width=80, color_depth=0)
    page = PAGE.read_text()

    def fresh(match: re.Match[str]) -> str:
        text = draw(rows_of(match[1]), bare).output
        return f"<!-- drawing: {match[1]} -->\n```text\n{text}\n```"

    expected = re.sub(r"<!-- drawing: (\w+) -->\n```text\n.*?^```$", fresh, page, flags=re.DOTALL | re.MULTILINE)
    if WRITE:
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected
    assert sorted(re.findall(r"<!-- drawing: (\w+) -->", page)) == NAMES
    for name in NAMES:
        assert f"](../examples/specs/{name}.json)" in page


def test_the_page_names_everything_there_is():
    page = PAGE.read_text()
    words = set(re.findall(r"`([^`\n]+)`", page))
    fields = {
        field.encode_name
        for struct in (
            model.RenderSpec,
            model.Collapsed,
            model.Expanded,
            model.When,
            model.ActionSpec,
            *BLOCKS.values(),
        )
        for field in msgspec.structs.fields(struct)
    }
    colours = set(get_args(model.ThemeColor))
    for known in (fields, set(BLOCKS), set(FILTERS), colours, set(get_args(model.Capability))):
        assert {name for name in known if name not in words} == set()
    for limit in (
        model.MAX_BYTES // 1024,
        model.MAX_BLOCKS,
        MAX_ITEMS,
        MAX_BLOCK_TEXT // 1024,
        MAX_ROW_TEXT // 1024,
    ):
        assert re.search(rf"\b{limit}\b", page.partition("## Limits")[2]), limit


def test_the_templates_of_the_page_give_what_it_says():
    from vantage import resolve_template

    page = PAGE.read_text()
    args, output = (json.loads(text) for text in re.findall(r"^(?:args|output) = (.+)$", page, re.MULTILINE)[:2])
    table = re.findall(r"^\| `(\{\{.+?\}\}|.*?\{\{.+?)` \| `(.*?)` \|$", page, re.MULTILINE)
    assert len(table) > len(FILTERS)
    for template, text in table:
        plain = template.replace("\\|", "|")
        assert resolve_template(plain, args=args, output=json.dumps(output), duration_ms=65000.0) == text, plain
