"""Blocks, events and modes: what a terminal makes of marks and records, whatever way its output is cut."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from term_strategies import NOW, OTHER, SECRET, Story, mark, shell, stories, tell
from vantage.events import AgentBlockBegin, AgentBlockEnd, PtyGap, PtyState
from vantage.terminal.core import TerminalCore
from vantage.terminal.journal import Record, read_records
from vantage.terminal.output.blocks import MAX_MARKS, ByteRange
from vantage.terminal.output.reading import fold
from vantage.terminal.screen.screen import Screen

# Law 5


@given(st.data(), stories())
def test_every_cut_tells_the_same(data, story):
    """Spool, events, blocks and state; also when another core goes on from a checkpoint."""
    whole = tell(story)
    assert tell(story, range(len(story.raw))) == whole
    cuts = data.draw(st.lists(st.integers(0, len(story.raw)), max_size=8))
    assert tell(story, cuts) == whole
    assert tell(story, cuts, resume=True) == whole


@given(st.data(), stories())
def test_every_cut_draws_the_same(data, story):
    whole = tell(story, screen=True)
    assert tell(story, range(len(story.raw)), screen=True) == whole
    cuts = data.draw(st.lists(st.integers(0, len(story.raw)), max_size=5))
    assert tell(story, cuts, screen=True, resume=True) == whole
    blind = tell(story)
    assert (blind.spool, blind.events, blind.ended) == (whole.spool, whole.events, whole.ended)


QUESTIONS = st.lists(
    st.sampled_from(
        [
            b"\x1b", b"[", b"]", b"P", b"$q", b"m", b"?", b"10;", b"6", b"n", b"\x07", b"\\", b"\x05", b"x",
            b"Z", b"\x18",
            b"\x1b[6n", b"\x1b]10;?", b"\x1b]11;?\x1b\\", b"\x1bP$qm\x1b\\", b"\x1b[" + b"0" * 70 + b"n",
        ]
    ),
    max_size=14,
).map(b"".join)  # fmt: skip


@given(st.data(), QUESTIONS)
@example(None, b"\x1b]10;?\x1b[6n")
@example(None, b"\x1b]10;?\x1b]10;?\x1bZ")
@example((8,), b"\x1b]10;?\x1b\x1b[6n")
def test_answers_belong_to_the_same_offsets_however_the_questions_come(data, raw):
    story = Story(raw, (shell(),))
    whole = tell(story, screen=True)
    assert tell(story, range(len(raw)), screen=True) == whole
    if isinstance(data, st.DataObject):
        data = data.draw(st.lists(st.integers(0, len(raw)), max_size=4))
    cuts = data or range(0, len(raw), 2)
    assert tell(story, cuts, screen=True, resume=True) == whole


@pytest.mark.parametrize("cuts", [(), range(100)], ids=["whole", "byte by byte"])
def test_every_question_is_answered_at_its_own_offset(cuts):
    raw = b"a\x1b[6nb\x1b]11;?\x1b\\c\x1b[5n"
    told = tell(Story(raw, (shell(),)), cuts, screen=True)
    assert [(reply.query, reply.data[:4]) for reply in told.replies] == [
        (5, b"\x1b[1;"),
        (raw.index(b"c"), b"\x1b]11"),
        (len(raw), b"\x1b[0n"),
    ]


# Lives of a shell, and the blocks that come of them


def life(*steps, secret=SECRET):
    """A story of output (bytes) and records (`(kind, fields)`); records come a second apart, from NOW on."""
    raw, records = b"", [shell(secret=secret)]
    for step in steps:
        if isinstance(step, bytes):
            raw += step
        else:
            kind, fields = step
            ts = NOW + 1000 * len(records)
            records.append(
                Record(**{"t": kind, "ts": ts, "at": len(raw), **fields})
                if kind != "shell"
                else shell(len(raw), ts, **fields)
            )
    return Story(raw, tuple(records))


def record(kind, **fields):
    return kind, fields


def run(cmd, origin="exec", **fields):
    """The agent has a command typed."""
    return record("exec", cmd=cmd, origin=origin, id=f"request of {cmd}", **fields)


def prompt(n, status=0):
    return mark("D", n, "cwd=/home/a", status=str(status)) + mark("A", n) + b"$ " + mark("B", n)


def begin(n, *fields):
    return mark("C", n, *fields)


EXIT, LOST, RESET, END = record("exit", status=3), record("lost"), record("reset"), record("end")
NEW_SHELL = record("shell", shell_id="next")

LIVES = {
    "a command": (
        [prompt(1), run("echo hi"), b"echo hi\r\n", begin(1), b"hi\r\n", prompt(2)],
        ["exec 'echo hi': 0 by mark, 'hi\\n'"],
    ),
    "one after the other": (
        [prompt(1), run("a"), b"a\r\n", begin(1), b"A", prompt(2, 1), run("b"), b"b\r\n", begin(2), prompt(3, 2)],
        ["exec 'a': 1 by mark, 'A'", "exec 'b': 2 by mark, ''"],
    ),
    "a compound": (
        [prompt(1), run("cd /; (false) || exit 3 | cat"), b"...\r\n", begin(1), b"out", prompt(2)],
        ["exec 'cd /; (false) || exit 3 | cat': 0 by mark, 'out'"],
    ),
    "many commands in one text: the shell's further start marks are not output": (
        [prompt(1), run("echo a\necho b"), b"echo a\r\necho b\r\n", begin(1), b"a\r\n", begin(1), b"b\r\n", prompt(2)],
        ["exec 'echo a\\necho b': 0 by mark, 'a\\nb\\n'"],
    ),
    "refused by the shell: no start mark, its words are the output": (
        [prompt(1), run("fi"), b"fi\r\n", b"bash: syntax error\r\n", prompt(2, 2)],
        ["exec 'fi': 2 by mark, 'bash: syntax error\\n'"],
    ),
    "refused, two lines": (
        [prompt(1), run("true\nfi"), b"true\r\n> fi\r\n", b"bash: no\r\n", prompt(2, 2)],
        ["exec 'true\\nfi': 2 by mark, 'bash: no\\n'"],
    ),
    "refused, a title with a line end in the echo": (
        [prompt(1), run("fi"), b"f\x1b]0;a\nb\x07i\r\n", b"bash: no\r\n", prompt(2, 2)],
        ["exec 'fi': 2 by mark, 'bash: no\\n'"],
    ),
    "incomplete: the shell asks for more, and gets Ctrl-C": (
        [prompt(1), run("echo 'a"), b"echo 'a\r\n", mark("P", 1), b"> ^C\r\n", prompt(2, 130)],
        ["exec \"echo 'a\": None by incomplete, ''"],
    ),
    "incomplete: bash's editor begins anew and shows the last prompt once more": (
        [
            prompt(1),
            run("[[ a =="),
            b"\r" + mark("A", 1) + b"$ " + mark("B", 1),
            b"[[ a ==\r\n\x1b[?2004l\rbash: unexpected newline\r\n\x1b[?2004h",
            mark("A", 1) + b"$ " + mark("B", 1) + b"^C\r\n",
            prompt(2, 130),
        ],
        ["exec '[[ a ==': None by incomplete, ''"],
    ),
    "an editor that only draws its prompt again asks for nothing": (
        [
            prompt(1),
            run("echo hi"),
            b"\r\n" + mark("A", 1) + b"$ " + mark("B", 1),
            b"echo hi\r\n",
            begin(1),
            b"hi\r\n",
            prompt(2),
        ],
        ["exec 'echo hi': 0 by mark, 'hi\\n'"],
    ),
    "incomplete behind commands that ran": (
        [
            prompt(1), run("echo a\necho 'b"), b"...\r\n...\r\n", begin(1), b"a\r\n", mark("P", 1), b"> ^C\r\n",
            prompt(2, 130),
        ],
        ["exec \"echo a\\necho 'b\": None by incomplete, 'a\\n'"],
    ),
    "asked for more, and a person typed it": (
        [prompt(1), run("echo 'a"), b"echo 'a\r\n", mark("P", 1), b"> '\r\n", begin(1), b"a\n\r\n", prompt(2)],
        ["exec \"echo 'a\": 0 by mark, 'a\\n\\n'"],
    ),
    "exit": (
        [prompt(1), run("exit 3"), b"exit 3\r\n", begin(1), b"exit\r\n", EXIT],
        ["exec 'exit 3': 3 by exit, 'exit\\n'"],
    ),
    "gone before it began": (
        [prompt(1), run("ls"), b"ls\r\n", EXIT],
        ["exec 'ls': 3 by exit, ''"],
    ),
    "the host died": (
        [prompt(1), run("make"), b"make\r\n", begin(1), b"cc", LOST],
        ["exec 'make': None by lost, 'cc'"],
    ),
    "the host died and wrote nothing: a new shell says so": (
        [prompt(1), run("make"), b"make\r\n", begin(1), b"cc", NEW_SHELL, prompt(1)],
        ["exec 'make': None by lost, 'cc'"],
    ),
    "reset": (
        [prompt(1), run("vim", "interactive", session="s"), b"vim\r\n", begin(1), RESET, EXIT],
        ["interactive 'vim': 3 by reset, ''"],
    ),
    "reset at the prompt says nothing about the next shell's commands": (
        [prompt(1), RESET, EXIT, NEW_SHELL, prompt(1), run("a"), b"a\r\n", begin(1), prompt(2)],
        ["exec 'a': 0 by mark, ''"],
    ),
    "reset of a shell that is gone neither": (
        [prompt(1), EXIT, RESET, NEW_SHELL, prompt(1), run("a"), b"a\r\n", begin(1), prompt(2)],
        ["exec 'a': 0 by mark, ''"],
    ),
    "end_session": (
        [
            prompt(1), run("python", "interactive", session="s"), b"python\r\n", begin(1), b">>> ", END,
            b"exit()\r\n", prompt(2, 0),
        ],
        ["interactive 'python': 0 by ended, '>>> exit()\\n'"],
    ),
    "end_session took the shell with it": (
        [prompt(1), run("exec top", "interactive", session="s"), b"exec top\r\n", begin(1), END, EXIT],
        ["interactive 'exec top': 3 by ended, ''"],
    ),
    "end_session when nothing runs": (
        [prompt(1), END, run("a"), b"a\r\n", begin(1), prompt(2)],
        ["exec 'a': 0 by mark, ''"],
    ),
    "typed": (
        [prompt(1), b"ls -l\r\n", begin(1), b"total 0\r\n", prompt(2)],
        ["typed 'ls -l': 0 by mark, 'total 0\\n'"],
    ),
    "typed, after something that was thrown away": (
        [prompt(1), b"sl^C\r\n", prompt(2, 130), b"ls\r\n", begin(2), prompt(3)],
        ["typed 'ls': 0 by mark, ''"],
    ),
    "typed, with a mistake put right": (
        [prompt(1), b"sl\b\b  \b\bls\r\n", begin(1), b"", prompt(2)],
        ["typed 'ls': 0 by mark, ''"],
    ),
    "typed, and the shell says what": (
        [prompt(1), b"l\x1b[Ks\r\n", begin(1, "cmd=ls%20%3B%0A"), b"", prompt(2)],
        ["typed 'ls ;\\n': 0 by mark, ''"],
    ),
    "typed in two lines: the shell may ask for more": (
        [prompt(1), b"echo 'a\r\n", mark("P", 1), b"> b'\r\n", begin(1), b"a\r\nb\r\n", prompt(2)],
        ["typed \"echo 'a\\n> b'\": 0 by mark, 'a\\nb\\n'"],
    ),
    "typed, longer than is remembered, cut inside a character": (
        [prompt(1), b"x" + "é".encode() * 5000 + b"\r\n", begin(1), prompt(2)],
        [f"typed '{'x' + 'é' * 4095}': 0 by mark, ''"],
    ),
    "Ctrl-C at an empty prompt": ([prompt(1), b"^C\r\n", prompt(2, 130), b"^C\r\n", prompt(3, 130)], []),
    "Enter at an empty prompt": ([prompt(1), b"\r\n", prompt(2), b"\r\n", prompt(3)], []),
    "a prompt that is drawn again": ([prompt(1), prompt(1), mark("A", 1), b"$ ", mark("B", 1)], []),
    "a start mark drawn again at the prompt": (
        [prompt(1), run("a"), b"a\r\n", begin(1), b"A", prompt(2), begin(1), b"$ "],
        ["exec 'a': 0 by mark, 'A'"],
    ),
    "a shell in the shell, with marks of its own": (
        [
            prompt(1), run("ssh host", "interactive", session="s"), b"ssh host\r\n", begin(1),
            mark("D", 5, secret=OTHER, status="1"), b"remote$ ", mark("B", 5, secret=OTHER), b"\x1b]133;C\x07",
            b"x\r\n", b"\x1b]133;D;0\x07", prompt(2),
        ],
        ["interactive 'ssh host': 0 by mark, 'remote$ x\\n'"],
    ),
    "an old log of our own, shown again": (
        [
            prompt(1), b"\r\n", prompt(2), run("cat log"), b"cat log\r\n", begin(2),
            prompt(1), begin(1), b"old", prompt(2), begin(2), prompt(3),
        ],
        ["exec 'cat log': 0 by mark, '$ old$ '"],
    ),
    "the end mark was lost: the prompt says the status": (
        [prompt(1), run("a"), b"a\r\n", begin(1), b"A", mark("A", 2, "st=7"), b"$ ", mark("B", 2)],
        ["exec 'a': 7 by mark, 'A'"],
    ),
    "all but the last mark of the prompt was lost": (
        [prompt(1), run("a"), b"a\r\n", begin(1), b"A", mark("B", 2, "st=7")],
        ["exec 'a': 7 by mark, 'A'"],
    ),
    "a person was faster: a typed command runs when ours is typed": (
        [prompt(1), b"sleep\r\n", begin(1), run("b"), b"b\r\n", prompt(2), b"b\r\n", begin(2), b"B", prompt(3)],
        ["typed 'sleep': 0 by mark, 'b\\n'", "exec 'b': 0 by mark, 'B'"],
    ),
    "a person was faster, and left": (
        [prompt(1), b"exit\r\n", begin(1), run("b"), b"b\r\n", EXIT],
        ["typed 'exit': 3 by exit, 'b\\n'", "exec 'b': 3 by exit, ''"],
    ),
    "killed in the middle of a sequence": (
        [prompt(1), run("a"), b"a\r\n", begin(1), b"text\x1b]0;never ended", prompt(2, 137)],
        ["exec 'a': 137 by mark, 'text'"],
    ),
    "killed in the middle of a character": (
        [prompt(1), run("a"), b"a\r\n", begin(1), b"text\xe2\x82", prompt(2, 137)],
        ["exec 'a': 137 by mark, 'text�'"],
    ),
    "no line end at the end": (
        [prompt(1), run("printf x"), b"printf x\r\n", begin(1), b"x", prompt(2)],
        ["exec 'printf x': 0 by mark, 'x'"],
    ),
    "before the first prompt": ([b"motd\r\n", begin(0), prompt(1)], []),
}  # fmt: skip


def told_blocks(told):
    return [
        f"{block.origin} {block.cmd!r}: {block.exit_code} by {block.done_because}, "
        f"{fold(told.spool[block.spool.start : block.spool.end].decode())!r}"
        for block in told.ended
    ]


@pytest.mark.parametrize(("steps", "blocks"), LIVES.values(), ids=LIVES)
def test_lives_of_a_shell(steps, blocks):
    story = life(*steps)
    told = tell(story)
    assert told_blocks(told) == blocks
    assert tell(story, range(len(story.raw)), resume=True) == told


@pytest.mark.parametrize("steps", [steps for steps, _ in LIVES.values()], ids=LIVES)
def test_what_holds_in_every_life(steps):
    story = life(*steps)
    told = tell(story)
    events = [event for event in told.events if isinstance(event, AgentBlockBegin | AgentBlockEnd)]
    offsets = [event.raw_offset for event in told.events]
    assert offsets == sorted(offsets)
    assert [(type(event), event.block_id) for event in events] == [
        (kind, f"b{number}") for number in range(1, len(told.ended) + 1) for kind in (AgentBlockBegin, AgentBlockEnd)
    ], "one after the other, each begun and ended"
    for block, ended in zip(told.ended, events[1::2], strict=True):
        output = without_marks(story.raw, block)
        assert SECRET.encode() not in output, "plumbing leaks"
        assert len(output) == ended.bytes
        assert block.raw.end <= ended.raw_offset
        assert block.ts_begin <= block.ts_end == ended.ts
        assert (block.exit_code, block.done_because) == (ended.exit_code, ended.done_because)


def without_marks(raw, block):
    """A block's output as it came."""
    for span in reversed(block.marks):
        raw = raw[: span.start] + raw[span.end :]
    return raw[block.raw.start : block.raw.end - sum(span.size for span in block.marks)]


