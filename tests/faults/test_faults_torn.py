"""A last line that is not whole, as a machine that lost its power leaves it: cut at every byte, in every log."""

import re

from aftermath import Stage, assert_all_is_well
from damage import copy, original
from extent import extent
from vantage.conversation.store.conversation_folder import ConversationFolder

LOGS = {
    "events.jsonl": "events",
    "blocks.jsonl": "block_log",
    "screen.jsonl": "screen_log",
    "tools.jsonl": "tools",
    "output.index": "journal",
}
"""Every file that is only appended to, line by line; the host mends the last one."""
AT_ONCE = 60
"""Conversations that are looked at with one server."""


def tear(folder: ConversationFolder, log: str, missing: int) -> None:
    path = getattr(folder, LOGS[log])
    path.write_bytes(path.read_bytes()[:-missing])


def last_line(stage: Stage, conversation: str, log: str) -> int:
    """Its length, with its end."""
    content = getattr(stage.folder(conversation), LOGS[log]).read_bytes()
    return len(content) - content.rstrip(b"\n").rfind(b"\n") - 1


def test_last_lines_are_torn(stage):
    original(stage)
    lengths = {log: last_line(stage, "original", log) for log in LOGS}
    cuts = [
        (log, missing)
        for log, length in lengths.items()
        for missing in extent((1, length // 2), tuple(range(1, length)))
    ]
    for begin in range(0, len(cuts), AT_ONCE):
        if begin:
            stage.clear()
            original(stage)
            lengths = {log: last_line(stage, "original", log) for log in LOGS}  # times have more digits, or fewer
        torn = {copy(stage, "original", f"torn-{n:03}"): cut for n, cut in enumerate(cuts[begin : begin + AT_ONCE])}
        for name, (log, missing) in torn.items():
            tear(stage.folder(name), log, min(missing, lengths[log] - 1))
        stage.server.start()
        for name in torn:
            assert [block["block_id"] for block in stage.pty(name, "blocks")["blocks"]] == ["b1", "b2", "b3"]
            assert stage.pty(name, "read_block", block_id="b2")["output"] == "the second\n"
            assert stage.get(f"/v1/conversations/{name}/tools")["tools"]
            stage.pty(name, "read_screen")
        assert_all_is_well(stage)
        for name, (log, missing) in torn.items():
            words = f"{name}/.*{log}: its last line was not whole, {max(lengths[log] - missing, 1)} bytes"
            assert log == "output.index" or re.search(words, stage.news("server.log")), words
