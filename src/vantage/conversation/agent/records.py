"""The records of an agent's journal, `stream.index`: when a run began, what it was sent, how it ended.

The host writes them (`vantage.ptyhost`), each with the length that the stream had then: it takes effect after those
bytes and before the next one.
"""

from contextlib import suppress
from typing import NamedTuple

import msgspec

from vantage.agents.drivers.driver import Options


class Record(msgspec.Struct, frozen=True):
    """One line. Which fields are set depends on the kind `t`."""

    t: str
    at: int
    ts: int
    """Milliseconds since the epoch."""
    run: str = ""
    agent: str = ""
    command: list[str] | None = None
    """The command line that was asked for, where the caller named one."""
    options: Options | None = None
    """What the run was started with."""
    seq: int = 0
    """The last event of the conversation's log when the run was started."""
    stderr: int = 0
    """The length of `stderr.log` when the run was started."""
    n: int = 0
    key: str = ""
    """Why a message was sent."""
    display: str = ""
    """The display instruction at that moment."""
    data: str = ""
    """The message, as it was sent."""
    status: int | None = None
    signal: int | None = None


_decode = msgspec.json.Decoder(Record).decode


class Placed(NamedTuple):
    """A record and where its line begins in the journal."""

    record: Record
    begin: int


def read_records(data: bytes, start: int = 0) -> tuple[list[Placed], int]:
    """The records of whole lines from an offset of the journal on, and where the last line ends.

    A line that is no record is passed over.
    """
    records: list[Placed] = []
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        with suppress(msgspec.MsgspecError):
            records.append(Placed(_decode(data[at:end]), start + at))
        at = end + 1
    return records, start + at
