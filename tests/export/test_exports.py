"""A terminal's recording as a file: casts and pages give the terminal's screens, without our marks and secrets."""

import asyncio
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from terminal_home import environment
from vantage.conversation.manager import Manager
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.derivation import Derivation
from vantage.conversation.store.derived.replay import Replay
from vantage.conversation.store.event_log import EventLog
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.document.markdown import PARSER
from vantage.errors import NotFound
from vantage.export.asciicast import asciicast
from vantage.export.markdown_source import embed
from vantage.export.pages.frames import film_of
from vantage.export.pages.player import film_data, player
from vantage.terminal.screen.drawing import FRESH_SHELL
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.screen import Screen
from written_terminal import SECRET, START, WrittenTerminal


@pytest.fixture
def written(tmp_path):
    """A life with everything in it, a second between any two things."""
    t = WrittenTerminal(tmp_path, title="A life")
    t.prompt()
    t.command("ls", "\x1b[1;34mdir\x1b[0m  \x1b[7mfile\x1b[0m  日本 e\u0301\r\n")
    t.command("false", "\x1b]2;a title\x1b\\no\r\n", status=1, took=2500)
    t.command("vim", "\x1b[?1049h\x1b[2J\x1b[H\x1b[48;5;24m  alt  \x1b[0m\x1b[3;5H\x1b[?25lhere")
    t.size(50, 10)
    t.out("\x1b[2;2H\x1b[38;2;1;2;3mtrue\x1b[0m\x1b[?25h\x1b[4 q")
    t.out("\x1b[?1049l\x1b]8;;https://example.org/\x1b\\link\x1b]8;;\x1b\\\r\n")
    t.size(40, 8)
    t.command("cat evil", "</script><script>alert(1)</script>\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\x1b\\\r\n")
    t.out("still here 🚀")
    return t


def screen_at(folder: ConversationFolder, raw: int) -> ScreenSnapshot:
    with Replay(folder) as replay:
        return ScreenSnapshot.of(replay.to(raw).screen, 0, styled=True)


def last_screen(folder: ConversationFolder) -> ScreenSnapshot:
    return screen_at(folder, folder.raw.stat().st_size)


# Casts


def cast_of(folder: ConversationFolder) -> tuple[dict, list]:
    header, *events = [json.loads(line) for line in asciicast(folder)]
    return header, events


def played(header: dict, events: list) -> ScreenSnapshot:
    """What a player shows at the end of a cast."""
    with Screen(header["term"]["cols"], header["term"]["rows"]) as screen:
        for _, code, data in events:
            if code == "o":
                screen.feed(data.encode())
            elif code == "r":
                screen.resize(*map(int, data.split("x")))
        return ScreenSnapshot.of(screen, 0, styled=True)


def check_cast(header: dict, events: list) -> None:
    """What version 3 of the format demands, and that there is nothing of ours in it."""
    assert header["version"] == 3
    assert set(header) <= {"version", "term", "timestamp", "idle_time_limit", "command", "title", "env", "tags"}
    assert isinstance(header["timestamp"], int)
    assert set(header["term"]) <= {"cols", "rows", "type", "version", "theme"}
    assert isinstance(header["term"]["cols"], int) and isinstance(header["term"]["rows"], int)
    assert all(isinstance(value, str) for value in header["env"].values())
    for event in events:
        interval, code, data = event
        assert isinstance(interval, int | float) and interval >= 0
        assert code in "oimrx" and isinstance(data, str)
        if code == "r":
            assert re.fullmatch(r"[1-9]\d*x[1-9]\d*", data)
        if code == "x":
            assert re.fullmatch(r"\d+", data) and event is events[-1]
        if code == "m":
            assert data.isprintable()
        assert "]133;" not in data and "aid=" not in data


def test_a_cast_to_read(tmp_path):
    t = WrittenTerminal(tmp_path, title="One command", cols=20, rows=4)
    t.prompt(after=5)
    t.command("echo hi", "\x1b[1mhi\r\n")
    t.size(30, 5)
    t.record("exit", 250, status=7, signal=None)
    assert "".join(asciicast(t.folder)).replace("\\u001b", "⎋").splitlines() == [
        (
            '{"version": 3, "term": {"cols": 20, "rows": 4, "type": "xterm-256color"}, "timestamp": 1700000000, '
            '"idle_time_limit": 2, "title": "One command", "env": {"SHELL": "bash"}}'
        ),
        '[0.005, "o", "$ "]',
        '[1.0, "o", "echo hi\\r\\n"]',
        '[0.0, "m", "echo hi"]',
        '[0.5, "o", "⎋[1mhi\\r\\n"]',
        '[1.0, "o", "$ "]',
        '[1.0, "r", "30x5"]',
        '[0.25, "x", "7"]',
    ]


