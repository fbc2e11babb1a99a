"""A disk that is full, and files that a crash left behind: nothing is dropped, nothing is made up."""

import errno
import json
import os
import signal

import pytest

from host_harness import Home, full_at, state, wait_gone
from vantage.ptyhost import protocol
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.terminal.past import read_past


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


@pytest.fixture
def client(home):
    return home.client()


COUNTER = "i=0; while [ $i -lt 60000 ]; do echo $i; i=$((i+1)); done; > $FINISHED; echo end; read x; read y"


def test_a_full_disk_stops_the_program_and_nothing_is_lost(home, client, tmp_path):
    finished = tmp_path / "finished"
    watcher = home.client()
    watcher.attach()
    with full_at(client.pid, 50_000):
        shell = client.run("sh", "-c", COUNTER, env={"FINISHED": str(finished)})["pid"]
        told = client.event("stalled")
        assert "File too large" in told["why"]
        assert str(client.folder()) in told["why"]
        # Everything that was told before is written; nothing else is told.
        late = home.client()
        found = late.attach()
        assert found["stalled"] == told["why"]
        assert found["offset"] <= (client.folder() / protocol.RAW_NAME).stat().st_size == 50_000
        assert state(shell) in ("S", "R", "D")
        for op, more in (
            ("journal", {"record": {"t": "cancel"}}),
            ("resize", {"cols": 10, "rows": 10}),
            ("input", {"data": "", "record": {"t": "exec"}}),
            ("punch", {"start": 0, "end": 10, "why": "x"}),
        ):
            refused = late.refused(op, terminal="t", **more)
            assert refused["error"] == "stalled"
        assert not late.ask("reply", terminal="t", query=1 << 40, data="")["sent"]
        assert late.ask("state", terminal="t")["alive"]
        assert late.type(b"xyz")["written"] == 3  # the echo may come into the middle of a number, in parts
        for _ in range(1000):
            late.ask("list")
        assert not finished.exists()  # the program waits for the host in the middle of its output
    client.event("resumed")
    client.wait_for(b"end\r\n")
    watcher.event("resumed")  # a client that has not read meanwhile may get this event alone
    printed = client.raw().translate(None, b"xyz").split()
    assert printed == [b"%d" % number for number in range(60_000)] + [b"end"]
    assert client.kinds() == ["shell"]
    client.ask("kill", terminal="t")


def test_a_journal_that_cannot_be_written_holds_everything_back(client):
    client.run("cat")
    client.type(b"one\n")
    client.wait_for(b"one\r\n", count=2)
    length = (client.folder() / protocol.INDEX_NAME).stat().st_size
    with full_at(client.pid, length + 100):
        waiting = client.send("journal", terminal="t", record={"t": "note", "text": "x" * 1000})
        typing = client.send("input", terminal="t", data=protocol.encode_data(b"two\n"))
        client.event("stalled")
        assert client.answer(typing)["written"] == 4
        # The record is torn in the file and sent to no client; the echo of what was typed waits in the terminal.
        assert (client.folder() / protocol.INDEX_NAME).stat().st_size == length + 100
        assert client.attach()["journal"] == length
        assert client.raw().count(b"two") == 0
    client.event("resumed")
    assert client.answer(waiting)["ok"]
    client.wait_for(b"two\r\n", count=2)
    note = next(record for record in client.records() if record["t"] == "note")
    assert note["text"] == "x" * 1000
    assert note["at"] == 10
    client.ask("kill", terminal="t")


def test_a_command_is_not_typed_before_its_record_is_written(client, tmp_path):
    typed = tmp_path / "typed"
    client.run("sh", "-c", f"read x; echo $x > {typed}; read x")
    length = (client.folder() / protocol.INDEX_NAME).stat().st_size
    with full_at(client.pid, length + 10):
        data = protocol.encode_data(b"ls\n")
        number = client.send("input", terminal="t", data=data, record={"t": "exec", "cmd": "ls"}, timeout_ms=60_000)
        client.event("stalled")
        for _ in range(1000):
            client.ask("list")
        assert not typed.exists()
    assert client.answer(number)["written"] == 3
    client.wait_for(b"ls\r\n")
    client.until(typed.exists)
    assert client.kinds() == ["shell", "exec"]
    assert [record["at"] for record in client.records() if record["t"] == "exec"] == [0]
    client.ask("kill", terminal="t")


