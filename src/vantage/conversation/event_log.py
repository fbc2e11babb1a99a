"""A conversation's events: one line each, numbered without gaps from 1."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import msgspec

from vantage.conversation.files import Log
from vantage.events import Event, decode_event, encode_event


class _Numbered(msgspec.Struct):
    seq: int = 0
    raw_offset: int | None = None


_number = msgspec.json.Decoder(_Numbered).decode


class EventLog:
    def __init__(self, path: Path) -> None:
        self._log = Log(path)
        last = self._log.last_line()
        self.seq = _number(last).seq if last else 0

    @property
    def torn(self) -> int:
        return self._log.torn

    @property
    def size(self) -> int:
        return self._log.size

    def append(self, events: Iterable[Event], conversation_id: str) -> list[Event]:
        """The events as they are logged, numbered."""
        numbered: list[Event] = [
            msgspec.structs.replace(event, seq=self.seq + place, conversation_id=conversation_id)
            for place, event in enumerate(events, 1)
        ]
        if numbered:
            self._log.append(b"".join(encode_event(event) + b"\n" for event in numbered))
            self.seq += len(numbered)
        return numbered

    def read(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events with a higher number, in order."""
        return [decode_event(line) for line in islice(self._log.from_line(after + 1), limit)]

    def derived(self, start: int) -> int:
        """How many events from an offset of the file on came from the terminal."""
        return sum(_number(line).raw_offset is not None for _, line in self._log.lines(start))

    def close(self) -> None:
        self._log.close()
