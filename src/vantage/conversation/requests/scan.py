"""Finds the events of requests and of agents' states in a log file without decoding the rest of it.

The log writes the type of an event first, and escapes quotes inside a string: so the line of such an event begins with
the bytes that are searched for, and a search reads a log about as fast as the disk gives it.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from vantage.errors import EventError
from vantage.events import AgentState, Answer, Event, Request, RequestClosed, decode_event

_BEGINNINGS = tuple(
    b'\n{"type":%b"%b' % (space, kind)
    for kind in (b"request", b'answer"', b'agent_state"')
    for space in (b"", b" ")  # as msgspec writes JSON, and as Python's own does for what msgspec cannot write
)
_OVERLAP = max(map(len, _BEGINNINGS)) - 1
_READ = 1 << 20


TAIL = 1 << 13
"""Bytes at the end of a log that say how its last turn stands."""


def request_events(log: Path) -> Iterator[Event]:
    """The `request`, `answer`, `request_closed` and `agent_state` events of a log, in order.

    None of a log that is not there.
    """
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
                if isinstance(event, Request | Answer | RequestClosed | AgentState):
                    yield event


def last_events(log: Path) -> Iterator[Event]:
    """The events in the last bytes of a log."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - TAIL, 0))
            lines = file.read(TAIL).split(b"\n")[1 if size > TAIL else 0 : -1]
    except FileNotFoundError:
        return
    for line in lines:
        with suppress(EventError):
            yield decode_event(line)


def _line_starts(file: BinaryIO) -> Iterator[int]:
    """Where the lines begin that may be such events."""
    window, at, last = b"\n", -1, -1  # `at`: where the window is in the file
    while data := file.read(_READ):
        window += data
        for start in sorted(at + place + 1 for beginning in _BEGINNINGS for place in _places(window, beginning)):
            if start > last:  # the overlap may have been found before
                yield start
                last = start
        at += len(window) - _OVERLAP
        window = window[-_OVERLAP:]


def _places(data: bytes, wanted: bytes) -> Iterator[int]:
    place = data.find(wanted)
    while place >= 0:
        yield place
        place = data.find(wanted, place + 1)