# What a block says


def test_a_block_in_full():
    steps = [
        prompt(1), run("vim a", "interactive", session="s-1"), b"vim a\r\n", begin(1, "cwd=/tmp", "t=1700000003.25"),
        b"\x1b[?1049h~\x1b[?1049l", mark("D", 2, "cwd=/tmp", "t=1700000004.5", status="0"),
    ]  # fmt: skip
    story = life(*steps)
    told = tell(story)
    (block,) = told.ended
    start = story.raw.index(b"\x1b[?1049h")
    end = start + len(b"\x1b[?1049h~\x1b[?1049l")
    assert msgspec.to_builtins(block) == {
        "block_id": "b1",
        "seq": 1,
        "cmd": "vim a",
        "cwd": "/tmp",
        "origin": "interactive",
        "ts_begin": 1700000003250,
        "ts_end": 1700000004500,
        "duration_ms": 1250.0,
        "spool": [told.spool.index(b"~"), told.spool.index(b"~") + 1],
        "raw": [start, end],
        "shell_id": "sh",
        "session_id": "s-1",
        "exec_id": "request of vim a",
        "exit_code": 0,
        "done_because": "mark",
        "alt_screen": True,
        "marks": [],
    }
    assert [(type(event).__name__, event.raw_offset) for event in told.events] == [
        ("PtyState", 0),
        ("AgentBlockBegin", start),
        ("AgentBlockEnd", len(story.raw)),
    ]


