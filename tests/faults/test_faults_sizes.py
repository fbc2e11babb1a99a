"""Very much of something: output without a line end, and commands in one conversation."""

import json
import shutil
from contextlib import suppress

from aftermath import Stage, assert_all_is_well
from extent import extent
from machine import until
from memory import bounded
from terminal_home import PATIENCE

LONG_LINE = extent(20, 1000)
"""MB without a line end."""
BLOCKS = extent(2_000, 100_000)
ROOM = 100 << 20
"""Bytes that a server may grow by: not in proportion to what is printed."""
A_COMMAND = 2 << 10
"""Bytes that it may keep in memory for each command, once a client watches."""


def test_output_without_a_line_end(stage):
    beside, conversation = stage.printer(), stage.conversation()
    stage.watcher()
    with bounded(stage, ROOM):
        command = f"head -c {LONG_LINE}000000 /dev/zero | tr '\\0' x; echo; echo $((6 * 7)) over"
        started = stage.pty(conversation, "exec_block", command=command, timeout_ms=0)
        beside.further(20)
        assert stage.pty(conversation, "wait_for", match="xxx", from_cursor=started["cursor"])["matched"]
        over = {"match": "42 over", "from_cursor": started["cursor"], "timeout_ms": 10_000}
        while not stage.pty(conversation, "wait_for", **over)["matched"]:
            beside.further(1)
        stage.pty(conversation, "wait_for", match="PROMPT", from_cursor=started["cursor"], timeout_ms=PATIENCE * 1000)
        read = stage.pty(conversation, "read_block", block_id=started["block_id"], max_output=10_000)
        assert read["output"].endswith("42 over\n")
        assert (read["truncated"], len(read["output"]) <= 11_000) == (True, True)
        block = read["block"]
        assert block["spool"][1] - block["spool"][0] == LONG_LINE * 1_000_000 + len("\n42 over\n")
        assert "42 over" in stage.pty(conversation, "read_screen")["text"]
        beside.further(20)
        stage.get(f"/v1/conversations/{conversation}/rows?surface=html")
    stage.server.stop()
    stage.server.start()
    with bounded(stage, ROOM):
        assert stage.pty(conversation, "exec_block", command="echo $((6 * 7))")["output"] == "42\n"
    assert_all_is_well(stage)


def test_very_many_commands(stage):
    conversation = stage.conversation()
    for _ in range(2):
        stage.pty(conversation, "exec_block", command="echo wordy-1")
    stage.server.end()
    write_many(stage, conversation)
    stage.server.start()
    with bounded(stage, ROOM + BLOCKS * A_COMMAND):
        until_derived(stage, conversation)
        rows = f"/v1/conversations/{conversation}/rows?surface=plain&limit=200"
        assert "wordy-1" in stage.get(rows)["rows"][0]["text"]
        shown = stage.get(f"{rows}&before={1 << 40}")["rows"]
        assert f"wordy-{BLOCKS}" in shown[-1]["text"]
        listed = stage.pty(conversation, "blocks", after=BLOCKS - 5)["blocks"]
        assert [block["seq"] for block in listed] == list(range(BLOCKS - 4, BLOCKS + 1))
        for number in (1, BLOCKS // 2, BLOCKS):
            read = stage.pty(conversation, "read_block", block_id=f"b{number}")
            assert read["output"] == f"wordy-{number}\n"
        earlier = stage.get(f"{rows}&before={shown[0]['row']['begin']}")["rows"]
        assert f"wordy-{BLOCKS - 200}" in earlier[-1]["text"]
        ran = stage.pty(conversation, "exec_block", command="echo $((6 * 7))")
        assert (ran["output"], ran["block_id"]) == ("42\n", f"b{BLOCKS + 1}")
    stage.watcher()
    found = f"/v1/search?q=wordy-{BLOCKS // 3}&conversation={conversation}"
    until(lambda: stage.get(found)["hits"], "it is not found")
    stage.server.stop()
    stage.server.start()
    with bounded(stage, ROOM + BLOCKS * A_COMMAND):
        assert stage.pty(conversation, "exec_block", command="echo again")["seq"] == BLOCKS + 2
        assert len(stage.get(rows)["rows"]) == 200
    assert_all_is_well(stage)


def until_derived(stage: Stage, conversation: str) -> None:
    """The first read builds everything once: it may take longer than one answer, and delays no other conversation."""
    log = stage.folder(conversation).block_log
    known = -1
    while (now := log.stat().st_size if log.exists() else 0) > known:
        known = now
        with suppress(TimeoutError):
            stage.pty(conversation, "status")
            return
    raise AssertionError(f"derivation makes no progress: {known:,} bytes of blocks are derived")


def write_many(stage: Stage, conversation: str) -> None:
    """Makes of the first command of a conversation very many, in what the host has written; the rest is derived anew.

    A shell would need minutes for so many. What it prints for one is what it prints for each, but for the counters.
    """
    folder = stage.folder(conversation)
    lines = folder.journal.read_bytes().splitlines()
    first, second = (place for place, line in enumerate(lines) if b'"t":"exec"' in line)
    begin, end = (json.loads(lines[place])["at"] for place in (first, second))
    raw, record, last = folder.raw.read_bytes(), json.loads(lines[first]), json.loads(lines[-1])
    piece = raw[begin:end].replace(b";n=1;", b";n=@;").replace(b";n=2;", b";n=#;").replace(b"wordy-1", b"wordy-@")
    for made in (folder.events, folder.spool, folder.block_log, folder.screen_log, folder.screen_snapshot):
        made.unlink(missing_ok=True)
    for made in (folder.blocks, folder.checkpoints):
        shutil.rmtree(made)
        made.mkdir(mode=0o700)
    with folder.raw.open("wb") as output, folder.journal.open("wb") as journal:
        output.write(raw[:begin])
        journal.write(b"\n".join(lines[:first]) + b"\n")
        for number in range(1, BLOCKS + 1):
            about = {
                "at": output.tell(),
                "ts": record["ts"] + number,
                "id": f"{number:x}",
                "cmd": f"echo wordy-{number}",
            }
            journal.write(json.dumps({**record, **about}, separators=(",", ":")).encode() + b"\n")
            output.write(piece.replace(b"@", b"%d" % number).replace(b"#", b"%d" % (number + 1)))
        journal.write(json.dumps({**last, "at": output.tell()}, separators=(",", ":")).encode() + b"\n")
