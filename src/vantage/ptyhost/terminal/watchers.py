"""The clients that watch one terminal, and how far each lets its output be read.

A window is an offset in the output. Reading pauses at the nearest one, and a program that prints more waits in its
write, as with a terminal that draws slowly.
"""

from typing import Generic, Protocol, TypeVar

from vantage.ptyhost.protocol import Happening

Source = TypeVar("Source")
Source_contra = TypeVar("Source_contra", contravariant=True)


class Watcher(Protocol[Source_contra]):
    """Gets a terminal's events. A connection is one."""

    def tell(self, terminal: Source_contra, what: Happening) -> None: ...


class Watchers(Generic[Source]):
    """Tells each watcher of one source, and keeps their windows."""

    __slots__ = ("_source", "_watchers", "_windows")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._watchers: set[Watcher[Source]] = set()
        self._windows: dict[Watcher[Source], int] = {}

    def __bool__(self) -> bool:
        return bool(self._watchers)

    def __contains__(self, watcher: Watcher[Source]) -> bool:
        return watcher in self._watchers

    def add(self, watcher: Watcher[Source], window: int | None) -> None:
        self._watchers.add(watcher)
        self.set_window(watcher, window)

    def discard(self, watcher: Watcher[Source]) -> None:
        """Forgets the watcher and its window, so that a client that is gone does not block a program."""
        self._watchers.discard(watcher)
        self._windows.pop(watcher, None)

    def set_window(self, watcher: Watcher[Source], window: int | None) -> None:
        """Sets where reading pauses until the watcher moves it. None: it does not pause for this watcher."""
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
