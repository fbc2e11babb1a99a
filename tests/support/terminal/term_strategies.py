"""Terminal streams for property tests: text, escapes of every kind whole and broken, marks, records, and ways to cut.

A `Story` is what a host would have written: the raw output and the journal records with their places in it.
"""

from collections.abc import Iterator, Sequence

import msgspec
from hypothesis import strategies as st

from vantage.events import Event
from vantage.terminal.core import TerminalCore
from vantage.terminal.journal import Record
from vantage.terminal.output.blocks import Block
from vantage.terminal.screen.screen import CheckpointError, Screen
from vantage.terminal.state import Reply, State

SECRET = "s3cret"
OTHER = "0ther"
NOW = 1_700_000_000_000

# Pieces of output


def mark(kind: str, cycle: int, *fields: str, secret: str = SECRET, end: bytes = b"\x1b\\", status: str = "") -> bytes:
    """A mark as our hooks print it: `mark("D", 2, "cwd=/tmp", status="0")`."""
    parts = [kind, *([status] if status else []), f"aid={secret}", f"n={cycle}", *fields]
    return b"\x1b]133;" + ";".join(parts).encode() + end


TEXT = st.one_of(
    st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=8).map(str.encode),
    st.sampled_from(["ls -la", "é", "漢字", "👩‍🚀", "a\tb", "$ ", "> ", "\x85", "\x9b31m", "\ufdd0", "\x1e"]).map(
        str.encode
    ),
)
LINE_ENDS = st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"\b", b"\r\r\n", b"x"]), min_size=1, max_size=4).map(
    b"".join
)
BROKEN_UTF8 = st.sampled_from(
    [
        b"\xe2\x82",
        b"\xe2",
        b"\xf0\x9f\x91",
        b"\xff",
        b"\x80",
        b"\xc2",
        b"\xed\xa0\x80",
        b"\xf4\x90",
        b"\xc0\xaf",
        b"\xe0\x80",
    ]
)
WHOLE_ESCAPES = st.sampled_from(
    [
        b"\x1b[31m", b"\x1b[K", b"\x1b[2K",
        b"\x1b[1K", b"\x1b[?1049h", b"\x1b[?25;1049h", b"\x1b[?1049l", b"\x1b[2J\x1b[H", b"\x1b[>4;1m", b"\x1b[ q",
        b"\x1b[6n", b"\x1b[c", b"\x1b[?1$p", b"\x05", b"\x1bZ", b"\x1b]10;?\x07", b"\x1b]11;?\x1b\\",
        b"\x1bP$qm\x1b\\", b"\x1b]0;title\x07", b"\x1b]2;a\nb\x1b\\", b"\x1b]0;\xe2\x82\x07", b"\x1bPq#0;1;2\x1b\\",
        b"\x1b_Gi=1;AAAA\x1b\\", b"\x1b^pm\x1b\\", b"\x1bXsos\x1b\\", b"\x1b(B", b"\x1b7", b"\x1bM", b"\x1b#8",
        b"\x1b%G", b"\x1b=", b"\x1bc",
    ]
)  # fmt: skip
UNFINISHED_ESCAPES = st.sampled_from(
    [
        b"\x1b", b"\x1b[", b"\x1b[3", b"\x1b[?1049", b"\x1b[?", b"\x1b]", b"\x1b]0;never ended", b"\x1b]10;?",
        b"\x1bP", b"\x1bP$q", b"\x1b_", b"\x1bX", b"\x1b^", b"\x1b(", b"\x1b ", b"\x1b]133;", b"\x1b]133;A",
        b"\x1b]13", b"\x1b]133;C;aid=" + SECRET.encode(), b"\x1b[?" + b"1;" * 40 + b"1049h",
    ]
)  # fmt: skip
BROKEN_ESCAPES = st.sampled_from(
    [
        b"\x1b\x1b", b"\x1b\x07", b"\x1b[3\x07m", b"\x1b[3\nm", b"\x1b[\xe2\x82m", b"\x1b\xe2\x82\xac",
        b"\x1b]0;x\x18y", b"\x1b]0;x\x1ay", b"\x1bPab\x18c", b"\x1bPx\x07y", b"\x1b]0;x\x1b[31my",
        b"\x1b[31\x1b[32m", b"\x1b\\", b"\x1b[3\x7fm", b"\x1b(\nB", b"\x18", b"\x1a", b"\x07", b"\x00", b"\x7f",
        b"\x0b\x0c", b"\x1b]10;\x05?\x07",
    ]
)  # fmt: skip
FOREIGN_MARKS = st.sampled_from(
    [
        b"\x1b]133;A\x07", b"\x1b]133;D;0\x1b\\", b"\x1b]133;C\x1b\\", b"\x1b]133;B;aid=\x07",
        b"\x1b]133;Z;aid=s3cret;n=1\x07", b"\x1b]133;A;aid=s3cret\x07", b"\x1b]133;A;aid=s3cret;n=x\x07",
        b"\x1b]133;\x07", b"\x1b]133;A;aid=s3cret;n=1\x18", mark("D", 9, secret=OTHER),
        mark("C", 1, secret=SECRET + "x"), mark("B", 1, secret=SECRET[:-1]),
    ]
)  # fmt: skip


