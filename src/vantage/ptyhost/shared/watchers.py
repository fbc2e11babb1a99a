"""The clients that watch one terminal or agent, and how far each lets its output be read.

A window is an offset in the output. At the nearest one reading pauses, and a program that prints more waits in its
write, as it does for a terminal that draws slowly.
"""

from typing import Any, Protocol

from vantage.ptyhost.protocol import Happening


class Source(Protocol):
    """A terminal or an agent, as far as its watchers are concerned."""

    def event(self, what: Happening) -> dict[str, Any]:
        """The event that says what happened, with what is true now."""
        ...

    def unwatch(self, watcher: "Watcher") -> None: ...


class Watcher(Protocol):
    """Receives the events of sources. A connection is one."""

    def tell(self, source: Source, what: Happening, /) -> None: ...


class Watchers:
    """Tells each watcher of one source, and keeps their windows."""

    __slots__ = ("_source", "_watchers", "_windows")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._watchers: set[Watcher] = set()
        self._windows: dict[Watcher, int] = {}

    def __bool__(self) -> bool:
        return bool(self._watchers)

    def __contains__(self, watcher: Watcher) -> bool:
        return watcher in self._watchers

    def add(self, watcher: Watcher, window: int | None) -> None:
        self._watchers.add(watcher)
        self.set_window(watcher, window)

    def discard(self, watcher: Watcher) -> None:
        """Forgets the watcher and its window: a client that is gone does not hold a program up."""
        self._watchers.discard(watcher)
        self._windows.pop(watcher, None)

    def set_window(self, watcher: Watcher, window: int | None) -> None:
        """Reading pauses at this offset until the watcher moves it. None: it does not pause for this watcher."""
        if window is None:
            self._windows.pop(watcher, None)
        else:
            self._windows[watcher] = window

    def pause_at(self, offset: int) -> bool:
        """Whether output of this length has reached a window."""
        return bool(self._windows) and offset >= min(self._windows.values())

    def tell(self, what: Happening) -> None:
        for watcher in tuple(self._watchers):
            watcher.tell(self._source, what)
