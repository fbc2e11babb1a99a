"""The server is killed at random moments of a busy run: nothing is lost, nothing is doubled, cursors stay valid."""

import asyncio
import errno
import fcntl
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

import busy_server
from limits import limited
from server_home import serving
from terminal_home import agent_terminal, environment, host_pid
from vantage.conversation.live import pump
from vantage.conversation.manager import Manager
from vantage.conversation.store import home_lock
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived import derivation as derive
from vantage.conversation.store.derived.derivation import Derivation
from vantage.conversation.store.derived.rebuild import rebuild
from vantage.conversation.store.derived.replay import checkpoint_places
from vantage.conversation.store.event_log import EventLog
from vantage.errors import HomeTaken, Unavailable
from vantage.terminal.output.reading import fold
from vantage.testing import fake_terminal

NO_PROCESS = 1 << 22
"""A pid that no process has: Linux gives out smaller ones."""
MOMENTS = int(os.environ.get("VANTAGE_CRASHES", "50"))


def made_in(home: Path) -> dict:
    """Arguments with which these tests create a conversation."""
    return {"cwd": str(home), "env": environment(), "user_rc": False}


@contextmanager
def servers(home: Path, cursors: Path) -> Iterator[Callable[[int], bool]]:
    """Runs a server that dies at some moment, and says whether it finished its commands."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, busy_server.__file__, str(home), str(cursors)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            bufsize=1,
        ) as nursery,
    ):

        def run(moment: int) -> bool:
            nursery.stdin.write(f"{moment}\n")
            code = nursery.stdout.readline()
            errors.seek(0)
            assert code in ("0\n", "-9\n"), errors.read()
            return code == "0\n"

        yield run


def test_killed_at_random_moments_of_a_busy_run(private_home, tmp_path):
    chance = random.Random(5)
    cursors = tmp_path / "cursors"
    killed = 0
    with servers(private_home, cursors) as run:
        while killed < MOMENTS and not run(chance.randint(1, 12)):
            killed += 1
        if killed == MOMENTS:
            assert run(0)
    assert killed >= min(MOMENTS, 20), "the run was over before it was killed often enough to prove anything"
    assert_as_if_never_killed(ConversationFolder(private_home / "conversations" / "busy"), cursors)


def assert_as_if_never_killed(folder: ConversationFolder, cursors: Path) -> None:
    report = rebuild(folder, "busy", check=True)
    assert report.differences == []
    assert report.blocks == len(busy_server.COMMANDS)
    events = [json.loads(line) for line in folder.events.read_text().splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    ends = [event["block_id"] for event in events if event["type"] == "agent_block_end"]
    assert ends == [f"b{number}" for number in range(1, len(busy_server.COMMANDS) + 1)]

    blocks = [json.loads(line) for line in folder.block_log.read_text().splitlines()]
    spool = folder.spool.read_bytes()
    texts = [spool[slice(*block["spool"])].decode() for block in blocks]
    assert texts[0] == "".join(f"line {number}\n" for number in range(1, 401))
    assert texts[3] == "".join(f"{number}\n" for number in range(1, 20001))
    assert texts[11] == "".join(f"{number}\n" for number in range(1, 40001))
    assert fold(texts[6]) == "300\n"
    assert [block["exit_code"] for block in blocks] == [0, 1, 0, 0, 0, 0, 0, 4, 0, None, 0, 0]
    assert [block["done_because"] for block in blocks] == ["mark"] * 7 + ["exit", "mark", "incomplete", "mark", "mark"]

    for line in cursors.read_text().splitlines():
        remembered = json.loads(line)
        block = next(block for block in blocks if block["block_id"] == remembered["block"])
        assert block["spool"][0] == remembered["cursor"]


async def test_a_command_that_ends_while_no_server_runs(private_home):
    async with Manager(private_home) as manager:
        terminal = manager.create("c", **made_in(private_home)).terminal
        await terminal.exec_block(f"mkfifo {private_home}/go")
        started = await terminal.exec_block(f"read x < {private_home}/go; echo got $x; (exit 9)", timeout_ms=0)
    (private_home / "go").write_text("it\n")
    async with Manager(private_home) as manager:
        terminal = manager.get("c").terminal
        await terminal.wait_for("PROMPT", from_cursor=started.cursor)
        read = await terminal.read_block(started.block_id)
        assert (read.output, read.block.exit_code) == ("got it\n", 9)
        await manager.delete("c")


async def test_the_host_dies(private_home):
    """Its shells are gone and their blocks are `lost`; what they printed stays, and a fresh shell is one call away."""
    async with agent_terminal(private_home) as terminal:
        started = await terminal.exec_block("echo before; sleep 1000", timeout_ms=0)
        while (await terminal.status()).foreground != "sleep":  # else the shell may start it after the host's end
            pass
        os.kill(host_pid(private_home), 9)
        assert (await terminal.wait_for("EOF")).matched
        read = await terminal.read_block(started.block_id)
        assert (read.output, read.block.done_because, read.block.exit_code) == ("before\n", "lost", None)
        again = await terminal.exec_block("echo after")
        assert again.output == "after\n"
        assert "fresh" in again.note


async def test_a_damaged_checkpoint_is_passed_over(private_home):
    async with Manager(private_home) as manager:
        conversation = manager.create("c", **made_in(private_home))
        ran = await conversation.terminal.exec_block("seq 1 200000", max_output=100)
        await conversation.live.written()
        checkpoints = sorted(conversation.folder.checkpoints.iterdir())
        assert checkpoints
    for number, path in enumerate(checkpoints):
        path.write_bytes([b"", b"rubbish", path.read_bytes()[:20]][number % 3])
    async with Manager(private_home) as manager:
        conversation = manager.get("c")
        terminal = conversation.terminal
        read = await terminal.read_block(ran.block_id, max_output=100)
        assert read.output == ran.output
        assert (await terminal.exec_block("echo on")).output == "on\n"
        await manager.close_conversation("c")
        assert rebuild(conversation.folder, "c", check=True).differences == []
        await manager.delete("c")


async def test_a_screen_that_cannot_be_read_is_drawn_anew(private_home):
    async with Manager(private_home) as manager:
        conversation = manager.create("c", **made_in(private_home))
        await conversation.terminal.exec_block("seq 1 200000; echo the end")
        await conversation.terminal.wait_for("PROMPT")
        seen = await conversation.terminal.read_screen()
        await conversation.live.written()
        screens = list(conversation.folder.checkpoints.glob("*.screen"))
        assert screens
    for path in screens:
        path.write_bytes(b"of another build")
    async with Manager(private_home) as manager:
        live = manager.get("c").live
        await live.waiters.until(lambda: live.terminal.screen is not None)
        assert (await manager.get("c").terminal.read_screen()).rows == seen.rows
        await manager.delete("c")


async def test_rebuild_restores_what_was_damaged(private_home):
    async with Manager(private_home) as manager:
        conversation = manager.create("c", **made_in(private_home))
        await conversation.terminal.exec_block("echo one")
        await conversation.terminal.exec_block("echo two")
        await manager.close_conversation("c")
    folder = ConversationFolder(private_home / "conversations" / "c")
    spool, blocks = folder.spool.read_bytes(), folder.block_log.read_bytes()
    folder.spool.write_bytes(spool.replace(b"one", b"ONE"))
    folder.block_log.write_bytes(blocks.splitlines(keepends=True)[0])
    (folder.blocks / next(folder.blocks.iterdir()).name).unlink()
    assert {difference.file.split("/")[0] for difference in rebuild(folder, "c", check=True).differences} == {
        "output.spool",
        "blocks.jsonl",
        "blocks",
    }
    rebuild(folder, "c", check=False)
    assert (folder.spool.read_bytes(), folder.block_log.read_bytes()) == (spool, blocks)
    assert rebuild(folder, "c", check=True).differences == []
    async with Manager(private_home) as manager:
        assert (await manager.get("c").terminal.exec_block("echo three")).block_id == "b3"
        await manager.delete("c")


async def test_torn_last_lines_are_cut_off(private_home):
    async with Manager(private_home) as manager:
        conversation = manager.create("c", **made_in(private_home))
        await conversation.terminal.exec_block("echo one")
        await manager.close_conversation("c")
    folder = ConversationFolder(private_home / "conversations" / "c")
    whole = folder.events.read_bytes()
    for path in (folder.events, folder.block_log):
        with path.open("ab") as file:
            file.write(b'{"type":"agent_bl')
    async with Manager(private_home) as manager:
        conversation = manager.get("c")
        assert conversation.events.torn == 17
        assert (await conversation.terminal.exec_block("echo two")).seq == 2
        await manager.close_conversation("c")
        assert rebuild(folder, "c", check=True).differences == []
        assert folder.events.read_bytes().startswith(whole)
        assert all(msgspec.json.decode(line) for line in folder.events.read_bytes().splitlines())
        await manager.delete("c")


async def test_half_written_files_of_a_killed_process_are_removed(private_home):
    async with Manager(private_home) as manager:
        manager.create("c", **made_in(private_home))
    folder = ConversationFolder(private_home / "conversations" / "c")
    halves = [place / f".half.json.{NO_PROCESS}" for place in (private_home, folder.path, folder.terminal)]
    others = [folder.path / f".whole.json.{os.getpid()}", folder.path / ".keep"]
    for path in (*halves, *others):
        path.touch()
    async with Manager(private_home) as manager:
        manager.get("c")
        assert [path.exists() for path in (*halves, *others)] == [False, False, False, True, True]


async def test_a_file_that_cannot_be_opened_holds_up_and_loses_nothing(private_home):
    async with Manager(private_home) as manager:
        conversation = manager.create("c", **made_in(private_home))
        conversation.folder.spool.mkdir()
        running = asyncio.create_task(conversation.terminal.exec_block("echo one"))
        await conversation.live.waiters.until(lambda: conversation.live.stalled)
        conversation.folder.spool.rmdir()
        assert (await running).output == "one\n"
        assert conversation.live.stalled is None
        await conversation.terminal.wait_for("PROMPT")  # which comes behind the block's end
        await conversation.live.written()
        assert rebuild(conversation.folder, "c", check=True).differences == []
        await manager.delete("c")


@contextmanager
def few_descriptors(more: int) -> Iterator[None]:
    """About so many files can be opened, beside those that are."""
    free = os.dup(0)
    os.close(free)
    with limited(os.getpid(), resource.RLIMIT_NOFILE, free + more):
        yield


def a_log_of(lines: int) -> dict[str, str]:
    """A program for `fake_terminal`."""
    return {"log": "".join(f"line {n}\n" for n in range(lines))}


async def test_files_that_cannot_be_opened_are_not_taken_for_damaged(tmp_path):
    """Recovering with few descriptors is refused, or as with many: nothing is derived from the beginning."""
    async with fake_terminal(a_log_of(20_000)) as t:
        await t.exec_block("log")
        await t.live.written()
        kept = ConversationFolder(shutil.copytree(t.live.folder.path, tmp_path / "kept"))
    events, found = EventLog(kept.events), []
    for more in range(10):
        derivation, jobs = None, []
        with few_descriptors(more), suppress(OSError, Unavailable):
            derivation = Derivation(kept, "kept", events, background=jobs.append)
        if derivation is not None:
            assert (derivation.terminal.raw, jobs) == (checkpoint_places(kept)[0], [])
            assert "line 19999" in derivation.terminal.screen.lines()
            derivation.close()
        found.append(derivation is not None)
    events.close()
    assert (found[0], found[-1]) == (False, True)


async def test_a_screen_that_cannot_be_drawn_anew_now_is_later(tmp_path, monkeypatch):
    failed = []

    class Hindered(derive.Replay):
        def __init__(self, *given, **named) -> None:
            if not failed:
                failed.append(OSError(errno.EMFILE, os.strerror(errno.EMFILE), "checkpoints"))
                raise failed[0]
            super().__init__(*given, **named)

    async with fake_terminal(a_log_of(20_000)) as t:
        await t.exec_block("log")
        await t.live.written()
        for path in t.live.folder.checkpoints.glob("*.screen"):
            path.write_bytes(b"of another build")
        monkeypatch.setattr(derive, "Replay", Hindered)
        monkeypatch.setattr(pump, "RETRY_S", 0.01)
        t.live.pump.restart()
        await t.live.waiters.until(lambda: failed and t.live.stalled)
        await t.live.waiters.until(lambda: t.live.stalled is None and t.live.terminal.screen is not None)
        assert "line 19999" in (await t.read_screen()).text


async def test_tools_of_a_damaged_file_are_not_written_over(private_home, caplog):
    spec = {"specVersion": 1, "collapsed": {"title": "{{args.x}}"}}
    async with Manager(private_home) as manager:
        manager.specs.put("crash.one", spec)
    file = private_home / "tools.json"
    file.write_bytes(kept := file.read_bytes()[:-5])
    async with Manager(private_home) as manager:
        assert f"tools for all conversations are left out: {file} is damaged" in caplog.text
        with pytest.raises(Unavailable, match="is damaged") as refused:
            manager.specs.put("crash.another", spec)
        assert "put it back" in refused.value.hint
        assert file.read_bytes() == kept
        file.unlink()
        manager.specs.put("crash.another", spec)


async def test_a_process_that_took_the_home_just_now_is_named(private_home, monkeypatch):
    lock = private_home / "server.lock"
    lock.write_text(str(NO_PROCESS))  # of a server that was killed
    with lock.open("r+") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        monkeypatch.setattr(home_lock.time, "sleep", lambda _: lock.write_text(str(os.getpid())))
        with pytest.raises(HomeTaken, match=f"is in use by process {os.getpid()}: "):
            await Manager(private_home).__aenter__()
        lock.write_text("")
        monkeypatch.setattr(home_lock.time, "sleep", lambda _: None)
        with pytest.raises(HomeTaken, match="is in use by another process: "):
            await Manager(private_home).__aenter__()


@pytest.mark.parametrize("verb", ["exec_block", "exec_interactive", "send", "wait_for"])
def test_a_wait_begins_where_it_would_have_without_a_kill(private_home, verb):
    """`from_cursor` left out is the cursor that the last verb returned, whichever server that was."""
    with serving(private_home) as server, server.conversation() as name:
        server.pty(name, "exec_block", command="echo marker one")
        if verb == "exec_block":
            returned = server.pty(name, "exec_block", command="echo marker two; sleep 0.1")
        elif verb == "exec_interactive":
            returned = server.pty(name, "exec_interactive", command="echo marker two; cat")
            server.pty(name, "wait_for", match="marker two", from_cursor=returned["cursor"])
            returned = server.pty(name, "send", data="marker three\n")
        elif verb == "send":
            returned = server.pty(name, "send", data="echo marker two\n")
        else:
            server.pty(name, "exec_block", command="echo marker two; echo marker three; echo marker four")
            server.pty(name, "wait_for", match="marker two")
            returned = server.pty(name, "wait_for", match="marker three")
        server.kill()
        server.start()
        found = server.pty(name, "wait_for", match="marker")
        expected = server.pty(name, "wait_for", match="marker", from_cursor=returned["cursor"])
        assert (found["matched"], found.get("match_span")) == (True, expected["match_span"])
