"""How `vantage ingest` reads a stream and sends its events.

One thread reads and another sends, so the program that writes the input never waits for the server. Events are sent in
order, a batch at a time, each exactly once. When an answer does not arrive, the server may have logged all of the
batch, a part of it (it was killed while it wrote) or nothing: then the log is read from the last event that is known to
be in it. Our events are recognised by their fields and by their times, which are set here before they are sent.
"""

import json
import os
import re
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import IO, Any, NamedTuple

import click
import msgspec

from vantage.agents import StrayLine, StreamReader
from vantage.cli.arguments.conversation import CONVERSATION, place_of, possible_id
from vantage.cli.display.streams import leave_quietly, open_input
from vantage.cli.errors import failed
from vantage.cli.home_client import HomeClient
from vantage.client import requests
from vantage.client.requests import Request, conversation_path
from vantage.client.retry import Retry
from vantage.client.transport.connection import Connection
from vantage.errors import InputError, NoServer, NotFound, TooMany, Unavailable, VantageError
from vantage.events import (
    SERVER_ONLY,
    TERMINAL_ONLY,
    AgentBlockBegin,
    AgentBlockEnd,
    Event,
    ToolEnd,
    ToolStart,
    UnknownEvent,
    event_to_dict,
)
from vantage.text.sanitize import sanitize

BATCH_S = 0.05
"""How long an event waits for others, to be sent with them."""
MAX_EVENTS = 1000
MAX_BYTES = 2 << 20
"""Limits of one batch. A larger event is sent alone."""
MAX_WAITING = 256 << 20
"""Bytes of events that may wait while there is no server. Above it, reading stops."""
TIMEOUT_S = 60.0
"""How long a server may be gone. Each attempt starts one if none runs."""
_LINES = re.compile(rb"[^\n]*\n|[^\n]+")
_OURS = ("seq", "conversation_id", "raw_offset")
"""Fields that the log adds to an event."""
_PAGE = 1000
_SAID_BY_SERVERS = SERVER_ONLY - TERMINAL_ONLY
"""Types of events about which nothing is shown in their place, so they count as lost."""


class Waiting(NamedTuple):
    """An event as it is sent."""

    data: bytes
    line: int
    """The line of the input that brought it."""


class Sender(threading.Thread):
    """Sends events in order. `error` says why it stopped, `refused` counts the events that the server refused."""

    def __init__(self, client: HomeClient, conversation: str, seq: int) -> None:
        super().__init__(name="sender", daemon=True)
        self._client = client
        self._connection: Connection | None = None
        self._conversation = conversation
        self._seq = seq
        """The last event that is known to be in the log. Events after it may be ours."""
        self._waiting: deque[Waiting] = deque()
        self._size = 0
        self._since = 0.0
        self._changed = threading.Condition()
        self._closed = False
        self.error: VantageError | None = None
        self.refused = 0

    def put(self, event: Event, line: int) -> None:
        """Queues an event; blocks while the queue is full."""
        data = b"" if self.error is not None else _encoded(event)
        with self._changed:
            while self._size > MAX_WAITING and self.error is None:
                self._changed.wait()
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting.append(Waiting(data, line))
            self._size += len(data)
            self._changed.notify_all()

    def finish(self) -> None:
        """Sends the rest. Returns when everything is logged, or cannot be."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.join()

    @property
    def left(self) -> int:
        with self._changed:
            return len(self._waiting)

    def run(self) -> None:
        try:
            while batch := self._next():
                self._deliver(batch)
                with self._changed:
                    for event in batch:
                        self._waiting.popleft()
                        self._size -= len(event.data)
                    self._since = time.monotonic()
                    self._changed.notify_all()
        except VantageError as error:
            _say(f"nothing more is logged: {failed(error).message}")
            with self._changed:
                self.error = error
                self._changed.notify_all()
        finally:
            self._disconnect()

    def _next(self) -> list[Waiting]:
        """The next batch, once its first event has waited long enough; empty at the end."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            while not self._closed and self._size < MAX_BYTES and len(self._waiting) < MAX_EVENTS:
                left = self._since + BATCH_S - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            batch: list[Waiting] = []
            size = 0
            for event in self._waiting:
                if batch and (size + len(event.data) > MAX_BYTES or len(batch) == MAX_EVENTS):
                    break
                batch.append(event)
                size += len(event.data)
            return batch

    def _deliver(self, batch: list[Waiting]) -> None:
        """Sends a batch until all of it is logged."""
        retry = Retry(TIMEOUT_S)
        unsure = False
        while batch:
            try:
                if unsure:
                    batch = batch[self._logged(batch) :]
                    unsure = False
                else:
                    body = b"[" + b",".join([event.data for event in batch]) + b"]"
                    path = conversation_path(self._conversation, "/events")
                    self._seq = max(self._seq, self._ask(Request("POST", path, body))["seq"])
                    return
            except InputError as refused:
                self._deliver_apart(batch, refused)
                return
            except NoServer:
                if not retry.pause():
                    raise
                unsure = True
            except (Unavailable, TooMany):
                if not retry.pause():
                    raise

    def _deliver_apart(self, batch: list[Waiting], refused: InputError) -> None:
        """Logs the batch without the one event that the server refuses as too large or malformed."""
        if len(batch) == 1:
            [event] = batch
            why = failed(refused).message
            _say(f"line {event.line}: an event of {len(event.data):,} bytes is not logged: {why}")
            self.refused += 1
            return
        middle = len(batch) // 2
        self._deliver(batch[:middle])
        self._deliver(batch[middle:])

    def _ask(self, request: Request) -> dict[str, Any]:
        if self._connection is None:
            self._connection = self._client.connect()
        try:
            self._connection.send(request)
            return self._connection.receive()
        except NoServer:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _logged(self, batch: list[Waiting]) -> int:
        """How many events of a batch are in the log. The log has the first events of a batch, never a later one without
        them.
        """
        ours = [_said(json.loads(event.data)) for event in batch]
        count = 0
        following: int | None = self._seq
        while following is not None:
            page = self._ask(requests.events(self._conversation, after=following, limit=_PAGE))
            for event in page["events"]:
                if count < len(ours) and _said(event) == ours[count]:
                    count += 1
                    self._seq = event["seq"]
            following = page["next"]
        return count


