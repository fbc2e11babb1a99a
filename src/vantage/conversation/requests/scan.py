"""Finds the events of requests in a log file without decoding the rest of it.

The log writes the type of an event first, and escapes quotes inside a string: so the line of such an event begins with
the bytes that are searched for, and a search reads a log about as fast as the disk gives it.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from vantage.errors import EventError
from vantage.events import Answer, Event, Request, RequestClosed, decode_event

_BEGINNINGS = (b'\n{"type":"request', b'\n{"type":"answer"', b'\n{"type": "request', b'\n{"type": "answer"')
"""As msgspec writes JSON, and as Python's own does, which the log uses for what msgspec cannot write."""
_OVERLAP = max(map(len, _BEGINNINGS)) - 1
_READ = 1 << 20


def request_events(log: Path) -> Iterator[Event]:
    """The `request`, `answer` and `request_closed` events of a log, in order; none of a log that is not there."""
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return
    with file:
        starts = list(_line_starts(file))
        for start in starts:
            file.seek(start)
            with suppress(EventError):  # a damaged line
                event = decode_event(file.readline())
                if isinstance(event, Request | Answer | RequestClosed):
                    yield event


def _line_starts(file: BinaryIO) -> Iterator[int]:
    """Where the lines begin that may be such events."""
    window, at = b"\n", -1  # `at`: where the window is in the file
    while data := file.read(_READ):
        window += data
        yield from sorted(at + place + 1 for beginning in _BEGINNINGS for place in _places(window, beginning))
        at += len(window) - _OVERLAP
        window = window[-_OVERLAP:]


def _places(data: bytes, wanted: bytes) -> Iterator[int]:
    place = data.find(wanted)
    while place >= 0:
        yield place
        place = data.find(wanted, place + 1)
