"""Whole lines and whole characters from a stream of bytes that is cut anywhere.

However the stream is cut, the same lines and the same characters come out.
"""

from collections.abc import Iterator


class Lines:
    """Cuts a stream into lines at LF. The cost of a long line is linear in its length, however many pieces it has."""

    __slots__ = ("_parts", "offset")

    def __init__(self, start: int = 0) -> None:
        self._parts: list[bytes] = []
        self.offset = start
        """Where the line after the last one begins, in a stream that begins at `start`."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that `data` completes, without their ends."""
        *lines, rest = data.split(b"\n")
        if lines and self._parts:
            self._parts.append(lines[0])
            lines[0] = self.finish()
        if rest:
            self._parts.append(rest)
        for line in lines:
            self.offset += len(line) + 1
            yield line

    def finish(self) -> bytes:
        """The last line, which has no end; empty if there is none."""
        line = b"".join(self._parts)
        self._parts.clear()
        return line


def continued(data: bytes) -> int:
    """How many bytes at the beginning continue a UTF-8 character that began before."""
    return next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), len(data[:4]))


def unfinished(data: bytes) -> int:
    """How many bytes at the end begin a UTF-8 character that goes on after."""
    for back in range(1, min(len(data), 4) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            size = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if size > back else 0
    return 0
