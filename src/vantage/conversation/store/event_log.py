"""A conversation's events: one line each, numbered without gaps from 1.

The number of a line is the number of its event. A damaged line is read as an unknown event with what is readable of it.
"""

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from vantage.conversation.store.clock import now_ms
from vantage.conversation.store.files.log import Log
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.errors import EventError
from vantage.events import Event, Json, UnknownEvent, decode_event, encode_event


class _Numbered(msgspec.Struct):
    seq: int = 0
    raw_offset: int | None = None


MAX_PAGE = 8 << 20
"""Bytes of lines that are read at once. Their number would be no limit, since an event may have 16 MiB."""
_KEPT = 1000
"""Bytes of a damaged line that are shown."""
_strict = msgspec.json.Decoder(_Numbered).decode


def _number(line: bytes) -> "_Numbered | Event":
    try:
        return _strict(line)
    except msgspec.MsgspecError:  # half of a surrogate pair, for example, which only a lenient reader takes
        with suppress(EventError):
            return decode_event(line)
    return _Numbered()


def _event(line: bytes, seq: int) -> Event:
    try:
        event = decode_event(line)
    except EventError as error:
        kept = line[:_KEPT].decode("utf-8", "backslashreplace")
        data: dict[str, Json] = {"type": "damaged", "seq": seq, "error": str(error), "line": kept}
        return UnknownEvent(name="damaged", seq=seq, data=data)
    return event if event.seq == seq else msgspec.structs.replace(event, seq=seq)


class EventLog:
    def __init__(self, path: Path, files: OpenFiles | None = None) -> None:
        self._log = Log(path, files)
        last = self._log.last_line()
        self.seq = _number(last).seq or self._log.count() if last is not None else 0

    @property
    def torn(self) -> int:
        return self._log.torn

    @property
    def size(self) -> int:
        return self._log.size

    def append(self, events: Iterable[Event], conversation_id: str) -> list[Event]:
        """The events as they are logged: with number and time."""
        numbered = [_numbered(event, self.seq + place, conversation_id) for place, event in enumerate(events, 1)]
        if numbered:
            self._log.append(b"".join(encode_event(event) + b"\n" for event in numbered))
            self.seq += len(numbered)
        return numbered

    def read(self, after: int = 0, limit: int = 1000, *, max_bytes: int | None = MAX_PAGE) -> list[Event]:
        """Events with a higher number, in order: as many as `max_bytes` hold, and at least one."""
        found: list[Event] = []
        size = 0
        for seq, line in enumerate(islice(self._log.from_line(after + 1), limit), after + 1):
            size += len(line)
            if found and max_bytes is not None and size > max_bytes:
                break
            found.append(_event(line, seq))
        return found

    def read_last(self, after: int, end: int, *, max_bytes: int = MAX_PAGE) -> list[Event]:
        """Events with a higher number than `after` up to `end`: the last ones that `max_bytes` hold, at least one."""
        lines: deque[tuple[int, bytes]] = deque()
        size = 0
        for seq, line in enumerate(islice(self._log.from_line(after + 1), max(end - after, 0)), after + 1):
            lines.append((seq, line))
            size += len(line)
            while len(lines) > 1 and size > max_bytes:
                size -= len(lines.popleft()[1])
        return [_event(line, seq) for seq, line in lines]

    def lines(self, after: int = 0, limit: int = 1000) -> list[bytes]:
        """The same events as the bytes of the file."""
        return list(islice(self._log.from_line(after + 1), limit))

    def derived(self, start: int, end: int | None = None) -> int:
        """How many events between two offsets of the file came from the terminal."""
        return sum(_number(line).raw_offset is not None for _, line in self._log.lines(start, end))

    def close(self) -> None:
        self._log.close()


_OURS = ("seq", "conversation_id", "conversationId", "raw_offset", "rawOffset")
"""Fields that only the log sets, in every spelling."""


def _numbered(event: Event, seq: int, conversation_id: str) -> Event:
    changes: dict[str, Any] = {"seq": seq, "conversation_id": conversation_id}
    if event.ts is None:
        changes["ts"] = now_ms()
    if isinstance(event, UnknownEvent):
        kept = {key: value for key, value in event.data.items() if key not in _OURS}
        changes["data"] = {"ts": changes.get("ts"), **kept, "seq": seq, "conversation_id": conversation_id}
    elif event.extra:
        changes["extra"] = {key: value for key, value in event.extra.items() if key not in _OURS}
    return msgspec.structs.replace(event, **changes)