@st.composite
def our_marks(draw: st.DrawFn, cycles: st.SearchStrategy[int] = st.integers(-1, 6)) -> bytes:  # noqa: B008
    fields = draw(
        st.lists(
            st.sampled_from(["cwd=/tmp", "cwd=/a%3Bb", "t=1700000001.5", "t=1700000002,25", "st=1", "cmd=ls%20-l"]),
            max_size=3,
        )
    )
    kind = draw(st.sampled_from("DABCP"))
    status = draw(st.sampled_from(["", "0", "130", "junk"])) if kind == "D" else ""
    return mark(kind, draw(cycles), *fields, status=status, end=draw(st.sampled_from([b"\x07", b"\x1b\\"])))


PIECE = st.one_of(TEXT, LINE_ENDS, BROKEN_UTF8, WHOLE_ESCAPES, UNFINISHED_ESCAPES, BROKEN_ESCAPES, FOREIGN_MARKS)
STREAM = st.lists(st.one_of(PIECE, our_marks()), max_size=14).map(b"".join)
"""Bytes of any kind, marks of ours among them."""
OUTPUT = st.lists(PIECE, max_size=14).map(b"".join)
"""Bytes of any kind without marks of ours."""


# Cuts


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The data in pieces, some of them empty."""
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def every_way(data: bytes) -> Iterator[list[bytes]]:
    """In two, at every place; and byte by byte."""
    yield [bytes([byte]) for byte in data]
    for place in range(len(data) + 1):
        yield [data[:place], data[place:]]


# Stories


class Story(msgspec.Struct, frozen=True):
    raw: bytes
    records: tuple[Record, ...] = ()


def shell(at: int = 0, ts: int = NOW, **fields: object) -> Record:
    given = {
        "shell_id": "sh",
        "secret": SECRET,
        "cols": 40,
        "rows": 6,
        "cwd": "/home/a",
        "kind": "bash",
        "pid": 7,
        **fields,
    }
    return Record(t="shell", at=at, ts=ts, **given)


def _record(kind: str, **fields: object) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(
        {
            "t": st.just(kind),
            **{
                name: value if isinstance(value, st.SearchStrategy) else st.just(value)
                for name, value in fields.items()
            },
        }
    )


RECORD = st.one_of(
    _record("out"),
    _record(
        "exec",
        id=st.sampled_from("xyz"),
        cmd=st.sampled_from(["ls", "a\nb", "", "é"]),
        origin=st.sampled_from(["exec", "interactive"]),
    ),
    _record("size", cols=st.integers(2, 60), rows=st.integers(1, 9)),
    _record("state", echo=st.booleans(), canonical=st.booleans(), foreground=st.sampled_from([None, "vim"])),
    _record("end"),
    _record("reset"),
    _record("gap", start=0, end=5, why="old"),
    _record("exit", status=st.sampled_from([None, 0, 3])),
    _record("lost"),
    _record("shell", shell_id=st.sampled_from("pq"), secret=st.sampled_from([SECRET, OTHER]), cols=30, rows=5),
    _record("reply", query=3),
    _record("of a newer host"),
)


@st.composite
def a_prompt_and_a_command(draw: st.DrawFn, cycle: int) -> bytes:
    """What a shell prints from one prompt to the next, each part now and then missing."""
    parts = [
        mark("D", cycle, "t=1700000001.5", status="0"), mark("A", cycle), b"$ ", mark("B", cycle), draw(TEXT), b"\r\n",
        draw(st.sampled_from([b"", mark("P", cycle), b"bash: no\r\n"])), mark("C", cycle, "t=1700000003"), draw(OUTPUT),
    ]  # fmt: skip
    missing = draw(st.sets(st.integers(0, len(parts) - 1), max_size=2))
    return b"".join(part for number, part in enumerate(parts) if number not in missing)


@st.composite
def stories(draw: st.DrawFn, *, most_records: int = 8) -> Story:
    """A shell's life: prompts and commands in order with anything in between, and records anywhere."""
    parts: list[bytes] = []
    for cycle in range(1, draw(st.integers(1, 4))):
        parts += [draw(st.one_of(st.just(b""), STREAM)), draw(a_prompt_and_a_command(cycle))]
    raw = b"".join(parts) + draw(STREAM)
    places = sorted(draw(st.lists(st.integers(0, len(raw)), max_size=most_records)))
    ts = NOW
    records = [shell()] if draw(st.integers(0, 9)) else []
    for place in places:
        ts += draw(st.integers(0, 3000))
        records.append(Record(**draw(RECORD), at=place, ts=ts))
    return Story(raw, tuple(records))