def _said(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in _OURS}


def _encoded(event: Event) -> bytes:
    """The event as JSON, with its time. Lone surrogates, which JSON cannot have, become question marks."""
    data = event_to_dict(event)
    if not isinstance(data.get("ts"), int):
        data["ts"] = round(time.time() * 1000)
    try:
        return msgspec.json.encode(data)
    except (UnicodeError, TypeError, ValueError, msgspec.MsgspecError):
        return json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "replace")


def run(
    *,
    file: str,
    conversation: str | None,
    name: str | None,
    source: str,
    tee: bool,
    verbose: bool,
    home: str | None,
) -> None:
    """Reads to the end. Lines that are no message, or that only a server may log, are reported on stderr; a lost event
    makes the exit code 1.
    """
    place = place_of(home)
    if named := conversation or os.environ.get(CONVERSATION):
        possible_id(named)
    with HomeClient(place) as client, open_input(file, _say, "messages") as stream:
        made, seq = _conversation(client, named or None, name)
        _say(f"conversation {made}: watch it at {_address(place)}, or with 'vantage watch {made}'")
        reader = StreamReader(source)
        sender = Sender(client, made, seq)
        sender.start()
        interrupted = False
        lost = 0
        try:
            lost = _read(stream, reader, sender, _Tee() if tee else None, verbose=verbose)
        except KeyboardInterrupt:
            interrupted = True
        sender.finish()
    if reader.unknown and not verbose:
        many = "1 message" if reader.unknown == 1 else f"{reader.unknown} messages"
        other = f", and --from {reader.resembles} may know them" if reader.resembles else ""
        _say(f"{many} of unknown type not logged: -v logs them{other}")
    lost += sender.refused + sender.left
    if lost:
        _say("1 of the events was not logged" if lost == 1 else f"{lost} of the events were not logged")
        raise SystemExit(failed(sender.error).exit_code if sender.error is not None else 1)
    if interrupted:
        raise SystemExit(130)


def _conversation(client: HomeClient, conversation: str | None, name: str | None) -> tuple[str, int]:
    """The conversation to add to, and the number of its last event."""
    if conversation is not None:
        try:
            about = client.answer(requests.describe(conversation))
            return about["id"], about["seq"] or 0
        except NotFound:
            pass
    fields = {"id": conversation, "name": name, "cwd": os.getcwd()}  # noqa: PTH109
    made = client.answer(requests.create(fields))
    return made["id"], made["seq"] or 0


def _address(place: str) -> str:
    with open(os.path.join(place, "server.json"), "rb") as file:  # noqa: PTH118, PTH123
        return str(json.load(file)["url"])


def _read(stream: IO[bytes], reader: StreamReader, sender: Sender, tee: "_Tee | None", *, verbose: bool) -> int:
    """Reads to the end even when nothing can be logged any more, so that the writing program does not fail. Returns how
    many messages were lost.
    """
    lost = 0
    try:
        while chunk := stream.read(1 << 16):
            if tee is not None:
                tee.write(chunk)
            for line in _LINES.findall(chunk):
                lost += _take(reader.feed(line), reader.number, sender, verbose=verbose)
    finally:
        lost += _take(reader.finish(), reader.number, sender, verbose=verbose)
    return lost


def _take(items: "list[Event | StrayLine]", line: int, sender: Sender, *, verbose: bool) -> int:
    """Sends the events of a line. Returns how many messages are lost."""
    lost = 0
    for item in items:
        if isinstance(item, StrayLine):
            lost += item.is_message
            _say(f"line {item.number}: {item.why}")
        elif (event := _foreign(item)) is not None and (verbose or not isinstance(event, UnknownEvent)):
            sender.put(event, line)
        elif _named(item) in _SAID_BY_SERVERS:
            lost += 1
            _say(f"line {line}: {_named(item)} is not taken: a server logs it of its own agents and questions only")
    return lost


def _foreign(event: Event) -> Event | None:
    """An event of another server's terminal as the row of a command that ran elsewhere; None if it has no row.

    A server logs terminal events of its own terminals only, so that a saved log cannot change what a terminal seems to
    do.
    """
    common: dict[str, Any] = {"ts": event.ts, "agent": event.agent}
    if isinstance(event, AgentBlockBegin):
        args = {"command": event.cmd, **({"cwd": event.cwd} if event.cwd else {})}
        return ToolStart(tool="shell", tool_call_id=f"elsewhere-{event.block_id}", args=args, **common)
    if isinstance(event, AgentBlockEnd):
        ended = {"exit_code": event.exit_code, "done_because": event.done_because}
        call = f"elsewhere-{event.block_id}"
        return ToolEnd(tool_call_id=call, details=ended, duration_ms=event.duration_ms, **common)
    return None if _named(event) in SERVER_ONLY else event


def _named(event: Event) -> str:
    return event.name if isinstance(event, UnknownEvent) else event.type


class _Tee:
    """Standard output. When its reader has gone, nothing more is written, and ingesting continues."""

    def __init__(self) -> None:
        self._open = True

    def write(self, data: bytes) -> None:
        if not self._open:
            return
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self._open = False
            with suppress(OSError):
                leave_quietly()


def _say(message: str) -> None:
    click.echo(f"vantage ingest: {sanitize(message)}", err=True)
