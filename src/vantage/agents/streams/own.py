"""Our own events, unchanged."""

from vantage.agents.adapter import Adapter
from vantage.agents.values import Object
from vantage.events import Event, UnknownEvent, decode_event

_COMMON = ("error", "warning")
"""Types that other agents' streams have too, with the same meaning."""


class Own(Adapter):
    def recognises(self, message: Object) -> bool:
        return message.get("type") not in _COMMON and not isinstance(decode_event(message), UnknownEvent)

    def feed(self, message: Object) -> list[Event]:
        return [decode_event(message)]