def test_a_refused_command_begins_and_ends_at_the_prompts_mark():
    steps = [prompt(1), run("fi"), b"fi\r\nbash: no\r\n", mark("D", 2, status="2"), mark("A", 2), b"$ ", b"x" * 100]
    story = life(*steps)
    here = story.raw.index(mark("A", 2))
    events = tell(story).events[1:]
    assert [(type(event), event.raw_offset) for event in events] == [(AgentBlockBegin, here), (AgentBlockEnd, here)]
    assert tell(story, range(len(story.raw))).events[1:] == events


@pytest.mark.parametrize(
    ("begin_fields", "end_fields", "begin_ts", "duration"),
    [
        (["t=1700000003.25"], ["t=1700000004.5"], 1700000003250, 1250.0),
        (["t=1700000003,25"], ["t=1700000003,2505"], 1700000003250, 0.5),
        (["t=1700000009"], ["t=1700000004"], 1700000009000, 0.0),  # the clock was set back
        ([], [], NOW + 2000, 3000.0),  # a shell that cannot tell: the journal can
        ([], ["t=1700000004.5"], NOW + 2000, 2500.0),
        (["t=1700000003.25"], [], 1700000003250, 1750.0),
    ],
)
def test_how_long_it_took(begin_fields, end_fields, begin_ts, duration):
    steps = [
        prompt(1), run("a"), b"a\r\n", record("out"), begin(1, *begin_fields),
        record("out"), b"A", record("out"), record("out"), mark("D", 2, *end_fields, status="0"),
    ]  # fmt: skip
    (block,) = tell(life(*steps)).ended
    assert (block.ts_begin, block.duration_ms) == (begin_ts, duration)


