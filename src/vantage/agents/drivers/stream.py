"""What an agent prints, line by line: its messages, and what they say as events, without secrets.

Nothing here raises on a line. A line that is no message becomes a warning; after the first few such lines they are only
counted, since the recorded stream has them all.
"""

from vantage import events as ev
from vantage.agents.adapter import Adapter, unknown
from vantage.agents.redaction import REDACTED, Redaction, may_be_secret, names_our_tool
from vantage.agents.values import Object, json_object
from vantage.errors import EventError
from vantage.events import Event
from vantage.text.sanitize import decode

MAX_STRAYS = 10
"""Lines that are no messages, of which each is a warning."""
MAX_SHOWN = 200
"""Characters that are shown of such a line."""


class Stream:
    def __init__(self, agent: str, adapter: Adapter) -> None:
        self.adapter = adapter
        self.unknown = 0
        """How many messages were of an unknown type; each is an `UnknownEvent`."""
        self.strays = 0
        """How many lines were no messages."""
        self._agent = agent
        self._redaction: Redaction | None = None

    def read(self, line: bytes) -> Object | list[Event]:
        """The message that a line is; of a line that is none, what is to be said of it."""
        if self._redaction is None and names_our_tool(line):
            self._redaction = Redaction()
        if not line.strip():
            return []
        try:
            return json_object(line)
        except EventError as error:
            return self._stray(line, str(error))

    def _stray(self, line: bytes, why: str) -> list[Event]:
        self.strays += 1
        if self.strays > MAX_STRAYS:
            return []
        shown = decode(line[: 4 * MAX_SHOWN]).rstrip()
        if may_be_secret(line, is_likely=self._redaction is not None):
            shown = REDACTED
        more = f"… ({len(line):,} bytes)" if len(shown) > MAX_SHOWN else ""
        last = "; further lines of this kind are not shown" if self.strays == MAX_STRAYS else ""
        said = f"{self._agent} printed a line that is no message ({why}){last}: {shown[:MAX_SHOWN]}{more}"
        return self.clean([ev.Warning(message=said)])

    def events(self, message: Object) -> list[Event]:
        """What a message says to people."""
        try:
            said = self.adapter.feed(message)
        except Exception:  # noqa: BLE001 -- one adapter's bug must not take the run down: the message is shown as it is
            said = [unknown(self.adapter.kind(message), message)]
        self.unknown += sum(type(event) is ev.UnknownEvent for event in said)
        return self.clean(said)

    def not_known(self, name: str, message: Object) -> list[Event]:
        """A request of a kind that the driver does not know."""
        self.unknown += 1
        return self.clean([unknown(name, message)])

    def finish(self) -> list[Event]:
        """What was held back when the stream ended."""
        return self.clean(self.adapter.finish())

    def clean(self, events: list[Event]) -> list[Event]:
        return list(map(self._redaction.clean, events)) if self._redaction else events
