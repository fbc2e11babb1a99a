"""The list of conversations for one socket: all of them first, then those that have changed or are gone.

Nothing is queued: the list remembers which conversations may have changed, describes them when the socket can be
written to, and sends those that differ from what was sent before.
"""

from collections.abc import Callable, Sequence
from typing import Any

from vantage.conversation.bus import HOME, Bus, Following, Listed, Message
from vantage.conversation.throttle import Throttle
from vantage.errors import NotFound, VantageError
from vantage.server.security.scoped import Reach

_NOT_COMPARED = frozenset({"last_activity"})
"""Changes with every event; it is sent with the next change of something else."""
_NOT_LISTED = frozenset({"ok", "seq"})


class ConversationList:
    def __init__(self, bus: Bus, reach: Reach, wake: Callable[[], None], interval_s: float) -> None:
        """`wake` is called when `changes` has something."""
        self._bus = bus
        self._reach = reach
        self._throttle = Throttle(wake, interval_s)
        self._following: Following | None = None
        self._sent: dict[str, dict[str, Any]] = {}
        self._changed: set[str] = set()
        self._begun = False

    async def open(self) -> None:
        self._following = await self._bus.subscribe(HOME, 0, self._receive)
        self._throttle.request()

    def close(self) -> None:
        self._throttle.cancel()
        if self._following is not None:
            self._following.end()
            self._following = None

    def _receive(self, messages: Sequence[Message]) -> None:
        self._changed |= {message.conversation_id for message in messages if isinstance(message, Listed)}
        self._throttle.request()

    async def changes(self) -> dict[str, Any] | None:
        """What is new since the last call; None when nothing is."""
        if not self._begun:
            self._begun, self._changed = True, set()
            answer = await self._bus.request(HOME, "list")
            listed = [each for each in answer["conversations"] if self._reach.has(each["id"])]
            self._sent = {each["id"]: each for each in listed}
            return {"changed": listed, "removed": []}
        names, self._changed = self._changed, set()
        changed, removed = [], []
        for name in sorted(name for name in names if name in self._sent or self._reach.has(name)):
            now = await self._described(name)
            if now is None:
                if self._sent.pop(name, None) is not None:
                    removed.append(name)
            elif _compared(now) != _compared(self._sent.get(name, {})):
                self._sent[name] = now
                changed.append(now)
        return {"changed": changed, "removed": removed} if changed or removed else None

    async def _described(self, name: str) -> dict[str, Any] | None:
        """A conversation as the list has it; as it was sent, when it cannot be read now."""
        try:
            about = await self._bus.request(name, "describe")
        except NotFound:
            return None
        except VantageError:
            return self._sent.get(name)
        return {field: value for field, value in about.items() if field not in _NOT_LISTED}


def _compared(described: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in described.items() if field not in _NOT_COMPARED}