def test_an_end_on_a_full_disk_is_journaled_when_there_is_room(client):
    with full_at(client.pid, 50_000):
        shell = client.run("sh", "-c", COUNTER)["pid"]
        client.event("stalled")
        number = client.send("kill", terminal="t", grace_ms=0)
        client.until(lambda: state(shell) == "")
        assert client.ask("list")["terminals"][0]["alive"]  # an end is told only when it is written
        assert client.kinds() == ["shell"]
    assert client.answer(number)["ok"]
    assert client.kinds()[-1] == "exit"
    raw = client.raw()
    assert raw == b"".join(b"%d\r\n" % number for number in range(60_000))[: len(raw)]


def test_opening_on_a_full_disk_waits_with_its_answer(client):
    client.attach()
    with full_at(client.pid, 20):
        request = {"argv": ["sh", "-c", "echo hello; read x"], "env": {"PATH": os.environ["PATH"]}, "cwd": "/"}
        number = client.send("open", terminal="t", folder=str(client.folder()), cols=80, rows=24, **request)
        client.event("stalled")
    answer = client.answer(number)
    assert answer["ok"]
    client.wait_for(b"hello")
    assert client.records()[0]["t"] == "shell"
    client.ask("kill", terminal="t")


def test_a_host_killed_on_a_full_disk_has_written_what_it_could(home, client):
    with full_at(client.pid, 50_000):
        client.run("sh", "-c", COUNTER)
        client.event("stalled")
        os.kill(client.pid, signal.SIGKILL)
        wait_gone(client.pid)
    fresh = home.client()
    fresh.attach()
    assert fresh.kinds() == ["shell", "lost"]
    assert fresh.raw() == b"".join(b"%d\r\n" % number for number in range(60_000))[:50_000]


def lines(*records) -> bytes:
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


SHELL = {"t": "shell", "at": 0, "ts": 1, "pid": 5, "cols": 80, "rows": 24}


@pytest.mark.parametrize(
    ("torn", "kept"),
    [
        (b"", b""),
        (b'{"t":"no', b""),
        (b'{"t":"note","at":0,"ts":1}', b'{"t":"note","at":0,"ts":1}\n'),
        (b'{"t":"note","at":0,"ts":1,"x":"' + b"y" * 200_000, b""),
        (b"17", b""),
    ],
)
def test_a_torn_last_line_is_ended_or_cut(tmp_path, torn, kept):
    (tmp_path / protocol.INDEX_NAME).write_bytes(lines(SHELL) + torn)
    journal = Journal(str(tmp_path))
    assert read_past(journal).unfinished
    journal.record({"t": "lost"})
    journal.close()
    content = (tmp_path / protocol.INDEX_NAME).read_bytes()
    assert content.startswith(lines(SHELL) + kept + b'{"t":"lost","at":0,')
    assert len(content.splitlines()) == 2 + bool(kept)
    assert journal.journal == len(content)


def test_a_whole_file_without_a_line_end(tmp_path):
    (tmp_path / protocol.INDEX_NAME).write_bytes(b'{"t":"shell","at":0')
    journal = Journal(str(tmp_path))
    assert not read_past(journal).unfinished
    assert journal.journal == 0
    journal.close()


@pytest.mark.parametrize(
    ("records", "unfinished", "size", "answered"),
    [
        ([], False, (None, None), -1),
        ([SHELL], True, (80, 24), -1),
        ([{"t": "out", "at": 0, "ts": 1}, SHELL], True, (80, 24), -1),
        ([SHELL, {"t": "exit", "at": 0}], False, (80, 24), -1),
        ([SHELL, {"t": "lost", "at": 0}], False, (80, 24), -1),
        ([SHELL, {"t": "exit", "at": 0}, {**SHELL, "cols": 90}], True, (90, 24), -1),
        ([SHELL, {"t": "size", "at": 0, "cols": 7, "rows": 8}], True, (7, 8), -1),
        ([SHELL, {"t": "size", "at": 0, "cols": 7, "rows": 8}, SHELL], True, (80, 24), -1),
        ([SHELL, {"t": "reply", "at": 0, "query": 9}, {"t": "reply", "at": 0, "query": 12}], True, (80, 24), 12),
        ([SHELL, {"t": "note", "at": 0, "text": '\n{"t":"exit",'}], True, (80, 24), -1),
    ],
)
def test_the_journal_gives_the_state_of_the_last_process(tmp_path, records, unfinished, size, answered):
    (tmp_path / protocol.INDEX_NAME).write_bytes(lines(*records))
    journal = Journal(str(tmp_path))
    past = read_past(journal)
    assert (past.unfinished, (past.cols, past.rows), past.answered) == (unfinished, size, answered)
    journal.close()


