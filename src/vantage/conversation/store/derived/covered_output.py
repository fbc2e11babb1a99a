"""The raw output as it may leave the home: byte for byte, with every shell's secret covered.

A reader that knows the secret of a living shell could forge its prompts. The secrets are in the journal; offsets and
lengths do not change. A secret that crosses the borders of the range is covered too.
"""

import re

from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.terminal.output.marks import COVER

_SECRET = re.compile(rb'"secret":\s*"([0-9a-f]{16,64})"')
_LONGEST = 64
_PIECE = 1 << 20


class CoveredOutput:
    def __init__(self, raw: GrowingFile, journal: GrowingFile) -> None:
        self._raw = raw
        self._journal = journal
        self._read = 0
        """How much of the journal was searched for secrets."""
        self._secrets: set[bytes] = set()

    def read(self, start: int, end: int) -> bytes:
        """The covered bytes of a range."""
        before = max(start - _LONGEST, 0)
        data = self._raw.read(before, end + _LONGEST)
        self._find_secrets()
        for secret in self._secrets:
            data = data.replace(secret, COVER * len(secret))
        return data[start - before : end - before]

    def _find_secrets(self) -> None:
        """Adds the secrets of shells that were started since the last call."""
        size = self._journal.size
        while self._read < size:
            data = self._journal.read(self._read, min(self._read + _PIECE, size))
            whole = data.rfind(b"\n") + 1
            self._secrets.update(_SECRET.findall(data, 0, whole or len(data)))
            if not whole and len(data) < _PIECE:
                return  # the last line is still being written
            self._read += whole or len(data)