def test_begin_and_cursor_stand_where_the_output_begins():
    """So that no wait from there sees the echo."""
    story = life(prompt(1), run("echo hi"), b"echo hi\r\n", begin(1), b"hi\r\n")
    told = tell(story)
    ((_, spool, raw),) = told.begun
    assert (told.spool[spool:], story.raw[raw:]) == (b"hi\n", b"hi\r\n")


def test_prompts_have_a_place_in_the_spool_once():
    told = tell(life(prompt(1), b"\x1e", prompt(1), b"\r\n", prompt(2), mark("B", 2)))
    assert told.spool == b"$ \x1e$ \n$ \x1e"


def test_the_alternate_screen_belongs_to_the_block_that_asked_for_it():
    steps = [
        prompt(1),
        run("a"),
        b"a\r\n",
        begin(1),
        b"\x1b[?1049",
        b"h",
        prompt(2),
        run("b"),
        b"b\r\n",
        begin(2),
        prompt(3),
    ]
    told = tell(life(*steps))
    assert [block.alt_screen for block in told.ended] == [True, False]


# Modes


def test_modes_through_a_life():
    seen = []
    terminal = TerminalCore()
    story = life(
        mark("D", 1, status="0"), mark("A", 1), mark("B", 1), run("a"), begin(1),
        mark("D", 2, status="0"), mark("B", 2), run("b", "interactive"), begin(2), EXIT,
    )  # fmt: skip
    records = list(story.records)
    for at in range(len(story.raw) + 1):
        while records and records[0].at == at:
            terminal.record(records.pop(0))
            seen.append((terminal.state.phase, terminal.mode))
        terminal.feed(story.raw[at : at + 1])
        seen.append((terminal.state.phase, terminal.mode))
    changes = [now for before, now in zip([None, *seen], seen, strict=False) if now != before]
    assert changes == [
        ("starting", "idle"),
        ("prompting", "idle"),
        ("idle", "idle"),
        ("sent", "block_running"),
        ("running", "block_running"),
        ("prompting", "idle"),
        ("idle", "idle"),
        ("sent", "interactive"),
        ("running", "interactive"),
        ("exited", "exited"),
    ]


