"""Where derivation resumes after a restart: the newest checkpoint that all files still reach.

Raw output and journal are the truth: when they are shorter than they were, nothing is derived, because new commands
would get the numbers of old ones. A derived file that is shorter is derived again from an older checkpoint.
"""

import logging
from dataclasses import dataclass
from pathlib import Path

from vantage.conversation.store.block_log import BlockLog
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.journal_reader import PIECE
from vantage.conversation.store.derived.replay import (
    Checkpoint,
    checkpoint_path,
    checkpoint_places,
    journal_records,
    read_checkpoint,
)
from vantage.conversation.store.event_log import EventLog
from vantage.conversation.store.files.disk_errors import damaged
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.errors import Unavailable
from vantage.terminal.journal import read_records

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """A terminal's files as they were found, to be compared with its checkpoints."""

    folder: ConversationFolder
    conversation_id: str
    raw: GrowingFile
    journal: GrowingFile
    spool: GrowingFile
    events: EventLog
    blocks: BlockLog

    def newest_checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint to resume at, if any. Raises when raw output or journal are damaged."""
        newest = True
        for place in checkpoint_places(self.folder):
            checkpoint = read_checkpoint(self.folder, place)
            if checkpoint is None:
                _log.warning("%s cannot be read: an older one is used", checkpoint_path(self.folder, place))
                continue
            if newest:
                self._check_truth(checkpoint)
                newest = False
            short = self._shorter(checkpoint)
            if short is None:
                return checkpoint
            _log.warning("%s is shorter than it was: what it had is derived again", short)
        if newest:
            self._check_truth(None)
        return None

    def _check_truth(self, checkpoint: Checkpoint | None) -> None:
        """Raises when raw output or journal are shorter than a checkpoint or a block requires."""
        last = self.blocks.last()
        raw = max(checkpoint.state.raw if checkpoint else 0, last.raw.end if last else 0)
        if self.raw.size < raw:
            raise self._lost(self.folder.raw, f"it has {self.raw.size:,} bytes and had {raw:,}")
        end = checkpoint.journal if checkpoint else 0
        if self.journal.size < end:
            raise self._lost(self.folder.journal, f"it has {self.journal.size:,} bytes and had {end:,}")
        if end and not self._has_record_before(end):
            raise self._lost(self.folder.journal, f"no record ends at byte {end:,}, where one did")
        if checkpoint is None and raw and not any(journal_records(self.journal, 0)):
            raise self._lost(self.folder.journal, "there is no record in it")

    def _has_record_before(self, end: int) -> bool:
        """Whether a record of the journal ends there. Of a very long line only the end is looked at."""
        data = self.journal.read(max(end - PIECE, 0), end)
        if not data.endswith(b"\n"):
            return False
        start = data.rfind(b"\n", 0, -1) + 1
        return bool(read_records(data[start:], 0)[0]) or (start == 0 and len(data) == PIECE)

    def _lost(self, path: Path, why: str) -> Unavailable:
        hint = f"put it back from a copy, or keep what is left: 'vantage rebuild {self.conversation_id}'"
        return damaged(path, why, hint)

    def _shorter(self, checkpoint: Checkpoint) -> Path | None:
        """The file that is shorter than the checkpoint requires, if any: derivation cannot resume there then."""
        sizes = {
            self.folder.raw: (checkpoint.state.raw, self.raw.size),
            self.folder.journal: (checkpoint.journal, self.journal.size),
            self.folder.spool: (checkpoint.state.spool.length, self.spool.size),
            self.folder.events: (checkpoint.events, self.events.size),
            self.folder.block_log: (checkpoint.block_log, self.blocks.size),
        }
        return next((path for path, (had, has) in sizes.items() if has < had), None)
