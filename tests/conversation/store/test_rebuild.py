"""`vantage rebuild`: what it needs of the disk, what it says on a full one, and how far it is."""

import io
import os
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.cli.display import output_file
from vantage.conversation.store.derived.rebuild import rebuild
from written_terminal import WrittenTerminal

SIZE = 6 << 20
"""Of the output: enough for several pieces."""


@pytest.fixture
def terminal(tmp_path):
    """A terminal with one long output and two short ones, and everything that is derived from them."""
    written = WrittenTerminal(tmp_path, "c")
    written.prompt()
    written.command("first", "one\r\n")
    written.command("long", b"".join(b"line %d of it\r\n" % number for number in range(SIZE // 20)))
    written.command("last", "three\r\n")
    rebuild(written.folder, "c", check=False)
    return written


def kept(folder) -> dict[str, bytes]:
    """What is derived of a terminal, but for its checkpoints."""
    files = [folder.spool, folder.block_log, *folder.blocks.iterdir()]
    return {path.name: path.read_bytes() for path in files}


def differing(folder) -> set[str]:
    """The files that are not as they should be. The log of events was never written here."""
    return {each.file for each in rebuild(folder, "c", check=True).differences} - {"events.jsonl"}


def room_in(folder: Path) -> int:
    """Bytes that a folder's files take on the disk, without those that stand elsewhere too."""
    found = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(stat.st_blocks * 512 for stat in found if stat.st_nlink == 1)


@pytest.mark.parametrize("check", [True, False])
def test_a_rebuild_takes_hardly_any_disk_space(terminal, check):
    folder = terminal.folder
    most = 0

    def look(_done: int, _all: int) -> None:
        nonlocal most
        [scratch] = folder.path.glob(".rebuild-*")
        most = max(most, room_in(scratch))

    before = kept(folder)
    rebuild(folder, "c", check=check, progress=look)
    assert 0 < most < SIZE // 2
    assert kept(folder) == before
    assert not list(folder.path.glob(".rebuild-*"))


def test_a_difference_at_any_place_is_found_and_replaced(terminal):
    folder = terminal.folder
    assert differing(folder) == set()
    good = kept(folder)
    spool = good["output.spool"]
    for at in (0, 1 << 20, (1 << 20) - 1, (3 << 20) + 5, len(spool) - 1):
        folder.spool.write_bytes(spool[:at] + b"\x01" + spool[at + 1 :])
        [found] = [each for each in rebuild(folder, "c", check=True).differences if each.file == "output.spool"]
        assert f"differs from byte {at} on" in found.message
        rebuild(folder, "c", check=False)
        assert kept(folder) == good
    for damaged in (spool[: 2 << 20], spool + b"more", b""):
        folder.spool.write_bytes(damaged)
        assert differing(folder) == {"output.spool"}
        rebuild(folder, "c", check=False)
        assert kept(folder) == good
    name = max((name for name in good if name.endswith(".out")), key=lambda name: len(good[name]))
    longest = good[name]
    for damaged in (longest[:-1] + b"\x01", longest[:-1], b""):
        (folder.blocks / name).write_bytes(damaged)
        assert differing(folder) == {f"blocks/{name}"}
        rebuild(folder, "c", check=False)
        assert kept(folder) == good


def test_files_of_a_killed_rebuild_are_removed(terminal):
    left = terminal.folder.path / ".rebuild-999999999-abc"
    (left / "agent_pty").mkdir(parents=True)
    theirs = terminal.folder.path / f".rebuild-{os.getpid()}-running"
    theirs.mkdir()
    rebuild(terminal.folder, "c", check=True)
    assert not left.exists()
    assert theirs.exists(), "its process lives"


@pytest.mark.parametrize("room", [0, 1 << 20])
def test_a_full_disk_is_one_line(terminal, tmp_path, room):
    """A file that may not grow stands for a disk that is full."""
    terminal.folder.spool.unlink()
    done = subprocess.run(
        [*VANTAGE, "rebuild", "c", "--check", "--home", str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "File too large" in done.stderr
    assert not list(terminal.folder.path.glob(".rebuild-*"))


class _Window(io.StringIO):
    def isatty(self) -> bool:
        return True


WRITES = """
import sys, time
from pathlib import Path
from vantage.cli.display.output_file import write_output

def pieces():
    yield b"begun"
    print("begun", flush=True)
    time.sleep(3600)

write_output(sys.argv[1], pieces())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_a_result_that_is_not_finished_leaves_no_file(tmp_path, number):
    """A window that is closed, or `timeout`, ends a long export: what it wrote so far is removed."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(tmp_path / "export.cast")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert select.select([process.stdout], [], [], PATIENCE)[0]
        assert process.stdout.readline() == b"begun\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        assert process.wait(PATIENCE) != 0
    finally:
        process.kill()
        process.communicate()
    assert list(tmp_path.iterdir()) == []


def test_how_far_it_is_stands_on_a_terminal_only(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(output_file.time, "monotonic", lambda: clock[0])
    for stderr, said in ((_Window(), True), (io.StringIO(), False)):
        monkeypatch.setattr(output_file.sys, "stderr", stderr)
        with output_file.progress() as show:
            show(1, 1_300_000_000)
            assert stderr.getvalue() == "", "what is done at once is not told of"
            clock[0] += 1
            show(546_000_000, 1_300_000_000)
            assert ("42 %, 546.0 MB of 1.3 GB" in stderr.getvalue()) == said
            clock[0] += 1
        assert stderr.getvalue().endswith("\r\x1b[K") == said, "it is gone when the work is done"
    monkeypatch.setattr(output_file.sys, "stderr", window := _Window())
    monkeypatch.setattr(output_file.sys, "stdout", _Window())
    with output_file.progress(None) as show:
        clock[0] += 1
        show(1, 2)
    assert window.getvalue() == "", "the result itself is on that terminal"


def test_rebuilds_and_exports_say_what_is_done_of_how_much(terminal):
    from vantage.export.conversation import export

    told: list[tuple[int, int]] = []
    rebuild(terminal.folder, "c", check=True, progress=lambda done, whole: told.append((done, whole)))
    assert told[-1] == (len(terminal.raw), len(terminal.raw))
    assert told == sorted(told)
    for format in ("asciicast", "html", "text"):
        told.clear()
        for _ in export(terminal.folder, format, lambda done, whole: told.append((done, whole))):
            pass
        assert all(done <= whole for done, whole in told), format
        assert format == "text" or told[-1][0] == told[-1][1] > 0