def test_a_cast_gives_the_same_screen(written):
    header, events = cast_of(written.folder)
    check_cast(header, events)
    assert played(header, events) == last_screen(written.folder)
    assert [data for _, code, data in events if code == "m"] == ["ls", "false", "vim", "cat evil"]
    assert [data for _, code, data in events if code == "r"] == ["50x10", "40x8"]
    assert round(sum(event[0] for event in events) * 1000) == written.moments[-1][0]
    assert SECRET not in "".join(asciicast(written.folder))


def test_every_moment_of_a_cast(written):
    header, events = cast_of(written.folder)
    for ms, raw in written.moments:
        now, shown = 0.0, []
        for event in events:
            now += event[0]
            if now * 1000 > ms + 0.5:
                break
            shown.append(event)
        assert played(header, shown) == screen_at(written.folder, raw), ms


@pytest.mark.parametrize(
    "open_end", ["", "\x1b", "\x1b[3", "\x1b]0;tit", "\x1bP1", "\x1b]0;a\x1b", "\x1b[3\n", "\x1b("]
)
def test_a_mark_ends_what_was_open(tmp_path, open_end):
    t = WrittenTerminal(tmp_path)
    t.prompt()
    for cut in (open_end.encode(), open_end.encode()[:2], b"\xe6\x97"):
        t.command("cut", b"some" + cut)
        t.out(cut[:2])
        t.out(cut[2:] + t.mark("P"))
        t.out("m2J[31mmore\r\n")
    header, events = cast_of(t.folder)
    assert played(header, events) == last_screen(t.folder)


def test_characters_and_marks_cut_anywhere(tmp_path):
    whole = WrittenTerminal(tmp_path, "whole")
    whole.prompt()
    whole.command("echo", "é日本🚀\x1b[31mred\x1b[0m\xff")
    cut = WrittenTerminal(tmp_path, "cut")
    for byte in whole.raw:
        cut.out(bytes([byte]), after=1)
    header, events = cast_of(cut.folder)
    check_cast(header, events)
    assert played(header, events) == last_screen(whole.folder)


def test_a_shell_that_ended_before_the_end_is_a_marker(tmp_path):
    t = WrittenTerminal(tmp_path)
    t.out("one")
    t.record("exit", status=None, signal=9)
    t.record("shell", 1000, shell_id="sh2", pid=2, cols=40, rows=8, cwd="/", kind="bash", secret="other")
    t.out("two")
    t.record("lost", 1000)
    header, events = cast_of(t.folder)
    check_cast(header, events)
    assert [event[1:] for event in events] == [
        ["o", "one"],
        ["m", "the shell ended (137), a fresh one follows"],
        ["o", FRESH_SHELL.decode()],
        ["o", "two"],
        ["m", "the shell was lost"],
    ]


def test_a_clock_that_went_back(tmp_path):
    t = WrittenTerminal(tmp_path)
    t.out("one")
    t.out("two", after=-5000)
    header, events = cast_of(t.folder)
    check_cast(header, events)
    assert film_of(t.folder).duration == 1000


def test_a_command_longer_than_what_is_read_at_once(tmp_path):
    t = WrittenTerminal(tmp_path)
    t.prompt()
    t.command("true " + "x" * (3 << 20), "ok\r\n")
    _, events = cast_of(t.folder)
    assert [len(data) for _, code, data in events if code == "m"] == [200]
    block = film_data(film_of(t.folder))["blocks"][0]
    assert (len(block["cmd"]), block["origin"]) == (2000, "exec")


def test_a_terminal_that_was_never_used(tmp_path):
    folder = WrittenTerminal(tmp_path).folder
    folder.journal.unlink()
    for export in (lambda: list(asciicast(folder)), lambda: player(folder)):
        with pytest.raises(NotFound, match="never used"):
            export()


# Pages: a reader of the page's data, as simple as it can be


