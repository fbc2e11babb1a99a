"""What reads text and JSON of strangers and only computes: templates, specs, events, agents' streams, markdown."""

import json
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from drawn import CONTROL, chance, check_everywhere
from extent import extent
from hunting import Target
from places import FIXTURES
from vantage import Timeline, decode_event, encode_event, resolve_template
from vantage.agents import SOURCES, StrayLine, StreamReader
from vantage.conversation.search.query import SNIPPET, Query, plain
from vantage.document.inline import safe_url
from vantage.document.markdown import PARSER, parse
from vantage.document.stream import MarkdownStream
from vantage.errors import Conflict, EventError, InputError, VantageError
from vantage.events import Event
from vantage.export.markdown_source import embed
from vantage.presentation import PresentationContext
from vantage.surfaces import SURFACES, render
from vantage.terminal.engines.values import Modes
from vantage.terminal.input.keys import MAX_REPEATS, encode_keys, paste
from vantage.terminal.input.mouse import encode_mouse
from vantage.text.sanitize import one_line, sanitize
from vantage.text.sgr import parse_ansi
from vantage.text.spans import text_of
from vantage.timeline.row import MarkdownBlock, Row
from vantage.timeline.specs.check import SpecError, check_spec, load_spec
from vantage.timeline.specs.filters import FILTERS
from vantage.timeline.specs.preview import Sample, preview_row
from vantage.timeline.specs.scope import MAX_ROW_TEXT


def text(data: bytes) -> str:
    """Any text at all, lone surrogates too: JSON can hold them."""
    return data.decode("utf-8", "surrogateescape").replace("\udced\udca0\udc80", "\ud800")


def fixtures(pattern: str, most: int = 4096) -> list[bytes]:
    return [file.read_bytes()[:most] for file in sorted(FIXTURES.glob(pattern)) if file.is_file()]


