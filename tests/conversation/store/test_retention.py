"""Retention drops old output and leaves a hole at its place, which every verb and export reports."""

import json
import os

import pytest

from terminal_home import environment
from vantage.conversation.manager import Manager
from vantage.conversation.store.derived.rebuild import rebuild
from vantage.conversation.store.derived.replay import checkpoint_places, dropped_bytes
from vantage.errors import Gone

KEEP = 1 << 20
SETTINGS = {"cwd": "/", "env": environment(), "user_rc": False}


def allocated(path):
    return path.stat().st_blocks * 512


async def settled(t):
    """Until nothing more is to be dropped. It is done behind a checkpoint, so some output helps."""
    live = t.live
    for _ in range(20):
        await live.written()
        await live.waiters.until(lambda: not live.retention.dropping, 1)
        if live.derivation.gaps and not live.derivation.droppable(live.retention.limit):
            return
        await t.exec_block("seq 1 20000")
        await t.wait_for("PROMPT")
    raise AssertionError("nothing was dropped")


async def flood(t, times=4):
    """Output of about two megabytes each time, until there is a hole."""
    first = await t.exec_block("echo first; seq 1 100")
    for n in range(times):
        await t.exec_block(f"echo flood {n}; seq 1 300000")
        await t.wait_for("PROMPT")
    await settled(t)
    last = await t.exec_block("echo last")
    await t.wait_for("PROMPT")
    await settled(t)
    return first, last


async def test_old_output_is_dropped_and_leaves_a_hole(private_home):
    async with Manager(private_home, retention=KEEP) as manager:
        conversation = manager.create("c", **SETTINGS)
        t = conversation.terminal
        first, last = await flood(t)
        derivation, folder = t.live.derivation, t.live.folder
        gap = derivation.gaps[-1]
        assert gap.raw.end <= t.live.terminal.raw - KEEP
        size = folder.raw.stat().st_size
        assert size == t.live.terminal.raw  # offsets stay
        assert allocated(folder.raw) < size - gap.raw.end + (1 << 16)
        with folder.raw.open("rb") as raw:
            assert raw.read(1000) == bytes(1000)
            assert os.pread(raw.fileno(), 1000, gap.raw.end - 1000) == bytes(1000)

        events = [json.loads(line) for line in folder.events.read_text().splitlines()]
        gaps = [event for event in events if event["type"] == "pty_gap"]
        assert [(event["from"], event["to"]) for event in gaps] == [(g.raw.start, g.raw.end) for g in derivation.gaps]
        assert all("1,048,576" in event["why"] for event in gaps)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))

        for call in (
            t.read_spool,
            lambda at: t.wait_for("x", from_cursor=at, timeout_ms=0),
        ):
            with pytest.raises(Gone) as gone:
                await call(first.cursor)
            assert (gone.value.code, gone.value.next, gone.value.status) == ("gone", gap.spool.end, 404)
            assert str(gap.spool.end) in str(gone.value)
            await call(gone.value.next)
        for call in (t.read_raw, lambda at: t.read_screen(at_offset=at)):
            with pytest.raises(Gone) as gone:
                await call(10)
            assert gone.value.next == gap.raw.end
            await call(gone.value.next)

        with pytest.raises(Gone):
            await t.read_block(first.block_id)
        blocks = (await t.blocks()).blocks
        assert [block.seq for block in blocks] == list(range(1, len(blocks) + 1))  # their records stay
        assert (await t.read_block(last.block_id)).output == "last\n"
        kept = {int(path.name.split("_")[0]) for path in folder.blocks.iterdir()}
        assert 1 not in kept
        assert last.seq in kept
        hits = (await t.search("last")).hits
        assert any(hit.text == "last" for hit in hits)
        await manager.delete("c")


async def test_a_block_that_is_half_in_the_hole(private_home):
    async with Manager(private_home, retention=4 * KEEP) as manager:
        t = manager.create("c", **SETTINGS).terminal
        ran = await t.exec_block("echo start; seq 1 1500000", timeout_ms=60_000)
        await t.wait_for("PROMPT")
        await settled(t)
        gap = t.live.derivation.gaps[-1]
        block = (await t.read_block(ran.block_id)).block
        assert block.spool.start < gap.spool.end < block.spool.end
        read = await t.read_block(ran.block_id, max_output=1000)
        assert read.truncated
        assert read.omitted.start == block.spool.start
        assert read.omitted.end >= gap.spool.end
        assert read.output.endswith("1499999\n1500000\n")
        await manager.delete("c")


async def test_a_hole_behind_the_last_checkpoint(private_home):
    """Only the journal has a record of the hole yet."""
    async with Manager(private_home, retention=KEEP) as manager:
        t = manager.create("c", **SETTINGS).terminal
        await flood(t)
        await t.live.written()
        live = t.live
        start, end = live.derivation.dropped.raw.end, checkpoint_places(live.folder)[0]
        assert start < end
        await live.ask("punch", start=start, end=end, why="a test")
        await live.waiters.until(lambda: live.derivation.dropped.raw.end == end)
        folder = live.folder
        await manager.close_conversation("c")
    assert dropped_bytes(folder) == end
    assert rebuild(folder, "c", check=True).differences == []
    async with Manager(private_home, retention=KEEP) as manager:
        t = manager.get("c").terminal
        await t.status()
        assert t.live.derivation.dropped.raw.end == end
        assert (await t.exec_block("echo on")).output == "on\n"
        await manager.delete("c")


async def test_after_a_restart(private_home):
    async with Manager(private_home, retention=KEEP) as manager:
        t = manager.create("c", **SETTINGS).terminal
        await t.exec_block("v=kept")
        first, _ = await flood(t)
        gap, cursor, pid = t.live.derivation.gaps[-1], t.live.terminal.cursor, (await t.status()).pid
        screen = (await t.read_screen()).rows
        folder = t.live.folder
    async with Manager(private_home, retention=KEEP) as manager:
        t = manager.get("c").terminal
        status = await t.status()
        assert (status.pid, status.cursor) == (pid, cursor)
        assert t.live.derivation.gaps[-1] == gap
        assert (await t.read_screen()).rows == screen
        with pytest.raises(Gone):
            await t.read_spool(first.cursor)
        assert (await t.exec_block("echo $v")).output == "kept\n"
        await manager.close_conversation("c")
    assert rebuild(folder, "c", check=True).differences == []
