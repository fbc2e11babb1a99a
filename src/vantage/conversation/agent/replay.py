"""One run of an agent, from what is recorded of it: the driver's state, events, and what is still to be sent.

No IO. The stream's lines and the journal's records are taken in one order, live and after a restart: a line is received
when it has ended, a record takes effect behind the bytes that it names. So the same files give the same, however they
are cut, and a server that was killed is continued by the next one.

Nothing is sent from here. `due` says what is to be sent next: what the driver wants, then what people want. It is gone
from there once the journal has a record with its key; a message is sent once because of that, and for no other reason.
"""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from vantage import events as ev
from vantage.agents.drivers.driver import Delivery, Driver, Output, Send
from vantage.conversation.agent.records import Record
from vantage.events import (
    Agent,
    AgentState,
    Answer,
    Event,
    Json,
    Request,
    RequestClosed,
    TurnComplete,
    UserMessage,
    text_of_value,
)
from vantage.text.chunks import Lines

_SHOWN = 400
"""Characters of a line that cannot be used, and of a message that was not delivered, that are shown."""

LOST = "it was lost with the PTY host, which ended; the next message continues its session if it can"

_log = logging.getLogger(__name__)


class Place(NamedTuple):
    """Where an event arose: behind so many bytes of the stream, the how manyth event there."""

    offset: int
    nth: int


class Step(NamedTuple):
    """What follows from one line or one record. Its events are logged together."""

    events: list[Event]
    last: Place
    """The place of the last event."""