@pytest.mark.parametrize(
    ("echo", "canonical", "secret"),
    [(True, True, False), (False, True, True), (False, False, False), (True, False, False)],
)
def test_a_secret_is_asked_for_with_echo_off_and_canonical_input(echo, canonical, secret):
    told = tell(life(prompt(1), record("state", echo=echo, canonical=canonical, foreground="sudo")))
    assert told.state.awaiting_secret is secret
    assert told.events[-1] == PtyState(
        mode="idle", foreground="sudo", awaiting_secret=secret, ts=NOW + 1000, raw_offset=len(prompt(1))
    )


def test_settings_are_told_when_they_change():
    state = record("state", echo=False, canonical=True, foreground="sudo")
    assert len([event for event in tell(life(state, state, state)).events if isinstance(event, PtyState)]) == 2


def test_a_gap_is_told():
    told = tell(life(b"12345", record("gap", start=0, end=5, why="old")))
    assert told.events[-1] == PtyGap(start=0, end=5, why="old", ts=NOW + 1000, raw_offset=5)


# The journal


def test_records_of_whole_lines():
    """A torn line waits for its end; what is no record is passed over."""
    lines = b'{"t":"out","at":1,"ts":2}\nnonsense\n{"t":"new","at":3,"ts":4,"more":[1]}\n{"t":"out","at"'
    placed, end = read_records(lines, 100)
    assert [(one.record.t, one.record.at, one.end) for one in placed] == [("out", 1, 126), ("new", 3, end)]
    assert lines[end - 100 :] == b'{"t":"out","at"'


