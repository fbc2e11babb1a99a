"""What all adapters share: a table of messages, and the removal of repetition: one start and end per call, each text
once.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from vantage import events as ev
from vantage.agents.values import Object, text
from vantage.events import Agent, Event, Json

Handler = Callable[[Object], Iterable[Event]]


class Known(NamedTuple):
    """A message that an agent is known to print."""

    handle: Handler
    keys: tuple[str, ...] | None = ()
    """Fields that such messages always have: the stream is recognised by them. `None`: too common for that."""


def nothing(message: Object) -> tuple[Event, ...]:  # noqa: ARG001 -- a handler
    """For messages that say nothing to people."""
    return ()


def silent(*kinds: str) -> dict[str, Known]:
    """Messages that are known and show nothing to people."""
    return dict.fromkeys(kinds, Known(nothing))


def unknown(name: str, message: Object) -> Event:
    return ev.UnknownEvent(name=name, data=message)


class Adapter:
    """One agent's stream: messages in, events out. A stream has an adapter of its own, which remembers what is open."""

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        """Type → the handler of such a message. A type that is not listed is unknown."""
        self.calls = Calls()
        self.speech = Speech()

    def kind(self, message: Object) -> str:
        """The table's key for a message."""
        return text(message, "type")

    def recognises(self, message: Object) -> bool:
        """Whether only this agent prints such a message."""
        known = self.known.get(self.kind(message))
        return known is not None and known.keys is not None and all(key in message for key in known.keys)

    def feed(self, message: Object) -> list[Event]:
        kind = self.kind(message)
        known = self.known.get(kind)
        return list(known.handle(message)) if known is not None else [unknown(kind, message)]

    def finish(self) -> list[Event]:
        """Returns the events that were held back, when the stream has ended."""
        return []


class OpenCall(NamedTuple):
    tool: str
    args: Json
    agent: Agent | None


class Calls:
    """Gives each call one start and one end, however often the stream reports them.

    A call without an id in the stream gets one; ends without an id are matched to such calls in the order in which they
    began.
    """

    def __init__(self) -> None:
        self.open: dict[str, OpenCall] = {}
        self._seen: set[str] = set()
        self._nameless: list[str] = []
        self._count = 0

    def start(
        self, call_id: str, tool: str, args: Json, *, agent: Agent | None = None, ts: int | None = None
    ) -> Iterator[Event]:
        if not call_id:
            call_id = self._new_id()
            self._nameless.append(call_id)
        if call_id in self._seen:
            return
        self._seen.add(call_id)
        self.open[call_id] = OpenCall(tool, args, agent)
        yield ev.ToolStart(tool=tool, tool_call_id=call_id, args=args, agent=agent, ts=ts)

    def _new_id(self) -> str:
        self._count += 1
        return f"call {self._count}"

    def output(self, call_id: str, printed: str, mode: Literal["append", "replace"] = "append") -> Iterator[Event]:
        """Adds to what a running call has printed, or replaces it."""
        if printed and call_id in self.open:
            yield ev.ToolOutput(tool_call_id=call_id, output=printed, mode=mode, agent=self.open[call_id].agent)

    def end(
        self,
        call_id: str,
        output: Json = None,
        *,
        args: Json = None,
        is_error: bool = False,
        error: Json = None,
        details: Json = None,
        duration_ms: float | None = None,
        agent: Agent | None = None,
        ts: int | None = None,
    ) -> Iterator[Event]:
        """Ends a call, even one whose start was not seen. A second end is ignored."""
        if not call_id:
            call_id = self._nameless.pop(0) if self._nameless else self._new_id()
        call = self.open.pop(call_id, None)
        if call is None and call_id in self._seen:
            return
        self._seen.add(call_id)
        yield ev.ToolEnd(
            tool_call_id=call_id,
            tool=call.tool if call else None,
            args=args,
            output=output,
            is_error=is_error,
            error=error,
            details=details,
            duration_ms=duration_ms,
            agent=call.agent if call else agent,
            ts=ts,
        )

    def whole(
        self, call_id: str, tool: str, args: Json, output: Json = None, *, agent: Agent | None = None
    ) -> Iterator[Event]:
        """A call that the stream reports only when it is over."""
        yield from self.start(call_id, tool, args, agent=agent)
        yield from self.end(call_id, output)


class Speech:
    """Messages and reasoning, as deltas, as the text so far, or whole. Text that was emitted already is not emitted
    again.
    """

    def __init__(self) -> None:
        self._so_far: dict[tuple[str, bool], str] = {}
        self._whole: set[tuple[str, bool]] = set()

    def delta(
        self, message_id: str, piece: str, *, reasoning: bool = False, agent: Agent | None = None, ts: int | None = None
    ) -> Iterator[Event]:
        """A delta of a message. Deltas after the whole message are ignored."""
        if piece and (message_id, reasoning) not in self._whole:
            say = ev.ReasoningDelta if reasoning else ev.AssistantDelta
            yield say(text=piece, message_id=message_id or None, agent=agent, ts=ts)

    def so_far(
        self, message_id: str, said: str, *, reasoning: bool = False, agent: Agent | None = None, ts: int | None = None
    ) -> Iterator[Event]:
        """A message as it stands: emits what is new. When its beginning was changed, nothing is emitted until the whole
        comes.
        """
        before = self._so_far.get((message_id, reasoning), "")
        if message_id and said.startswith(before):
            self._so_far[message_id, reasoning] = said
            yield from self.delta(message_id, said[len(before) :], reasoning=reasoning, agent=agent, ts=ts)

    def whole(
        self, message_id: str, said: str, *, reasoning: bool = False, agent: Agent | None = None, ts: int | None = None
    ) -> Iterator[Event]:
        """The complete message. An empty one emits nothing."""
        self._so_far.pop((message_id, reasoning), None)
        if (message_id, reasoning) in self._whole or not said.strip():
            return
        if message_id:
            self._whole.add((message_id, reasoning))
        say = ev.AssistantReasoning if reasoning else ev.AssistantText
        yield say(text=said, message_id=message_id or None, agent=agent, ts=ts)