def test_bytes_that_never_reached_the_disk_leave_a_named_gap(tmp_path):
    (tmp_path / protocol.INDEX_NAME).write_bytes(lines(SHELL, {"t": "out", "at": 500, "ts": 2}))
    (tmp_path / protocol.RAW_NAME).write_bytes(b"x" * 200)
    journal = Journal(str(tmp_path))
    read_past(journal)
    assert journal.offset == 500
    journal.close()
    gap = json.loads((tmp_path / protocol.INDEX_NAME).read_bytes().splitlines()[-1])
    assert (gap["t"], gap["at"], gap["from"], gap["to"]) == ("gap", 500, 200, 500)
    assert (tmp_path / protocol.RAW_NAME).read_bytes() == b"x" * 200 + b"\0" * 300


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
@pytest.mark.parametrize("room", [0, 1, 5, 40, 60, 100, 10_000])
def test_any_write_may_fail_or_fall_short_at_any_byte(tmp_path, monkeypatch, fault, room):
    """However much the disk takes at a time, both files end up as they would have been."""
    left = [room]
    write = os.write

    def scarce(descriptor: int, data: bytes) -> int:
        if left[0] == 0:
            raise OSError(fault, os.strerror(fault))
        written = write(descriptor, bytes(data)[: left[0]])
        left[0] -= written
        return written

    monkeypatch.setattr(os, "write", scarce)
    journal = Journal(str(tmp_path))
    journal.open()
    expected_raw, expected_kinds = b"", []
    for number in range(10):
        chunk = b"%03d" % number * 20
        before = (journal.offset, journal.journal)
        if not journal.raw(chunk):
            assert (journal.offset, journal.journal) >= before
            assert journal.why.startswith(f"{os.strerror(fault)}: {tmp_path}")
        expected_raw += chunk
        journal.record({"t": "note", "n": number})
        expected_kinds.append(number)
        while journal.stalled:
            told = (journal.offset, journal.journal)
            sizes = [(tmp_path / name).stat().st_size for name in (protocol.RAW_NAME, protocol.INDEX_NAME)]
            assert told[0] <= sizes[0]
            assert told[1] <= sizes[1]
            left[0] += 7
            journal.flush()
        assert journal.why == ""
    records = [json.loads(line) for line in (tmp_path / protocol.INDEX_NAME).read_bytes().splitlines()]
    assert (tmp_path / protocol.RAW_NAME).read_bytes() == expected_raw
    assert journal.offset == len(expected_raw)
    assert journal.journal == (tmp_path / protocol.INDEX_NAME).stat().st_size
    notes = [record for record in records if record["t"] == "note"]
    assert [note["n"] for note in notes] == expected_kinds
    assert [note["at"] for note in notes] == [60 * (number + 1) for number in range(10)]
    journal.close()


def test_a_clock_that_jumps_back_breaks_nothing(tmp_path, monkeypatch):
    times = iter([5_000_000_000, 4_000_000_000, 4_000_000_000, 6_000_000_000])
    monkeypatch.setattr("time.time_ns", lambda: next(times))
    journal = Journal(str(tmp_path))
    journal.open()
    for _ in range(4):
        journal.raw(b"x")
    journal.close()
    records = [json.loads(line) for line in (tmp_path / protocol.INDEX_NAME).read_bytes().splitlines()]
    assert [(record["at"], record["ts"]) for record in records] == [(0, 5000), (1, 4000), (3, 6000)]
