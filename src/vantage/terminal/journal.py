"""The journal's records, which give the raw output its meaning.

The host writes them (`vantage.ptyhost`), each with the present length of the raw output: a record takes effect after
those bytes and before the next one. Unknown records are skipped: a newer host may write more.
"""

from contextlib import suppress
from typing import NamedTuple

import msgspec


class Record(msgspec.Struct, frozen=True):
    """One line. Which fields are set depends on the kind `t`."""

    t: str
    at: int
    ts: int
    """Milliseconds since the epoch."""
    shell_id: str = ""
    kind: str = ""
    spool: int = 1
    """The rule of the spool (`output.movement`)."""
    secret: str = ""
    pid: int | None = None
    cols: int = 0
    rows: int = 0
    cwd: str | None = None
    id: str = ""
    cmd: str = ""
    origin: str = ""
    session: str | None = None
    status: int | None = None
    signal: int | None = None
    echo: bool = True
    canonical: bool = True
    foreground: str | None = None
    foreground_pid: int | None = None
    query: int = -1
    start: int = msgspec.field(name="from", default=0)
    end: int = msgspec.field(name="to", default=0)
    why: str = ""


_decode = msgspec.json.Decoder(Record).decode


class Placed(NamedTuple):
    """A record and where in the journal its line ends."""

    record: Record
    end: int


def read_records(data: bytes, start: int) -> tuple[list[Placed], int]:
    """The records of whole lines from an offset of the journal on, and where the last line ends.

    A line that is no record is skipped.
    """
    records: list[Placed] = []
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        with suppress(msgspec.MsgspecError):
            records.append(Placed(_decode(data[at:end]), start + end + 1))
        at = end + 1
    return records, start + at
