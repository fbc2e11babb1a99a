"""Ended blocks, a line each."""

from itertools import islice

import msgspec

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.files.disk_errors import damaged
from vantage.conversation.store.files.log import Log
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.errors import NotFound, Unavailable
from vantage.terminal.output.blocks import Block


class BlockLog:
    """Ended blocks, a line each: the line's number is the block's."""

    def __init__(self, folder: ConversationFolder, files: OpenFiles | None = None) -> None:
        self._log = Log(folder.block_log, files)
        self._path = folder.block_log
        while (last := self._log.last_line()) is not None and not _is_block(last):
            self._log.cut(self._log.size - len(last) - 1)
        self.count = decode_block(last).seq if last else 0
        self._last: Block | None = None

    @property
    def torn(self) -> int:
        return self._log.torn

    @property
    def size(self) -> int:
        return self._log.size

    def append(self, block: Block) -> None:
        self._log.append(encode_block(block))
        self.count = block.seq
        self._last = block

    def after(self, seq: int, limit: int) -> list[Block]:
        lines = list(islice(self._log.from_line(seq + 1), limit))
        try:
            found = [decode_block(line) for line in lines]
        except msgspec.MsgspecError as error:
            raise self._damaged(error) from None
        if any(block.seq != number for number, block in enumerate(found, seq + 1)):
            raise self._damaged(f"blocks are not in their places from {seq + 1} on")
        return found

    def _damaged(self, why: object) -> Unavailable:
        hint = f"'vantage rebuild {self._path.parent.parent.name}' makes it anew from the output"
        return damaged(self._path, why, hint)

    def last(self) -> Block | None:
        line = self._log.last_line()
        return decode_block(line) if line else None

    def get(self, block_id: str) -> Block:
        if self._last is not None and self._last.block_id == block_id:
            return self._last
        number = block_id[1:]
        if block_id[:1] == "b" and number.isascii() and number.isdigit() and 0 < int(number) <= self.count:
            return self.after(int(number) - 1, 1)[0]
        last = f"the last one is b{self.count}" if self.count else "there is none yet"
        raise NotFound(f"there is no block {block_id!r}", hint=last)

    def close(self) -> None:
        self._log.close()


_block_decoder = msgspec.json.Decoder(Block)


def encode_block(block: Block) -> bytes:
    return msgspec.json.encode(block) + b"\n"


def decode_block(line: bytes) -> Block:
    return _block_decoder.decode(line)


def _is_block(line: bytes) -> bool:
    try:
        return bool(decode_block(line))
    except msgspec.MsgspecError:
        return False