class Replay:
    def __init__(
        self,
        start: Record,
        driver: Driver,
        *,
        stderr: Callable[[int], str] = lambda _: "",
        attached: Callable[[list[Json]], list[Json]] = lambda ids: ids,
    ) -> None:
        """`start` is the record that began the run. `stderr` gives the last lines of the agent's stderr from an offset
        on, `attached` the attachments of a message by their ids.
        """
        self.run = start.run
        self.driver = driver
        self.n = 0
        """The number of the last message that was sent."""
        self.at = start.at
        """Up to where the stream was received."""
        self.over = False
        """The process has ended."""
        self.state = AgentState(state="starting", agent=Agent(id=start.agent, name=start.agent))
        """As the driver told it last."""
        self.display = ""
        """The display instruction of the turn that runs."""
        self.logged_up_to = Place(-1, -1)
        """The last place of this run in the conversation's log."""
        self.fates: dict[int, Delivery] = {}
        """What became of messages of people, by their number in the log; those that wait are not in it."""
        self.requests: dict[str, Request] = {}
        """The requests of the run that are open for the agent, by our id."""
        self._start = start
        self._stderr = stderr
        self._attached = attached
        self._lines = Lines(start.at)
        self._ts = start.ts
        self._place = Place(start.at, -1)
        self._ids: dict[str, str] = {}
        """The protocol's id of a request → ours."""
        self._sent: set[str] = set()
        self._wanted: dict[str, Send] = {}
        """What is to be sent, in order, by key."""
        self._says: dict[int, UserMessage] = {}
        """Messages of people that have no record yet."""
        self._answers: dict[str, Answer] = {}
        self._refusals: dict[str, str] = {}
        self._interrupts: list[str] = []

    @property
    def in_turn(self) -> bool:
        return self.driver.state in ("working", "waiting")

    @property
    def undelivered(self) -> list[int]:
        """The numbers of the messages of people that the agent has not got."""
        return list(self._says)

    # what is recorded

    def receive(self, data: bytes) -> Iterator[Step]:
        """What the agent printed next. The records that take effect before it were applied."""
        self.at += len(data)
        begin = self._lines.offset
        for line in self._lines.feed(data):
            end = self._lines.offset
            yield from self._step(end, self._call(partial(self.driver.receive, line, begin), line))
            begin = end

    def _call(self, call: Callable[[], Output], about: bytes) -> Output:
        """What the driver makes of a record. A driver that fails leaves a warning, and the run goes on."""
        try:
            return call()
        except Exception as error:  # noqa: BLE001 -- one record must not end the run
            _log.exception("run %s: a record of the agent could not be taken", self.run)
            shown = about[:_SHOWN].decode("utf-8", "backslashreplace")
            why = f"what the agent printed could not be read ({type(error).__name__}): {shown}"
            return Output(events=[ev.Warning(message=why)])

    def apply(self, record: Record) -> Iterator[Step]:
        """The next record. The bytes before it were received."""
        self._ts = record.ts
        match record.t:
            case "start":
                yield from self._step(record.at, self._call(self.driver.start, b"start"))
            case "sent":
                yield from self._take_sent(record)
            case "exit" | "lost":
                yield from self._end(record)

    def _take_sent(self, record: Record) -> Iterator[Step]:
        self.n = record.n
        self._sent.add(record.key)
        self._wanted.pop(record.key, None)
        self.display = record.display
        kind, _, subject = record.key.partition(" ")
        if kind == "say" and subject.isdecimal():
            self._says.pop(int(subject), None)
            self.fates.setdefault(int(subject), "now")
        elif kind in ("answer", "refuse"):
            self._answers.pop(subject, None)
            self._refusals.pop(subject, None)
            self.requests.pop(subject, None)
        message = _message(record.data)
        sent = self._call(lambda: self.driver.sent(record.n, record.key, message), record.data.encode())
        yield from self._step(record.at, sent)

    def _end(self, record: Record) -> Iterator[Step]:
        begin = self._lines.offset
        rest = self._lines.finish()
        if rest:  # it died in the middle of a line
            yield from self._step(record.at, self._call(lambda: self.driver.receive(rest, begin), rest))
        was_in_turn = self.in_turn
        stderr = self._stderr(self._start.stderr)
        output = self._call(lambda: self.driver.exited(record.status, stderr), b"exit")
        events = [ours for event in output.events for ours in self._named(event, record.at)]
        kinds = {type(event) for event in events}
        for request_id in list(self.requests):
            events += self._closed(request_id, RequestClosed(why="lost"))
        events += [
            ev.Warning(message=f"the agent ended before it got this message, say it again: {event.text[:_SHOWN]}")
            for event in self._says.values()
        ]
        if was_in_turn and TurnComplete not in kinds:
            events.append(TurnComplete(finish="exited"))
        if self.state.state != "exited" or record.t == "lost":
            events = [event for event in events if not isinstance(event, AgentState)]
            why = LOST if record.t == "lost" else self.state.error
            self.state = replace(self.state, state="exited", error=why)
            events.append(self.state)
        self.over = True
        self.requests.clear()
        self._wanted.clear()
        if events:
            sourced = [self._sourced(event, record.at) for event in events]
            yield Step(sourced, self._place)

    def _step(self, offset: int, output: Output) -> Iterator[Step]:
        """One step, if it has events."""
        for send in output.sends:
            if send.key not in self._sent:
                self._wanted.setdefault(send.key, send)
        named = [ours for event in output.events for ours in self._named(event, offset)]
        if named:
            sourced = [self._sourced(event, offset) for event in named]
            yield Step(sourced, self._place)

    # what an event becomes

    def _named(self, event: Event, offset: int) -> Iterator[Event]:
        """The event with our ids instead of the protocol's."""
        if isinstance(event, Request):
            name = f"{self.run}-{offset}"
            ours = name if name not in self._ids.values() else f"{name}-{len(self._ids)}"
            self._ids[event.request_id or text_of_value(event.protocol_id)] = ours
            self.requests[ours] = replace(event, request_id=ours)
            yield self.requests[ours]
        elif isinstance(event, RequestClosed):
            yield from self._closed(self._ids.get(event.request_id, ""), event)
        else:
            if isinstance(event, AgentState):
                self.state = event
            yield event

    def _closed(self, request_id: str, event: RequestClosed) -> Iterator[Event]:
        """The end of a request that the agent asks no longer; nothing where the log has closed it already."""
        if self.requests.pop(request_id, None) is not None and self._refusals.pop(request_id, None) is None:
            answered = self._answers.pop(request_id, None) is not None
            yield replace(event, request_id=request_id, why="too_late" if answered else event.why)

    def _sourced(self, event: Event, offset: int) -> Event:
        at_same = offset == self._place.offset
        self._place = Place(offset, self._place.nth + 1 if at_same else 0)
        source = {"run": self.run, "offset": offset, "index": self._place.nth}
        return replace(event, source=source, ts=event.ts if event.ts is not None else self._ts)

    # what people want

    def logged(self, event: Event) -> None:
        """An event of the conversation's log, in the log's order: it may be for this agent, or from it."""
        source = event.source if isinstance(event.source, dict) else {}
        if source.get("run") == self.run and isinstance(source.get("offset"), int):
            self.logged_up_to = max(self.logged_up_to, Place(source["offset"], source.get("index", 0)))
        elif isinstance(event, UserMessage) and source.get("run") == self.run and event.seq is not None:
            self._says[event.seq] = event
        elif isinstance(event, Answer) and event.request_id.startswith(f"{self.run}-"):
            self._answers[event.request_id] = event
        elif isinstance(event, RequestClosed) and event.request_id.startswith(f"{self.run}-"):
            self._refusals[event.request_id] = event.why

    def interrupt(self, key: str) -> None:
        if key not in self._sent and key not in self._interrupts:
            self._interrupts.append(key)

    def due(self) -> Send | None:
        """What is to be sent next. It stays due until it has a record."""
        if self.over:
            return None
        if not self._wanted:
            self._want_next()
        return next(iter(self._wanted.values()), None)

    def drop(self, key: str) -> None:
        """A message that cannot be made is not sent."""
        self._wanted.pop(key, None)
        self._sent.add(key)

    def _want_next(self) -> None:
        """Asks the driver for the next thing that a person wants, the most urgent kind first."""
        while self._interrupts:
            if self._want(self.driver.interrupt(self._interrupts.pop(0))):
                return
        for request_id, answer in list(self._answers.items()):
            request = self.requests.get(request_id)
            key = f"answer {request_id}"
            if request is not None and self._want(self.driver.answer(key, request, answer)):
                return
        for request_id, why in list(self._refusals.items()):
            request = self.requests.get(request_id)
            key = f"refuse {request_id}"
            if request is not None and self._want(self.driver.refuse(key, request, why)):
                return
        for seq, event in list(self._says.items()):
            delivery = self.driver.delivery()
            if delivery in ("queued", "refused"):
                return
            self.fates[seq] = delivery
            if self._want(self.driver.say(f"say {seq}", event.text, self._attached(_ids_of(event)))):
                return
            del self._says[seq]

    def _want(self, output: Output) -> bool:
        new = {send.key: send for send in output.sends if send.key not in self._sent}
        self._wanted |= new
        return bool(new)


def _ids_of(event: UserMessage) -> list[Json]:
    return list(event.attachments) if isinstance(event.attachments, list) else []


def _message(data: str) -> Json:
    """The message that was sent, as JSON."""
    try:
        return msgspec.json.decode(data)
    except msgspec.MsgspecError:
        return data