# The screen


@pytest.mark.parametrize(
    "unfinished", [b"\x1b]0;never ended", b"\x1bPq", b"\x1b[3", b"\x1b", b"\x1b_x", b"\xe2\x82", b"\x1b[3\x07"]
)
def test_the_prompt_is_drawn_behind_whatever_was_left_unfinished(unfinished):
    """The screen is not shown our marks; a sequence that they would have ended has to end all the same."""
    for gone in (prompt(2), b""):
        story = life(prompt(1), b"\r\n", begin(1), unfinished, gone or EXIT, b"mine")
        told = tell(story, screen=True)
        assert told.screen[0][1].lstrip("�") == ("$ mine" if gone else "mine")
        assert told.spool.endswith(b"$ \x1emine" if gone else b"mine")


def test_a_shells_size_is_the_screens():
    with Screen(40, 6) as screen:
        terminal = TerminalCore(screen=screen)
        terminal.record(shell(cols=33, rows=4))
        assert (screen.cols, screen.rows_count, terminal.state.cols) == (33, 4, 33)
        terminal.record(Record(t="size", at=0, ts=NOW, cols=20, rows=3))
        assert (screen.cols, screen.rows_count, terminal.state.rows) == (20, 3, 3)


# Hostile input


HOSTILE = {
    "a title without end": (b"\x1b]0;", b"x" * 65536),
    "a mark without end": (b"\x1b]133;C;aid=" + SECRET.encode(), b"x" * 65536),
    "our secret, again and again": (b"", mark("C", 1)[:-2] * 1500),
    "a sequence without end": (b"\x1b[", b"1" * 65536),
    "questions without end": (b"\x1bP$q", b"x" * 65536),
    "half sequences": (b"", b"\x1b[" * 32768),
    "half characters": (b"", b"\xe2\x82" * 32768),
    "carriage returns": (b"", b"\r" * 65536),
}


