"""Where programs ask their terminal something: the stream is cut there, so that a reply belongs to one offset.

The offset makes a reply happen once: whoever answers after a restart says the same offset again, and is refused.
"""

import re
from collections.abc import Iterator

_QUERY = re.compile(
    rb"\x05"  # ENQ
    rb"|\x1b\[[?>=]?[0-9;]*(?:[cn]|\$p|x|t|q|u)"  # DA, DSR, DECRQM, DECREQTPARM, window reports, XTVERSION, kitty
    rb"|\x1bZ"
    rb"|\x1b\][0-9;]*[^\x07\x1b]{0,256}\?(?:\x07|\x1b\\)"  # OSC colours
    rb"|\x1bP[$+]q[^\x1b]{0,1024}\x1b\\"  # DECRQSS, XTGETTCAP
)
_MOST = 1100


class Queries:
    """Cuts one stream behind everything that looks like a question."""

    def __init__(self, tail: bytes = b"") -> None:
        self.tail = tail
        """The end of what came before, if a sequence was open there."""

    def cut(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """The pieces in order, and whether a piece ends with a question."""
        if not self.tail and b"\x1b" not in data and b"\x05" not in data:
            yield data, False
            return
        before = len(self.tail)
        whole = self.tail + data
        done = 0
        for found in _QUERY.finditer(whole):
            if found.end() > before + done:
                yield data[done : found.end() - before], True
                done = found.end() - before
        if done < len(data):
            yield data[done:], False
        last = max(before + done, len(whole) - _MOST)
        self.tail = _open(whole[last:])


def _open(data: bytes) -> bytes:
    """What may be the beginning of a question at the end of the data: from its first unfinished ESC on."""
    at = data.rfind(b"\x1b")
    if at > 0 and data[at:] == b"\x1b":
        earlier = data.rfind(b"\x1b", 0, at)
        if earlier >= 0 and data[earlier + 1 : earlier + 2] in (b"]", b"P"):
            at = earlier
    if at < 0:
        return b""
    rest = data[at:]
    finished = rest[1:2] not in (b"]", b"P") and len(rest) > 2 and rest[-1:].isalpha()
    return b"" if finished else rest