# What a terminal makes of a story


class Told(msgspec.Struct):
    """Everything that a terminal derives from a story, so that two runs can be compared."""

    spool: bytes = b""
    events: list[Event] = []
    begun: list[tuple[str, int, int]] = []
    ended: list[Block] = []
    replies: list[Reply] = []
    ready: bool = False
    asked: bool = False
    state: State | None = None
    screen: tuple[list[str], object, str] | None = None


def tell(story: Story, cuts: Sequence[int] = (), *, resume: bool = False, screen: bool = False) -> Told:
    """Feeds a story, each record at its place, the output cut at `cuts`.

    With `resume`, the terminal is replaced at every cut by one that is made from the checkpoint alone.
    """
    told = Told()
    terminal = TerminalCore(screen=Screen(40, 6) if screen else None)
    records = list(story.records)
    for end in sorted({*cuts, *(record.at for record in records), len(story.raw)}):
        if resume:
            terminal = _resumed(terminal)
        if terminal.raw < end:
            _listen(told, terminal, terminal.feed(story.raw[terminal.raw : end]))
        while records and records[0].at <= terminal.raw:
            _listen(told, terminal, terminal.record(records.pop(0)))
            if resume:
                terminal = _resumed(terminal)
    told.state = terminal.checkpoint()
    if terminal.screen is not None:
        told.screen = (terminal.screen.lines(), terminal.screen.cursor, terminal.screen.title)
        terminal.screen.close()
    return told


def _resumed(terminal: TerminalCore) -> TerminalCore:
    screen = None
    if terminal.screen is not None:
        try:
            encoded = terminal.screen.encode()
        except CheckpointError:
            return terminal  # not inside of some sequences: it is made later
        terminal.screen.close()
        screen = Screen.decode(encoded)
    return TerminalCore(terminal.checkpoint(), screen)


def _listen(told: Told, terminal: TerminalCore, step) -> None:
    assert step.spool_from == len(told.spool)
    told.spool += step.spool
    assert terminal.cursor == len(told.spool)
    told.events += step.events
    told.begun += [(block.block_id, block.spool.start, block.raw.start) for block in step.begun]
    told.ended += [msgspec.structs.replace(block, marks=list(block.marks)) for block in step.ended]
    told.replies += step.replies
    told.ready |= step.ready
    told.asked |= step.asks_more
