"""The differences between two reads of a screen."""

from collections.abc import Callable

import msgspec

from vantage.terminal.engines.values import Cursor


class Differences(msgspec.Struct, frozen=True, gc=False):
    """The differences that a read found."""

    rows: tuple[int, ...] = ()
    cursor: bool = False
    title: bool = False
    alt_screen: bool = False
    cwd: bool = False
    size: bool = False
    bell: bool = False


class Seen(msgspec.Struct, frozen=True, gc=False):
    """The state at the last read, with which the next one is compared."""

    revision: int
    cursor: Cursor
    title: str
    alt_screen: bool
    cwd: str
    size: tuple[int, int]


class Changes:
    """The differences since `Changes` were last read, compared at the first read.

    So a flood without a reader costs nothing, and the changes of several feeds are compared once.
    """

    __slots__ = ("_found", "_look")

    def __init__(self, look: Callable[[], Differences]) -> None:
        self._look = look
        self._found: Differences | None = None

    @property
    def _all(self) -> Differences:
        if self._found is None:
            self._found = self._look()
        return self._found

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of the rows whose text or style differs."""
        return self._all.rows

    @property
    def cursor(self) -> bool:
        return self._all.cursor

    @property
    def title(self) -> bool:
        return self._all.title

    @property
    def alt_screen(self) -> bool:
        return self._all.alt_screen

    @property
    def cwd(self) -> bool:
        return self._all.cwd

    @property
    def size(self) -> bool:
        return self._all.size

    @property
    def bell(self) -> bool:
        """The bell has rung."""
        return self._all.bell

    def __bool__(self) -> bool:
        found = self._all
        return (
            bool(found.rows) or found.cursor or found.title or found.alt_screen or found.cwd or found.size or found.bell
        )

    def __repr__(self) -> str:
        return f"Changes({self._all})"
