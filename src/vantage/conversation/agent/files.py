"""The files of an agent in a conversation's folder: what its host writes, and what is kept of the last run."""

from pathlib import Path

import msgspec

from vantage.agents.drivers.driver import Options
from vantage.conversation.agent.records import Record, read_records
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.conversation.store.files.writing import make_directory, write_atomically

_PIECE = 1 << 16
LAST_WORDS = 4000
"""Bytes of stderr that are read when an agent has ended: its last."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The last run: how it was started, and whether all that it did is in the conversation's log."""

    agent: str
    options: Options
    command: list[str] | None = None
    """The command line that was asked for, where the caller named one."""
    env: dict[str, str] | None = None
    """The environment that the caller gave; without one it is the conversation's."""
    session: str | None = None
    """The agent's own id of its session, with which it can be resumed."""
    model: str | None = None
    error: str | None = None
    over: bool = False

    @property
    def run(self) -> str:
        return self.options.run


class AgentFiles:
    def __init__(self, folder: Path, files: OpenFiles | None = None) -> None:
        self.folder = folder
        self.stream = GrowingFile(folder / "stream.raw", files=files)
        self.journal = GrowingFile(folder / "stream.index", files=files)
        self._kept = folder / "run.json"

    def create(self) -> None:
        make_directory(self.folder)

    @property
    def lengths(self) -> tuple[int, int]:
        """How long stream and journal are on the disk."""
        journal = self.journal.size  # first: the bytes that its records name are written before them
        return self.stream.size, journal

    def last_words(self, start: int) -> str:
        """What the agent last wrote to its stderr, not before an offset."""
        errors = GrowingFile(self.folder / "stderr.log")
        try:
            end = errors.size
            return errors.read(max(start, end - LAST_WORDS), end).decode("utf-8", "replace")
        finally:
            errors.close()

    def last_start(self, end: int) -> tuple[Record, int] | None:
        """The record that began the last run, and where it begins in the journal."""
        upto, tail = end, b""
        while upto > 0:
            begin = max(upto - _PIECE, 0)
            data = self.journal.read(begin, upto)
            at = (data + tail).rfind(b'\n{"t":"start",')
            if at < 0 and not begin and data.startswith(b'{"t":"start",'):
                at = -1
            elif at < 0:
                tail, upto = data[:32], begin
                continue
            place = begin + at + 1
            records, _ = read_records(self.journal.read(place, end), place)
            return (records[0].record, records[0].begin) if records else None
        return None

    def keep(self, kept: Kept) -> None:
        write_atomically(self._kept, msgspec.json.encode(kept))

    def kept(self) -> Kept | None:
        """The last run; None when there was none."""
        return read_kept(self.folder)

    def close(self) -> None:
        self.stream.close()
        self.journal.close()


def is_unfinished(folder: Path) -> bool:
    """Whether the last run's process may live, or not all that it did is logged."""
    kept = read_kept(folder)
    return kept is not None and not kept.over


def read_kept(folder: Path) -> Kept | None:
    try:
        return msgspec.json.decode((folder / "run.json").read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):
        return None
