"""A conversation's files, written as its owner would write them."""

from pathlib import Path

from vantage.conversation.store.block_log import BlockLog
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.conversation.store.event_log import EventLog
from vantage.events import decode_event
from vantage.terminal.output.blocks import Block, ByteRange


class Written:
    """A conversation's files, written as its owner would."""

    def __init__(self, home: Path, name: str = "one", epoch: str = "e") -> None:
        self.id = name
        self.folder = ConversationFolder(home / "conversations" / name)
        self.folder.create()
        self.folder.write_settings(Settings(id=name, epoch=epoch, created=1))
        self.ts = 1_000

    def say(self, *said: dict) -> None:
        log = EventLog(self.folder.events)
        for event in said:
            self.ts += 1
            log.append([decode_event({"ts": self.ts, **event})], self.id)
        log.close()

    def run(self, command: str, output: str | bytes) -> str:
        """A command that was run and is over."""
        data = output.encode() if isinstance(output, str) else output
        start = self.folder.spool.stat().st_size if self.folder.spool.exists() else 0
        with self.folder.spool.open("ab") as spool:
            spool.write(data)
        blocks = BlockLog(self.folder)
        span = ByteRange(start, start + len(data))
        number = blocks.count + 1
        block = Block(f"b{number}", number, command, "/", "exec", self.ts, span, span, "s", done_because="mark")
        blocks.append(block)
        blocks.close()
        self.say({"type": "agent_block_begin", "block_id": block.block_id, "cmd": command})
        self.say({"type": "agent_block_end", "block_id": block.block_id, "exit_code": 0, "bytes": len(data)})
        return block.block_id