@pytest.mark.parametrize("phase", ["starting", "idle", "sent", "running"])
@pytest.mark.parametrize(("start", "piece"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_remembered_stays_small(start, piece, phase):
    terminal = TerminalCore()
    terminal.record(shell())
    if phase != "starting":
        terminal.feed(prompt(1))
    if phase in ("sent", "running"):
        terminal.record(Record(t="exec", at=terminal.raw, ts=NOW, cmd="a", origin="exec", id="x"))
    if phase == "running":
        terminal.feed(begin(1))
    terminal.feed(start)
    for _ in range(4):
        terminal.feed(piece)
        assert len(msgspec.msgpack.encode(terminal.checkpoint())) < 50_000


def test_a_hundred_megabytes_of_a_title():
    terminal = TerminalCore()
    terminal.record(shell())
    terminal.feed(prompt(1) + b"\x1b]133;")
    piece = b"x" * 65536
    for _ in range(1600):
        assert terminal.feed(piece).spool == b""
        assert len(terminal.checkpoint().held) == 0
    assert terminal.feed(b"\x07text").spool == b"text"


def test_marks_inside_a_block_are_remembered_up_to_a_number():
    terminal = TerminalCore()
    terminal.record(shell())
    terminal.feed(prompt(1) + begin(1) + begin(1) * (MAX_MARKS + 10))
    assert len(terminal.state.block.marks) == MAX_MARKS
    assert terminal.state.block.marks[0] == ByteRange(len(prompt(1) + begin(1)), len(prompt(1) + begin(1) * 2))
