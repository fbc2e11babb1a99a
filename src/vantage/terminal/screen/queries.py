"""Finds where programs query their terminal: the stream is cut there, so that a reply belongs to one offset.

The offset makes a reply happen once: after a restart the same reply has the same offset, and the host refuses it.
"""

import re
from collections.abc import Iterator
from typing import Literal

_QUESTION = re.compile(
    rb"\x05"  # ENQ
    rb"|\x1b\[[?>=]?[0-9;]{0,64}(?:[cn]|\$p|x|t|q|u)"  # DA, DSR, DECRQM, DECREQTPARM, window reports, XTVERSION, kitty
    rb"|\x1b\[\?(?:[0-9]{1,4};){0,8}2048h"  # in-band resize reports: switching them on asks for the first
    rb"|\x1bZ"
    rb"|\x1b\][^\x05\x07\x1b?]{0,256}\?[^\x05\x07\x1b]{0,256}(?:\x07|\x1b\\)"  # OSC colours
    rb"|\x1bP[$+]q[^\x05\x1b]{0,1024}\x1b\\"  # DECRQSS, XTGETTCAP
)
_BEGINNING = re.compile(
    rb"\x1b(?:\[[?>=]?[0-9;]{0,64}\$?"
    rb"|\][^\x05\x07\x1b?]{0,256}(?:\?[^\x05\x07\x1b]{0,256}\x1b?)?"
    rb"|P(?:[$+](?:q[^\x05\x1b]{0,1024}\x1b?)?)?)?"
)

What = Literal["other", "open", "asked"]
"""`asked` ends a query, `open` may be the beginning or the middle of one, `other` is neither."""


class Queries:
    """Cuts one stream around everything that looks like a query."""

    def __init__(self, tail: bytes = b"") -> None:
        self.tail = tail
        """The end of earlier data, if it may be the beginning of a query."""

    @property
    def held(self) -> int:
        """Bytes at the end of the tail that were not passed on: the ESC at which one engine answers and another does
        not.
        """
        return int(len(self.tail) > 1 and self.tail.endswith(b"\x1b"))

    def cut(self, data: bytes) -> Iterator[tuple[bytes, What]]:
        """The pieces in order. Where they are cut depends on the stream, and not on its chunks."""
        if not self.tail and b"\x1b" not in data and b"\x05" not in data:
            yield data, "other"
            return
        whole = self.tail + data
        done = passed = len(self.tail) - self.held
        for found in _QUESTION.finditer(whole):
            if found.start() > done or (done == passed and found.start()):
                yield whole[done : found.start()], "other"  # empty when a query began while another was open
            yield whole[max(found.start(), done) : found.end()], "asked"
            done = found.end()
        self.tail = _beginning(whole[done if done > passed else 0 :])
        opened, end = len(whole) - len(self.tail), len(whole) - self.held
        if opened > done or (done == passed and opened):
            yield whole[done:opened], "other"
        if max(opened, done) < end:
            yield whole[max(opened, done) : end], "open"


def _beginning(data: bytes) -> bytes:
    """The possible beginning of a query at the end of the data."""
    at = last = data.rfind(b"\x1b")
    if last == len(data) - 1:
        at = max(data.rfind(b"\x1b", 0, last), 0)  # half of the ST of a string
    for start in (at, last):
        if start >= 0 and _BEGINNING.fullmatch(data, start):
            return data[start:]
    return b""
