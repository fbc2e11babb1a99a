"""The calls of clients by their ids, so that a call that is sent again does not type twice.

A client that is killed between a request and its answer does not know whether the request was carried out. Its
successor sends it again with the same id. A call is counted in units, mostly bytes of its input: `taken` of `size`
units are done. The client's `facts` at the beginning of the call are kept with it, and not read here. Calls are kept in
memory only, because input contains secrets and is never journaled; `facts` contain none.
"""

from collections.abc import Callable
from typing import Any, Final

MAX_CALLS: Final = 256
"""Calls of one terminal that are remembered; the oldest is forgotten first."""


class Call:
    """One call, and how far it came."""

    __slots__ = ("_then", "busy", "facts", "size", "taken", "why")

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.size = 0
        self.taken = 0
        self.why = ""
        """Why the rest was not written."""
        self.busy = False
        """A part of it waits to be written."""
        self._then: list[Callable[[], None]] = []

    @property
    def begun(self) -> bool:
        return self.taken > 0 or self.why != ""

    def begin(self, size: int) -> None:
        self.busy, self.size = True, size

    def end(self, taken: int, why: str = "") -> None:
        """A part of it is written, or is not: `taken` units of the call are done."""
        self.busy, self.taken, self.why = False, taken, why
        then, self._then = self._then, []
        for each in then:
            each()

    def settled(self, then: Callable[[], None]) -> None:
        """Calls `then` when no part of the call waits: now, or later."""
        if self.busy:
            self._then.append(then)
        else:
            then()


class Calls:
    """The last calls of one terminal."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}

    def get(self, call_id: str) -> Call | None:
        return self._calls.get(call_id)

    def add(self, call_id: str) -> Call:
        """The call of this id; a new one if it is not known."""
        call = self._calls.get(call_id)
        if call is None:
            call = self._calls[call_id] = Call()
            if len(self._calls) > MAX_CALLS:
                del self._calls[next(iter(self._calls))]
        return call