def embedded(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def frame_times(data: dict) -> list[int]:
    times, now = [], 0
    for frame in data["frames"]:
        now += frame[0]
        times.append(now)
    return times


def shown_at(data: dict, ms: int) -> dict:
    """The frame at a time, from the last whole one on."""
    count = sum(time <= ms for time in frame_times(data))
    first = max(n for n, frame in enumerate(data["frames"][:count]) if "cols" in (frame[3] if len(frame) > 3 else {}))
    rows: list[int] = []
    shown: dict = {}
    for frame in data["frames"][first:count]:
        _, changes, cursor, more = [*frame, {}][:4]
        if "cols" in more:
            rows = list(changes)
            shown |= {"size": (more["cols"], more["rows"])}
        else:
            for place, number in zip(changes[::2], changes[1::2], strict=True):
                rows[place] = number
        shown |= {"title": more.get("title", shown.get("title")), "alt": more.get("alt", shown.get("alt"))}
        shown |= {"cursor": cursor}
    return shown | {"rows": [cells_of(data, data["rows"][number]) for number in rows]}


def cells_of(data: dict, row) -> tuple[str, dict]:
    text, at, styles = "", 0, {}
    for piece in [row] if isinstance(row, str) else row:
        words, style, cells = [*([piece] if isinstance(piece, str) else piece), 0, None][:3]
        cells = len(words) if cells is None or isinstance(piece, str) or len(piece) < 3 else cells
        if style:
            styles |= dict.fromkeys(range(at, at + cells), tuple(data["styles"][style]))
        text += words
        at += cells
    return text.rstrip(" "), styles


def expected(snapshot: ScreenSnapshot) -> dict:
    shapes = {"block": 1, "underline": 2, "bar": 3}
    cursor = snapshot.cursor
    return {
        "size": (snapshot.cols, snapshot.rows_count),
        "title": snapshot.title,
        "alt": snapshot.alt_screen,
        "cursor": [cursor.row, cursor.col, shapes[cursor.shape] if cursor.visible else 0],
        "rows": [
            (
                text,
                {
                    cell: (run.fg, run.bg, " ".join(run.attrs), run.link if "script" not in (run.link or "") else None)
                    for run in runs
                    for cell in range(run.start, run.start + run.len)
                    if (run.fg, run.bg, run.attrs) != (None, None, ()) or "script" not in (run.link or "")
                },
            )
            for text, runs in zip(snapshot.rows, snapshot.runs, strict=True)
        ],
    }


def test_every_moment_of_a_page(written):
    data = embedded(player(written.folder))
    assert (data["title"], data["start"], data["duration"]) == ("A life", START, written.moments[-1][0])
    for ms, raw in written.moments:
        assert shown_at(data, ms) == expected(screen_at(written.folder, raw)), ms


def test_the_blocks_of_a_page(written):
    blocks = film_data(film_of(written.folder))["blocks"]
    assert [(block["cmd"], block["begin"], block["end"], block["exit"]) for block in blocks] == [
        ("ls", 2000, 3500, 0),
        ("false", 4500, 7500, 1),
        ("vim", 8500, 10000, 0),
        ("cat evil", 15000, 16500, 0),
    ]
    assert {block["because"] for block in blocks} == {"mark"}


def test_the_frame_of_a_blocks_start_shows_its_command_alone(tmp_path):
    """Also when its output comes in the same piece."""
    t = WrittenTerminal(tmp_path)
    t.prompt()
    t.record("exec", 1000, id="r", cmd="echo hi", origin="exec")
    t.out(b"echo hi\r\n" + t.mark("C") + b"hi\r\n", 0)
    t.prompt(0, after=1)
    data = film_data(film_of(t.folder))
    assert [row[0] for row in shown_at(data, 2000)["rows"][:2]] == ["$ echo hi", ""]
    assert [row[0] for row in shown_at(data, data["duration"])["rows"][:3]] == ["$ echo hi", "hi", "$"]


def test_faster_changes_are_shown_as_their_result(tmp_path):
    t = WrittenTerminal(tmp_path)
    for number in range(300):
        t.out(f"\rspin {number}", after=10)
    film = film_of(t.folder)
    assert len(film.frames) <= 3000 / 100 + 2
    assert all(later.at - earlier.at >= 100 for earlier, later in zip(film.frames[1:], film.frames[2:-1], strict=False))
    assert "10 frames a second" in film.notes[0]
    data = film_data(film)
    assert shown_at(data, data["duration"])["rows"][0][0] == "spin 299"
    for time in frame_times(data)[1:]:  # what is shown was there at that time
        assert shown_at(data, time)["rows"][0][0] == f"spin {min(time // 10 - 1, 299)}"


def test_a_pause_ends_with_what_was_before_it(tmp_path):
    """Output that came too fast for a frame of its own is shown in the next frame, not after the pause."""
    t = WrittenTerminal(tmp_path)
    t.out("a", after=1000)
    t.out("b", after=10)
    t.size(50, 8, after=60_000)
    data = film_data(film_of(t.folder))
    assert frame_times(data) == [0, 1000, 1100, 61010]
    assert shown_at(data, 1100)["size"] == (40, 8)


def test_slow_changes_are_all_there(tmp_path):
    t = WrittenTerminal(tmp_path)
    for number in range(250):
        t.out(f"\r{number}", after=100)
    film = film_of(t.folder)
    assert (len(film.frames), film.notes) == (251, [])
    data = film_data(film)
    assert [n for n, frame in enumerate(data["frames"]) if len(frame) > 3] == [0, 100, 200]


@pytest.mark.parametrize("most", [{"most_frames": 50}, {"most_weight": 8000}])
def test_a_long_life_has_fewer_frames(tmp_path, most):
    t = WrittenTerminal(tmp_path)
    for number in range(500):
        t.out(f"\x1b[{number % 7 + 1}Hline {number} {'x' * (number % 20)}\x1b[K", after=200)
    film = film_of(t.folder, **most)
    data = film_data(film)
    assert len(film.frames) <= 51 if "most_frames" in most else len(json.dumps(data["rows"])) < 16000
    assert "one frame in" in film.notes[0]
    times = dict(t.moments)
    for time in frame_times(data)[1:]:
        assert shown_at(data, time) == expected(screen_at(t.folder, times[time - time % 200])), time
    assert shown_at(data, data["duration"]) == expected(last_screen(t.folder))


def test_a_page_holds_what_was_printed_and_runs_none_of_it(written):
    page = player(written.folder)
    assert page.count("</script>") == 2
    assert "<script>alert" not in page
    assert "\\u003c/script>\\u003cscript>alert(1)" in page
    assert "javascript:" not in page
    assert SECRET not in page and "133;" not in page
    assert "{{" not in page.replace("${{", "")
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://(?!example\.org)", page.split('id="data"')[0])


# What retention dropped


@pytest.fixture
def shortened(written):
    """The beginning of a life is gone, up to a checkpoint, as retention leaves it."""
    t = written
    middle = t.moments[6][1]
    events = EventLog(t.folder.events)
    derivation = Derivation(t.folder, t.id, events)
    journal = GrowingFile(t.folder.journal)
    for _ in derivation.advance(middle, journal.size):
        pass
    derivation.checkpoint()
    for thing in (derivation, events, journal):
        thing.close()
    before = last_screen(t.folder)
    t.record("gap", start=0, **{"from": 0, "to": middle, "why": "retention"})
    with t.folder.raw.open("r+b") as file:
        file.write(b"\0" * middle)
    return t, middle, before


def test_a_cast_begins_behind_what_was_dropped(shortened):
    t, middle, before = shortened
    header, events = cast_of(t.folder)
    check_cast(header, events)
    assert events[0][1:] == ["m", f"{middle:,} bytes of output before this were dropped"]
    assert "ls" not in [data for _, code, data in events if code == "m"]
    assert played(header, events) == before


def test_a_page_begins_behind_what_was_dropped(shortened):
    t, middle, before = shortened
    data = embedded(player(t.folder))
    assert data["notes"] == [f"The first {middle:,} bytes of output were dropped to save room."]
    assert shown_at(data, data["duration"]) == expected(before)
    assert [block["cmd"] for block in data["blocks"]] == ["vim", "cat evil"]


# A real life


async def record(home: Path, work: Path) -> ScreenSnapshot:
    async with Manager(home) as manager:
        conversation = manager.create("real", env=environment(), cwd=str(work), user_rc=False, cols=60, rows=12)
        t = conversation.terminal
        await t.exec_block("ls --color=always -la /; printf '\\377\\e[1;31mred\\e[0m 日本\\n'")
        session = await t.exec_interactive("vim -u NONE -N note.txt")
        await t.wait_for({"screen": "note.txt"})
        await t.send("ione two")
        await t.resize(70, 15)
        await t.keys(["Escape", ":", "w", "q", "Enter"])
        await t.wait_for("EOF", session_id=session.session_id)
        await t.wait_for("PROMPT")
        await t.exec_block("for i in $(seq 50); do printf '\\r\\e[2K%s %%' $i; done; echo; exit 3")
        await t.send("echo typed\r") if (await t.status()).mode == "idle" else await t.exec_block("echo again")
        await t.wait_for("PROMPT")
        seen = await t.read_screen(style=True)
        live = ScreenSnapshot(
            rows=tuple(seen.rows), cursor=seen.cursor, title=seen.title, alt_screen=seen.alt_screen, cols=seen.cols,
            rows_count=seen.rows_count, ts=0, runs=tuple(seen.runs),
        )  # fmt: skip
        shutil.copytree(conversation.folder.path, work / "conversations" / "real")
        await manager.delete("real")
        return live


@pytest.fixture(scope="module")
def real(home, tmp_path_factory):
    work = tmp_path_factory.mktemp("real")
    live = asyncio.run(record(home, work))
    return ConversationFolder(work / "conversations" / "real"), live


def test_a_real_life_as_a_cast(real):
    folder, live = real
    header, events = cast_of(folder)
    check_cast(header, events)
    assert played(header, events) == live
    assert [data.split()[0] for _, code, data in events if code == "m"] == ["ls", "vim", "for", "the", "echo"]
    secrets = re.findall(r'"secret": ?"([^"]+)"', folder.journal.read_text())
    assert len(secrets) == 2
    assert not any(secret in "".join(asciicast(folder)) + player(folder) for secret in secrets)


def test_a_real_life_as_a_page(real):
    folder, live = real
    data = embedded(player(folder))
    assert shown_at(data, data["duration"]) == expected(live)
    assert [(block["cmd"].split()[0], block["exit"]) for block in data["blocks"]] == [
        ("ls", 0), ("vim", 0), ("for", 3), ("echo", 0),
    ]  # fmt: skip
    begin, end = data["blocks"][1]["begin"], data["blocks"][1]["end"]
    inside = [shown_at(data, time) for time in frame_times(data) if begin <= time < end]
    assert any(frame["alt"] and frame["rows"][0][0] == "one two" for frame in inside)
    assert [event["text"] for event in data["events"]] == ["The shell ended with status 3."]


# The page in a browser


def browse(page: Path, place: str) -> str:
    """The page as a browser has drawn it."""
    command = [
        "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        f"--user-data-dir={page.parent / 'profile'}", "--window-size=1200,800", "--virtual-time-budget=5000",
        "--dump-dom", f"{page.as_uri()}{place}",
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, timeout=120, check=True).stdout.decode()


def test_a_browser_draws_the_moment_it_is_asked_for(written, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(player(written.folder))
    for ms, raw in (written.moments[3], written.moments[10], written.moments[-1]):
        drawn = browse(page, f"#t={ms}")
        assert 'data-ready="true"' in drawn
        rows = re.findall(r'<div class="row">(.*?)</div>', drawn, re.DOTALL)
        texts = [re.sub(r"<[^>]*>", "", row).rstrip(" ") for row in rows]
        snapshot = screen_at(written.folder, raw)
        assert [unescape(text) for text in texts] == list(snapshot.rows)
        assert f"{snapshot.cols} × {snapshot.rows_count}" in drawn
    assert 'aria-label="false, exit 1, 3.0 s, at 0:04"' in drawn


UNSAFE_LINKS = [
    "[a](javascript:x)",
    "[a](JaVaScRiPt:x)",
    "[a](java&#9;script:x)",
    "[a](<java\tscript:x>)",
    "[a](&#1;javascript:x)",
    "[a](&#x200b;javascript:x)",
    "[a](javascript&colon;x)",
    "[a](vbscript:x)",
    "[a](data:text/html,x)",
    "[a](file:///etc/passwd)",
    "[a][b]\n\n[b]: javascript:x",
    "[b]\n\n[b]: javascript:x",
    "[b][]\n\n> [b]: <javascript:x> 'title'",
    "[b]: javascript:x\n[b]: javascript:y",
    "<javascript:x>",
    "![a](javascript:x)",
    "![a][b]\n\n[b]: javascript:x",
    "[![a](javascript:x)](javascript:y)",
    "[![a](http://x)](javascript:y)",
    '<a href="javascript:x">a</a>',
    '<img src="javascript:x">',
]


@pytest.mark.parametrize("source", UNSAFE_LINKS)
def test_a_link_that_does_more_than_open_a_page_becomes_text(source):
    written = embed(source, "r-", 2)
    read = f"{written}\n\n[a] [b] [b][] [a][b]\n"  # what another message may say, in the same document
    for event in PARSER.events(read):
        assert "Html" not in str(event), written
        match event:
            case {"Start": {"Link": {"dest_url": url}}} | {"Start": {"Image": {"dest_url": url}}}:
                assert url.startswith(("http://", "https://", "mailto:")), written
    assert not PARSER.reference_definitions(read)
    assert "a" in written or "b" in written


def test_links_that_open_a_page_or_a_mail_stay():
    source = "[a](http://x) [b](mailto:y@z) <https://x> [c][d] [e](#f) [g](h/i.md)\n\n[d]: https://d"
    assert embed(source, "r-", 2) == source
