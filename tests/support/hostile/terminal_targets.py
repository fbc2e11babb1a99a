"""What reads the output of programs: marks, the spool, blocks, the screen, pictures of it, what one can wait for."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import pairwise

from drawn import chance
from hunting import Target
from moment import Now
from term_strategies import OTHER, SECRET, Story, mark, shell, tell
from text_targets import FIXTURES, cuts, text, words
from vantage.errors import InputError
from vantage.export.screen.ansi import repaint
from vantage.export.screen.html import screen_html
from vantage.export.screen.svg import screen_svg
from vantage.terminal.journal import Record
from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.marks import MAX_MARK, Mark, Marks
from vantage.terminal.output.match import Condition, condition
from vantage.terminal.output.reading import fold, read_output, tail
from vantage.terminal.output.spool import PROMPT, Spool
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.screen import CheckpointError, Screen

_NOT_IN_SPOOL = re.compile("[\x00-\x07\x0b\x0c\x0e-\x1d\x1f\x7f-\x9f]")
_NOT_ON_SCREEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NOT_READ = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PAGE = re.compile(r"[^<>]*(<(!doctype html|/?[a-z]+( [a-z-]+=\"[^\"<>]*\")*)>[^<>]*)*")


def _bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


# Marks


def _split(pieces: list[bytes]) -> tuple[list[bytes | Mark], bytes]:
    """Marks and what stands between them, however it came."""
    marks = Marks(SECRET)
    out: list[bytes | Mark] = []
    for piece in pieces:
        for part in marks.split(piece):
            if isinstance(part, bytes) and out and isinstance(out[-1], bytes):
                out[-1] += part
            else:
                out.append(part)
        assert len(marks.held) < MAX_MARK
    return out, marks.held


def check_marks(data: bytes) -> None:
    whole, held = _split([data])
    for pieces in (cuts(data), _bytewise(data)):
        assert _split(pieces) == (whole, held)
    kept = b"".join(
        data[part.start : part.end] if isinstance(part, Mark) else part for part in [*whole, held]
    )  # a mark says where it stood: nothing is lost between them
    assert kept == data
    for part in whole:
        assert isinstance(part, bytes) or SECRET.encode() in data[part.start : part.end]


# The spool


def _spooled(pieces: list[bytes], *, resume: bool = False) -> tuple[bytes, bool]:
    spool = Spool()
    out, alternate = b"", False
    for piece in pieces:
        out += spool.add(piece)
        alternate |= spool.alternate
        if resume:
            spool = Spool(spool.state())
    out += spool.settle()
    assert spool.length == len(out)
    return out, alternate


def check_spool(data: bytes) -> None:
    whole, alternate = _spooled([data])
    assert _spooled(_bytewise(data)) == (whole, alternate)
    assert _spooled(cuts(data), resume=True) == (whole, alternate)
    assert len(whole) <= 3 * len(data)
    assert _NOT_IN_SPOOL.search(whole.decode()) is None
    spool = Spool()
    if spool.add(data) and spool.plain and not spool.unsettled:
        assert whole == data.replace(b"\r\n", b"\n"), "plain means as it came"
    seen = fold(whole.decode().replace(PROMPT.decode(), ""))
    assert _NOT_READ.search(seen) is None, seen
    for part in ("head", "tail", "both"):
        read = read_output(lambda start, end: whole[start:end], ByteRange(0, len(whole)), 200, part=part)
        assert len(read.text) <= 400
        assert _NOT_READ.search(read.text) is None
    assert len(tail(whole, 3)) <= 4000


# The whole terminal


def check_terminal(data: bytes) -> None:
    """Output with records of a host at places that the bytes choose."""
    choose = chance(data)
    kinds = [
        Record(t="exec", id="x", cmd="ls", origin="exec", at=0, ts=0),
        Record(t="exec", id="y", cmd="a\nb", origin="interactive", at=0, ts=0),
        Record(t="size", cols=choose.randint(2, 60), rows=choose.randint(1, 9), at=0, ts=0),
        Record(t="state", echo=False, canonical=True, foreground="vim", at=0, ts=0),
        Record(t="reset", at=0, ts=0),
        Record(t="exit", status=3, at=0, ts=0),
        Record(t="lost", at=0, ts=0),
        Record(t="of a newer host", at=0, ts=0),
    ]
    places = sorted(choose.randint(0, len(data)) for _ in range(choose.randint(0, 5)))
    records = [shell(), *(_at(choose.choice(kinds), place, 1_700_000_000_000 + place) for place in places)]
    story = Story(data, tuple(records))
    screen = choose.random() < 0.5
    told = tell(story, screen=screen)
    some = [choose.randint(0, len(data)) for _ in range(6)]
    assert tell(story, some, screen=screen) == told
    assert tell(story, some, resume=True, screen=screen) == told
    for event in told.events:
        assert event.type
    assert len({block.block_id for block in told.ended}) == len(told.ended)


def _at(record: Record, at: int, ts: int) -> Record:
    return Record(**{**{name: getattr(record, name) for name in record.__struct_fields__}, "at": at, "ts": ts})


# The screen


def _screen(data: bytes, engine: str, pieces: list[bytes]) -> Screen:
    choose = chance(data)
    screen = Screen(choose.choice([2, 10, 40, 80]), choose.choice([1, 5, 24]), engine=engine, scrollback=100)
    for piece in pieces:
        screen.feed(piece).rows  # noqa: B018 -- looking must change nothing
    return screen


def _everything(screen: Screen) -> tuple[object, ...]:
    """All that can be seen of it; what it replied is taken."""
    return (
        screen.rows(), screen.cursor, screen.title, screen.cwd, screen.alt_screen, screen.modes,
        screen.scrollback().lines, screen.take_replies(),
    )  # fmt: skip


def check_screen(data: bytes) -> None:
    for engine in ("ghostty", "pyte"):
        with _screen(data, engine, [data]) as screen, _screen(data, engine, cuts(data)) as other:
            _check_pictures(screen)
            seen = _everything(screen)
            assert _everything(other) == seen
            seen_text = "".join([*screen.lines(), *screen.scrollback().lines, screen.title])
            assert _NOT_ON_SCREEN.search(seen_text) is None, seen_text
            assert screen.cursor.row < screen.rows_count
            assert screen.cursor.col < screen.cols
            assert all(run.start + run.len <= screen.cols for row in screen.rows() for run in row.runs)
            _check_checkpoint(screen)
            for cols, rows in pairwise([3, 50, 20, 7]):
                screen.resize(cols, rows)
                assert len(screen.lines()) == rows


def _check_pictures(screen: Screen) -> None:
    snapshot = ScreenSnapshot.of(screen, 0, styled=True)
    ET.fromstring(screen_svg(snapshot))
    assert _PAGE.fullmatch(screen_html(snapshot, page=True))
    drawn = re.sub(r"\x1b(\[[0-9;:?]* ?[A-Za-z]|\](8;;[!-~]*|2;[^\x00-\x1f]*)\x1b\\)", "", repaint(snapshot))
    assert _NOT_ON_SCREEN.search(drawn.replace("\r\n", "")) is None, drawn


def _check_checkpoint(screen: Screen) -> None:
    try:
        encoded = screen.encode()
    except CheckpointError:
        return
    with Screen.decode(encoded, engine=screen.engine) as again:
        assert again.lines() == screen.lines()
        assert again.cursor == screen.cursor
        assert again.title == screen.title


# What one can wait for


def _waited(match: object, spool: bytes, pieces: list[bytes], *, regex: bool) -> object:
    wanted: Condition = condition(match, 0, regex=regex)
    end = 0
    for piece in pieces:
        end += len(piece)
        for part in wanted.searches():  # each says from where on it wants to see the spool
            part.look(spool[part.search.at : end], last=end == len(spool))
    fired = wanted.fired(Now(cursor=len(spool), title="t", screen="s"))
    return fired and (fired.kind, fired.found)


def check_waits(data: bytes) -> None:
    """A condition on the first line, an expression or JSON; the output behind it."""
    first, _, raw = data.partition(b"\n")
    spool, _ = _spooled([raw])
    try:
        match, regex = json.loads(text(first)), False
    except (ValueError, RecursionError):
        match, regex = text(first), True
    try:
        whole = _waited(match, spool, [spool], regex=regex)
    except InputError as error:
        words(error, len(data))
        return
    if not regex and "regex" not in str(match):  # how far an expression reaches may depend on what follows
        assert _waited(match, spool, _bytewise(spool), regex=regex) == whole


# What it costs


def work_marks(data: bytes) -> None:
    Marks(SECRET).split(data)


def work_spool(data: bytes) -> None:
    spool = Spool()
    whole = spool.add(data) + spool.settle()
    fold(whole.decode())
    read_output(lambda start, end: whole[start:end], ByteRange(0, len(whole)), len(whole) // 2)
    tail(whole, 100)


def work_terminal(data: bytes) -> None:
    tell(Story(data, (shell(),)), range(0, len(data), 997))


def work_screen(data: bytes) -> None:
    for engine in ("ghostty", "pyte"):
        with Screen(80, 24, engine=engine) as screen:
            screen.feed(data)
            _check_pictures(screen)
            screen.scrollback()
            screen.encode()


def work_waits(data: bytes) -> None:
    spool = data.replace(b"\x1e", b"")
    pieces = [spool[at : at + 997] for at in range(0, len(spool), 997)]
    for match in ("(a|b)*c", "x+x+y", ".*=.*"):
        _waited(match, spool, pieces, regex=True)
    _waited({"any": [{"text": "aab"}, {"prompt": True}]}, spool, pieces, regex=False)


def _recordings() -> Iterator[bytes]:
    for file in sorted((FIXTURES / "term").rglob("*")):
        if file.is_file() and file.suffix not in (".txt", ".json", ".md"):
            data = file.read_bytes()
            yield from (data[at : at + 1500] for at in range(0, min(len(data), 6000), 1500))


_SEQUENCES = (
    b"\x1b[31m", b"\x1b[K", b"\x1b[1K", b"\x1b[2J\x1b[H", b"\x1b[?1049h", b"\x1b[?25;1049h", b"\x1b[?1049l",
    b"\x1b[6n", b"\x1b[c", b"\x1b]10;?\x07", b"\x1bP$qm\x1b\\", b"\x1b]0;title\x07", b"\x1b]8;;http://e.x/\x07",
    b"\x1b]7;file:///a\x07", b"\x1b_Gi=1;AAAA\x1b\\", b"\x1bPq#0;1;2\x1b\\", b"\x1b(0", b"\x1b7", b"\x1b8", b"\x1bM",
    b"\x1b#8", b"\x1bc", b"\x1b[5;1r", b"\x1b[999999999b", b"\x1b[99999999@", b"\x1b[1000L", b"\x1b[9999S",
    b"\x1b[?2026h", b"\x1b[>1u", b"\x1b[4:3m", b"\x1b[38:2::1:2:3m", b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP", b"\x18",
    b"\x1a", b"\x07", b"\x1b\\", b"\r", b"\r\n", b"\b", b"\t", b"\x1e", b"\x7f", b"\xc2\x9b", b"\xc2\x85",
    b"\xe2\x82", b"\xf0\x9f\x91", b"\xff", "漢".encode(), "👩‍🚀".encode(), "e\u0301".encode(), b"\x1b]52;c;AAAA\x07",
    b"\x1b]4;1;?\x07", b"\x1b[?1$p", b"\x1b[21t", b"\x1b[3g", b"\x1bH", b"\x1b[20h", b"\x1b]1337;File=:AA\x07",
    b"\x1b[?69h\x1b[3;5s", b"\x1b[!p", b"\x0e", b"\x0f", b"\x05", b"\x1b[?3h", "\u202e".encode(), "\u2066".encode(),
    "\u2028".encode(), "\u200e".encode(), "\U000e0041".encode(), "\ufff9".encode(),
)  # fmt: skip
_MARKS = (
    mark("D", 1, "cwd=/tmp", "t=1700000001.5", status="0"), mark("A", 1), mark("B", 1),
    mark("C", 1, "t=1700000002,25"), mark("P", 1), mark("A", 2), mark("B", 2), mark("D", 9, secret=OTHER),
    b"\x1b]133;", b"\x1b]133;A\x07", b";aid=s3cret", b";n=2", b";n=-1", b";cwd=/a%3Bb", b";cmd=ls%20-l",
    b"\x1b]133;C;aid=s3cret;n=3", b"x" * 100,
)  # fmt: skip
_CYCLE = b"".join(
    [*_MARKS[:2], b"$ ", _MARKS[2], b"ls\r\n", _MARKS[3], b"a b\r\n", mark("D", 2, status="1"), *_MARKS[5:7]]
)
_CONDITIONS = (
    b'{"text":"', b'{"regex":"', b'{"prompt":true}', b'{"any":[', b'{"all":[', b'{"screen":"s"}', b'{"title":"t"}',
    b"]}", b'"}', b'{"quiet_ms":300}', b"PROMPT", b"EOF", b"(a|b)*", b"[[:space:]]", b"^", b"$", b"\\b", b"(?i)",
    b"{1000}", b"(?:a{500}){500}", b"\\p{Greek}", b"\\C", b".*", b"a+?", b"\x1e", b"\n",
)  # fmt: skip

TERMINAL_TARGETS = (
    Target(
        "marks",
        check_marks,
        "every cut gives the same marks; nothing but marks with the shell's secret is taken out; bounded memory",
        (*_MARKS, *_SEQUENCES),
        lambda: [_CYCLE, *_MARKS],
        work=work_marks,
    ),
    Target(
        "spool",
        check_spool,
        "every cut and every restart gives the same text, UTF-8 without control bytes, at most three times the size; "
        "what is read from it holds none either and is as short as asked",
        _SEQUENCES,
        lambda: [_CYCLE, *_SEQUENCES, *_recordings()],
        work=work_spool,
    ),
    Target(
        "terminal",
        check_terminal,
        "every cut and every restart tells the same: spool, events, blocks, replies, state and screen",
        (*_MARKS, *_SEQUENCES),
        lambda: [_CYCLE, *_MARKS, *_SEQUENCES, *_recordings()],
        2500,
        work=work_terminal,
    ),
    Target(
        "screen",
        check_screen,
        "both engines: every cut and every checkpoint shows the same; no control byte or bidi control in rows, "
        "scrollback or title; the cursor stays inside; pictures are well-formed, pages inert",
        _SEQUENCES,
        lambda: [*_SEQUENCES, *_recordings()],
        2500,
        work=work_screen,
    ),
    Target(
        "waits",
        check_waits,
        "a condition or an error with words; every cut finds the same",
        (*_CONDITIONS, *_SEQUENCES[:4], b"login: "),
        lambda: [b'{"any":[{"text":"a"},{"prompt":true}]}\nxx\x1ea', b"a+b\nxaab", b'"PROMPT"\nx', *_CONDITIONS],
        2000,
        work=work_waits,
    ),
)
