"""The render specs of one timeline, as of each of its calls."""

from collections import deque

from vantage.timeline.specs.registry import SpecRegistry, SpecSet, SpecSource


class SpecHistory:
    """Specs of the conversation take precedence over recorded ones of its home, and those over the home's present ones.

    A spec that has a place in the log is registered when the timeline gets there: it draws no call before it.
    """

    def __init__(self, current: SpecSource) -> None:
        self._home = SpecRegistry(current)
        self.own = SpecRegistry(self._home)
        self._coming: deque[SpecSet] = deque()

    def expect(self, said: SpecSet) -> None:
        self._coming.append(said)

    def advance(self, seq: int | None) -> None:
        """Registers what comes before an event. An event without a number comes after everything."""
        while self._coming and (seq is None or self._coming[0].after < seq):
            said = self._coming.popleft()
            (self._home if said.of_home else self.own).take(said)
