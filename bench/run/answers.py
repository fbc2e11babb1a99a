"""For what waits on other processes: a run that says itself how long it took, and what is closed at the end."""

from collections.abc import Callable


class Milliseconds(float):
    """What a run took, by the clock on the wall; the worker's own measure of processor time is not asked."""


class Several(tuple[float, ...]):
    """What a run came to where one run is enough for several lines of the table, in their order."""

    __slots__ = ()


AT_END: list[Callable[[], object]] = []
"""Called by the worker when it is told no more."""
