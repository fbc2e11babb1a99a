"""The requests of one conversation for its subscribers: how each stands now, and which have changed since when."""

from vantage.conversation.requests.ledger import Entry, Ledger
from vantage.events import Event


class RequestLog:
    def __init__(self) -> None:
        self.version = 0
        self._ledger = Ledger()
        self._changed: dict[str, tuple[int, int]] = {}
        """Request → the version and the number of the event that changed it last, in this order."""

    def add(self, event: Event) -> None:
        entry = self._ledger.apply(event)
        if entry is not None:
            self.version += 1
            self._changed.pop(entry.request.request_id, None)
            self._changed[entry.request.request_id] = (self.version, event.seq or 0)

    def open(self) -> list[Entry]:
        """The open requests, the oldest first."""
        return self._ledger.open()

    def newer(self, version: int) -> list[Entry]:
        """The requests that changed after a version, in order."""
        return self._since(0, version)

    def after(self, seq: int) -> list[Entry]:
        """The requests that changed after an event, in order."""
        return self._since(1, seq)

    def _since(self, which: int, position: int) -> list[Entry]:
        found: list[Entry] = []
        for request_id, at in reversed(self._changed.items()):
            if at[which] <= position:
                break
            if (entry := self._ledger.get(request_id)) is not None:
                found.append(entry)
        return found[::-1]