def cuts(data: bytes) -> list[bytes]:
    """The data in a few pieces, the same ones every time."""
    choose = chance(data)
    places = sorted(choose.randint(0, len(data)) for _ in range(choose.randint(1, 6)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def words(error: VantageError, given: int) -> None:
    """An error says what is wrong, and repeats little more than what was given."""
    assert error.message.strip()
    assert len(str(error)) < 2000 + 10 * given


# Sanitising


def check_sanitise(data: bytes) -> None:
    dirty = text(data)
    clean = sanitize(dirty)
    assert CONTROL.search(clean) is None
    assert sanitize(clean) == clean
    assert len(clean) <= 10 * len(dirty)
    assert "\n" not in one_line(dirty)
    for line in parse_ansi(dirty):
        assert CONTROL.search(text_of(line)) is None


# Templates and specs


def check_template(data: bytes) -> None:
    template, _, value = text(data).partition("\n")
    values = {"x": value, "list": [value, {"a": value}], "n": 3}
    resolved = resolve_template(template, args=values, output=json.dumps(values))
    assert isinstance(resolved, str)
    assert len(resolved) <= MAX_ROW_TEXT + len(template) + 1000
    if "{{" not in template:
        assert resolved == template
    # what is put in is not read again
    assert resolve_template("<{{args.x}}>", args={"x": template}) == f"<{template}>"


def check_spec_file(data: bytes) -> None:
    try:
        value = json.loads(text(data))
    except (ValueError, RecursionError):
        return
    problems = check_spec(value)
    assert all(problem.code and problem.message for problem in problems)
    try:
        load_spec(value)
    except SpecError as error:
        words(error, len(data))
        assert any(problem.fatal for problem in problems)
    else:
        assert not any(problem.fatal for problem in problems)
    sample = Sample(args={"x": "y", "path": "/a", "items": [{"a": 1}]}, output={"ok": [1, "\x1b[2J"]}, duration_ms=3.5)
    row, _ = preview_row("some_tool", value, sample)
    assert sum(len(getattr(block, "content", "")) for block in row.blocks) <= MAX_ROW_TEXT + 4096
    check_everywhere([row], data)


def _specs() -> Iterator[bytes]:
    for file in sorted((FIXTURES.parents[1] / "examples").rglob("*.json")):
        try:
            value = json.loads(file.read_bytes())
        except ValueError:
            continue
        for spec in value.values() if isinstance(value, dict) and "collapsed" not in value else [value]:
            if isinstance(spec, dict) and "collapsed" in spec:
                yield json.dumps(spec).encode()


# Events


def check_events(data: bytes) -> None:
    """Lines of events; what is no event says so."""
    timeline, looked_at = Timeline(), Timeline()
    for line in data.split(b"\n"):
        try:
            event = decode_event(line)
        except EventError as error:
            words(error, len(data))
            continue
        assert decode_event(encode_event(event)) == event
        timeline.add(event)
        looked_at.add(event)
        assert len(looked_at.rows) >= 0
    assert timeline.rows == looked_at.rows, "looking in between changed what is seen"
    check_everywhere(timeline.rows, data)


def _events() -> Iterator[bytes]:
    for data in fixtures("format/*.md", 1 << 20):
        yield from (line for line in data.split(b"\n") if line.startswith(b"{"))


# Agents' streams


def _read(source: str, pieces: list[bytes]) -> list[Event | StrayLine]:
    reader = StreamReader(source)
    return [*(item for piece in pieces for item in reader.feed(piece)), *reader.finish()]


def check_agents(data: bytes) -> None:
    """Every adapter is given every stream; none may raise, which the reader would hide."""
    for source in SOURCES:
        items = _read(source, [data])
        assert repr(items) == repr(_read(source, cuts(data)))
        timeline = Timeline()
        for item in items:
            if not isinstance(item, StrayLine):
                logged = decode_event(encode_event(item))
                assert decode_event(encode_event(logged)) == logged
                timeline.add(item)
        assert all(row.kind for row in timeline.rows)
        _feed_alone(source, data)
    check_everywhere(timeline.rows, data)


def _feed_alone(source: str, data: bytes) -> None:
    if source == "auto":
        return
    adapter = StreamReader(source)._adapter(source)
    for line in data.split(b"\n"):
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        if isinstance(message, dict):
            adapter.recognises(message)
            for event in adapter.feed(message):
                encode_event(event)
    adapter.finish()


def _streams() -> Iterator[bytes]:
    for data in fixtures("agents/*/*.jsonl", 1 << 20):
        lines = [line for line in data.split(b"\n") if len(line) < 1500]
        yield from (b"\n".join(lines[at : at + 4]) for at in range(0, min(len(lines), extent(12, 48)), 4))


# Markdown


def check_markdown(data: bytes) -> None:
    source = text(data)
    whole = parse(source)
    stream = MarkdownStream()
    for piece in cuts(data):
        stream.feed(piece.decode("utf-8", "surrogateescape"))
    if "\udced\udca0\udc80" not in data.decode("utf-8", "surrogateescape") and _cut_between(data):
        assert [*stream.finish()] == whole
    check_embedded(source)
    growing = chance(data).random() < 0.5
    check_everywhere([Row(id="r", kind="message", blocks=[MarkdownBlock(source, growing=growing)])], data)


def check_embedded(source: str) -> None:
    """As a part of an export it has no HTML, and no link or definition that does more than open a page or a mail."""
    written = embed(source, "n-", 2)
    addresses = [found["dest"] for found in PARSER.reference_definitions(written).values()]
    for event in PARSER.events(written):
        match event:
            case {"Html": _} | {"InlineHtml": _} | {"Start": {"Image": _}}:
                raise AssertionError(event)
            case {"Start": {"Link": {"dest_url": url, "link_type": kind}}} if kind != "Email":
                addresses.append(url)
    for url in addresses:
        bare = "".join(char for char in url if char.isprintable() and not char.isspace())
        assert ":" not in bare.split("/")[0].split("?")[0].split("#")[0] or safe_url(url), url


def _cut_between(data: bytes) -> bool:
    """Whether no piece ends within a character, so that the pieces are the text."""
    return "".join(piece.decode("utf-8", "surrogateescape") for piece in cuts(data)) == text(data)


# Keys, pastes and the mouse

_MODES = (
    Modes(),
    Modes(application_cursor=True, newline=True, backarrow_sends_backspace=True),
    Modes(modify_other_keys=2),
    Modes(kitty_flags=1),
    Modes(kitty_flags=25),
    Modes(bracketed_paste=True, mouse="any", mouse_encoding="sgr"),
    Modes(mouse="normal", mouse_encoding="x10"),
    Modes(mouse="button", mouse_encoding="utf8"),
)


def check_keys(data: bytes) -> None:
    names = text(data).split("\n")
    for modes in _MODES:
        try:
            pieces = encode_keys(names, modes)
        except InputError as error:
            words(error, len(data))
        else:
            assert all(pieces)
            assert len(b"".join(pieces)) <= len(names) * MAX_REPEATS * 24
        pasted = paste(text(data), modes)
        inner = pasted[6:-6] if modes.bracketed_paste else pasted
        assert not set(inner.decode()) & {chr(code) for code in (*range(32), *range(127, 160))} - {"\t", "\r"}
        try:
            encode_mouse(names[0], len(data), len(names), modes, button=names[-1] or None, modifiers=names[1:2])
        except (InputError, Conflict) as error:
            words(error, len(data))


# Search


def check_search(data: bytes) -> None:
    """A query on the first line, a text behind it."""
    asked, _, document = text(data).partition("\n")
    query = Query(asked)
    grams = query.grams()
    assert grams is None or grams.count('"') % 2 == 0
    assert len(plain(document)) == len(document)
    snippet = query.snippet(document)
    assert len(snippet.text) <= SNIPPET + 2
    assert all(0 <= part.start < part.end <= len(snippet.text) for part in snippet.ranges)
    if query.words and query.matches(document):
        assert snippet.ranges


# Contexts


def check_context(data: bytes) -> None:
    try:
        value = json.loads(text(data))
    except (ValueError, RecursionError):
        return
    try:
        context = PresentationContext.from_dict(value)
    except InputError as error:
        words(error, len(data))
        return
    assert PresentationContext.from_dict(context.to_dict()) == context
    assert context.merge(context) == context
    assert CONTROL.search(context.to_system_instruction()) is None


# What it costs


def _draw(rows: list[Row]) -> None:
    for surface in SURFACES:
        render(rows, PresentationContext(content_width=60), surface)


def work_sanitise(data: bytes) -> None:
    sanitize(text(data))
    one_line(text(data))
    parse_ansi(text(data))


def work_template(data: bytes) -> None:
    resolve_template(text(data), args={"x": text(data)[:100]}, output=text(data))


def work_spec(data: bytes) -> None:
    value = text(data)
    spec = {"collapsed": {"title": "{{args.x}}", "trailing": "{{output}}"}, "expanded": {"blocks": _EVERY_BLOCK}}
    row, _ = preview_row("some_tool", spec, Sample(args={"x": value, "items": [{"a": value}]}, output=value))
    _draw([row])


_EVERY_BLOCK = [
    {"type": "text", "content": "{{args.x}}"},
    {"type": "ansi", "content": "{{args.x}}"},
    {"type": "diff", "content": "{{args.x}}"},
    {"type": "code", "content": "{{args.x}}", "language": "python"},
    {"type": "badges", "items": "{{args.x}}"},
    {"type": "table", "items": "{{args.items}}"},
]


def work_events(data: bytes) -> None:
    """A message that says it, a call with it, and a command that printed it in many pieces."""
    said, timeline = text(data), Timeline()
    timeline.add({"type": "assistant_reasoning", "text": said})
    for tool in ("shell", "apply_patch", "read_file", "update_plan", "search"):
        timeline.add({"type": "tool_start", "tool": tool, "toolCallId": tool, "args": {"command": said, "patch": said}})
        timeline.add({"type": "tool_end", "toolCallId": tool, "output": said})
    timeline.add({"type": "tool_start", "tool": "shell", "toolCallId": "p", "args": {"command": "x"}})
    for at in range(0, len(said), 97):
        timeline.add({"type": "tool_output", "toolCallId": "p", "output": said[at : at + 97]})
    for line in data.split(b"\n"):
        with suppress(EventError):
            timeline.add(decode_event(line))
    _draw(timeline.rows)


def work_agents(data: bytes) -> None:
    for source in SOURCES:
        _read(source, [data[at : at + 997] for at in range(0, len(data), 997)])


def work_markdown(data: bytes) -> None:
    source = text(data)
    stream = MarkdownStream()
    for at in range(0, len(source), 997):
        stream.feed(source[at : at + 997])
    stream.finish()
    _draw([Row(id="r", kind="message", blocks=[MarkdownBlock(source)])])


def work_keys(data: bytes) -> None:
    with suppress(InputError):
        encode_keys(text(data).split("\n"), Modes())
    with suppress(InputError):
        encode_keys([text(data)], Modes())
    paste(text(data), Modes(bracketed_paste=True))


def work_search(data: bytes) -> None:
    for query in (Query(text(data)), Query("a b"), Query(text(data)[:50])):
        query.grams()
        query.matches(text(data))
        query.snippet(text(data))


_ESCAPES = (
    b"\x1b[2J", b"\x1b]52;c;AAAA\x07", b"\x9b31m", b"\xc2\x9b", b"\x1b[31m", b"\x1b[38;5;1m", b"\x1b[38:2::1:2:3m",
    b"\x1b]8;;http://e.x\x1b\\", b"\x1bP", b"\x00", b"\x7f", b"\xc2\x85", "\u202e".encode(), "\u2066".encode(),
    "\u2028".encode(), b"\xed\xa0\x80", "\U000e0041".encode(), "🏴󠁧󠁢󠁳󠁣󠁴󠁿".encode(), "👨‍👩‍👧‍👦".encode(), "漢".encode(),
    "e\u0301".encode(), b"\t", b"\r", b"\r\n", b"\n", b"\xff", "\ufeff".encode(),
)  # fmt: skip
_MARKDOWN = (
    b"# ", b"- ", b"* ", b"1. ", b"> ", b"```\n", b"~~~", b"    ", b"| a | b |\n|---|---|\n", b"|", b"|---|", b"**",
    b"_", b"`", b"[x](", b"](javascript:alert(1))", b"[l](https://e.x/y)", b"![i](", b"[^1]", b"[^1]: ",
    b"[a]: http://x\n", b"<b>", b"&amp;", b"&#0;", b"\\", b"$x^2$", b"$$", b"\\frac{",
    b"```mermaid\ngraph TD\nA-->B\n", b"- [ ] ", b"---\n", b"===\n", b"http://", b"www.", b"a@b.c", b"<!--", b"\n\n",
    b"~~", b"\\begin{pmatrix}", b"[http://a.b](http://c.d)", b"<http://a.b@c.d>",
    b"[a]: javascript:x\n", b"java&#9;script:",
)  # fmt: skip
_KEY_NAMES = (
    b"C-", b"Ctrl-", b"M-", b"Alt-", b"S-", b"Shift-", b"Up", b"F1", b"F24", b"F25", b"Enter", b"Tab", b"Escape",
    b"*3", b"*1000", b"*1001", b"*99999999999", b"BackTab", b"Space", b"\xc3\xa9", b"\xc3\x9f", b"\xc4\xb0",
    b"ctrl+c", b"^c", b"<Up>", b"\x1b[201~", b"\n", b"click", b"wheel_up", b"left", b"drag", b"move", b"press",
    b"shift", b"double_click",
)  # fmt: skip
_JSON = (b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"1e999", b"NaN", b"\\ud800", b"\\u0000", b'{"a":')
_EVENTS = (
    b'{"type":"assistant_text","text":"', b'{"type":"assistant_delta","message_id":"m","text":"a"}',
    b'"toolCallId":"1"', b'{"type":"tool_start","tool":"shell","toolCallId":"1","args":{"command":"ls"}}',
    b'"renderSpec":{', b'{"type":"tool_end","toolCallId":"1","output":"x"}', b'"agent":{"id":"a","depth":3}',
    b'"isError":true', b'"args":', b'{"type":"tool_output","toolCallId":"1","output":"x","mode":"replace"}',
    b'"output":{"success":false}', b'"error":', b'{"type":"agent_block_begin","block_id":"b","cmd":"x"}',
    b'{"type":"agent_block_end","block_id":"b"}', b"\n", b"*** Begin Patch\\n*** Update File: a\\n@@\\n-x\\n+y\\n",
    b"@@ -1,2 +3,4 @@\\n", b'"plan":[{"step":"a","status":"b"}]',
)  # fmt: skip
_TEMPLATES = (
    b"{{", b"}}", b"{{args.x}}", b"{{output.x}}", b"{{args.list[1].a}}", b"{{args.list[0]}}", b"{{output}}", b"\\{{",
    b"|", b":", b'"', b"'", b"[", b"]", b".", b"\\u0041", b"{{args", *(f" | {name}:3".encode() for name in FILTERS),
)  # fmt: skip
_SPECS = (
    b'"collapsed":{"title":"x"}', b'"expanded":{"blocks":[', b'{"type":"text","content":"{{args.x}}"}',
    b'"when":"{{x}}"', b'{"type":"table","items":"{{args.items}}"}', b'{"type":"section","title":"t","blocks":[',
    b'"fallback":"drop"', b'{"type":"list","items":"{{args.items}}","titleField":"a"}', b'"requires":["tables"]',
    b'"specVersion":2', b'{"type":"progress","value":"{{args.n}}","total":"3"}',
    b'{"type":"image","source":"data:image/png;base64,AA","alt":"a"}',
)  # fmt: skip
_DRAWN = (
    "every surface fits its width and holds no control byte; html is balanced, allow-listed and inert; messages are "
    "within the limits of their service"
)

TEXT_TARGETS = (
    Target(
        "sanitise",
        check_sanitise,
        "no control byte, bidi control or lone surrogate is left; cleaning twice is cleaning once; bounded size",
        _ESCAPES,
        lambda: [b"plain", *_ESCAPES],
        work=work_sanitise,
    ),
    Target(
        "template",
        check_template,
        "never raises; what is substituted is not read again; text without {{ is itself; bounded size",
        (*_TEMPLATES, *_ESCAPES),
        lambda: [b"{{args.x | truncate:3}}\nabcdef", b"a {{output.list[1].a}} b\nx", *_TEMPLATES],
        work=work_template,
    ),
    Target(
        "spec",
        check_spec_file,
        f"a refusal names every problem; an accepted spec is drawn, bounded; {_DRAWN}",
        (*_SPECS, *_TEMPLATES, *_JSON),
        _specs,
        8192,
        work=work_spec,
    ),
    Target(
        "events",
        check_events,
        f"decoding loses nothing (decode, encode, decode is decode); looking in between changes nothing; {_DRAWN}",
        (*_EVENTS, *_JSON, *_MARKDOWN, *_ESCAPES),
        _events,
        work=work_events,
    ),
    Target(
        "agents",
        check_agents,
        f"no adapter raises on any JSON; every cut gives the same events; {_DRAWN}",
        (*_JSON, *_EVENTS[:6], b"data: ", b"event: x\n", b"\xef\xbb\xbf", b"\x1b]0;t\x07"),
        _streams,
        6000,
        work=work_agents,
    ),
    Target(
        "markdown",
        check_markdown,
        f"every cut of a stream ends in the same nodes; {_DRAWN}",
        (*_MARKDOWN, *_ESCAPES),
        lambda: [part for data in fixtures("markdown/*.txt") + fixtures("fit/*.md") for part in data.split(b"\n.\n")],
        2500,
        work=work_markdown,
    ),
    Target(
        "keys",
        check_keys,
        "keys, or an error with words; a paste holds no control byte and cannot leave its brackets; bounded size",
        (*_KEY_NAMES, *_ESCAPES),
        lambda: [b"Up*3\nC-c\nAlt-x", b"click\nshift\nleft", b"a\nEscape\nb", *_KEY_NAMES],
        400,
        work=work_keys,
    ),
    Target(
        "search",
        check_search,
        "no query is wrong; a snippet is bounded, its ranges lie in it, and a text that matches has some",
        (b'"', b" ", "İ".encode(), "ς".encode(), b"NEAR", b"AND", b"*", b"\n", b"abc", *_ESCAPES),
        lambda: [b"abc def\nwhere abc is and def", b'"a phrase" x\nx and a phrase', "σ\nΣς".encode()],
        work=work_search,
    ),
    Target(
        "context",
        check_context,
        "a context or an error with words; survives its JSON; merging with itself changes nothing; clean instruction",
        (*_JSON, b'"content_width":', b'"supports_tables":false', b'"client_type":"web"', b'"table_mode":"wrap"'),
        lambda: [json.dumps(PresentationContext().to_dict()).encode(), b'{"client_type":"web","content_width":30}'],
    ),
)
