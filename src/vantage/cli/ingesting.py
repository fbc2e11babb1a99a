"""How `vantage ingest` reads and sends.

One thread reads, another one sends: whoever writes our input never waits for the server. Events are sent in their
order, a batch at a time, each exactly once. When an answer never came, the server may have logged all of the batch, a
part of it (it was killed while it wrote) or nothing: so the log is asked what it has behind the last event that we know
of. Our events are recognised by what they say and by their times, which are set here, before anything is sent.
"""

import json
import os
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import IO, Any
from urllib.parse import quote

import click
import msgspec

from vantage.agents import StrayLine, StreamReader
from vantage.cli.client import Client, Connection, NoServer, Refused, read_token
from vantage.cli.homes import place_of
from vantage.cli.streams import leave_quietly, open_input
from vantage.events import LIVE_ONLY, Event, UnknownEvent, event_to_dict
from vantage.text.sanitize import sanitize

BATCH_S = 0.05
"""So long an event waits for others to be sent with."""
MOST_EVENTS = 1000
MOST_BYTES = 2 << 20
"""Of one batch. An event that is larger is sent alone."""
MOST_WAITING = 256 << 20
"""Bytes of events that wait while there is no server; then the input waits too."""
PATIENCE_S = 60.0
"""For a server that is gone; each try starts one if none runs."""
RETRY_S = 0.2
_OURS = ("seq", "conversation_id", "raw_offset")
"""What only the log says of an event."""
_PAGE = 1000


class Sender(threading.Thread):
    """Sends what it is given, in order. `error` says why it had to stop."""

    def __init__(self, client: Client, conversation: str, seq: int) -> None:
        super().__init__(name="sender", daemon=True)
        self._client = client
        self._connection: Connection | None = None
        self._conversation = conversation
        self._seq = seq
        """The log's last event that we know of: what is behind it may be ours."""
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._since = 0.0
        self._changed = threading.Condition()
        self._closed = False
        self.error: click.ClickException | None = None

    def put(self, event: Event) -> None:
        """Takes an event. Waits only when more wait to be sent than is sensible."""
        data = b"" if self.error is not None else _encoded(event)
        with self._changed:
            while self._size > MOST_WAITING and self.error is None:
                self._changed.wait()
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting.append(data)
            self._size += len(data)
            self._changed.notify_all()

    def finish(self) -> None:
        """Sends the rest, and returns when all is logged, or cannot be."""
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
                    for data in batch:
                        self._waiting.popleft()
                        self._size -= len(data)
                    self._since = time.monotonic()
                    self._changed.notify_all()
        except click.ClickException as error:
            _say(f"nothing more is logged: {error.message}")
            with self._changed:
                self.error = error
                self._changed.notify_all()
        finally:
            self._disconnect()

    def _next(self) -> list[bytes]:
        """What is sent next, once the first of it has waited long enough; nothing when all is done."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            while not self._closed and self._size < MOST_BYTES and len(self._waiting) < MOST_EVENTS:
                left = self._since + BATCH_S - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            batch: list[bytes] = []
            size = 0
            for data in self._waiting:
                if batch and (size + len(data) > MOST_BYTES or len(batch) == MOST_EVENTS):
                    break
                batch.append(data)
                size += len(data)
            return batch

    def _deliver(self, batch: list[bytes]) -> None:
        """Until all of it is logged."""
        deadline = time.monotonic() + PATIENCE_S
        unsure = False
        while batch:
            try:
                if unsure:
                    batch = batch[self._logged(batch) :]
                    unsure = False
                else:
                    self._seq = max(self._seq, self._ask("POST", "/events", b"[" + b",".join(batch) + b"]")["seq"])
                    return
            except Refused as refused:
                if refused.code in _NOT_TAKEN:
                    self._deliver_apart(batch, refused)
                    return
                if refused.code not in _TRY_AGAIN or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_S)
            except NoServer:
                if time.monotonic() > deadline:
                    raise
                unsure = True
                time.sleep(RETRY_S)

    def _deliver_apart(self, batch: list[bytes], refused: Refused) -> None:
        """One of them is more than the server takes, or none of its business: the others are not."""
        if len(batch) == 1:
            _say(f"an event of {len(batch[0]):,} bytes is not logged: {refused.message}")
            return
        middle = len(batch) // 2
        self._deliver(batch[:middle])
        self._deliver(batch[middle:])

    def _ask(self, method: str, below: str, body: bytes = b"") -> dict[str, Any]:
        try:
            if self._connection is None:
                self._connection = self._client.connect()
            path = f"/v1/conversations/{quote(self._conversation, safe='')}{below}"
            self._connection.send(method, path, read_token(self._client.home), body)
            return self._client.receive(self._connection)
        except (OSError, ValueError) as error:  # a line of the answer that was cut short is no number
            self._disconnect()
            raise NoServer(f"the server has gone: {error}") from error

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _logged(self, batch: list[bytes]) -> int:
        """How many of a batch are in the log already: what is written of it is its beginning."""
        ours = [_said(json.loads(data)) for data in batch]
        count = 0
        following: int | None = self._seq
        while following is not None:
            page = self._ask("GET", f"/events?after={following}&limit={_PAGE}")
            for event in page["events"]:
                if count < len(ours) and _said(event) == ours[count]:
                    count += 1
                    self._seq = event["seq"]
            following = page["next"]
        return count


_TRY_AGAIN = frozenset({"unavailable", "too_many"})
_NOT_TAKEN = frozenset({"too_large", "bad_input", "bad_event", "validation"})


def _said(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in _OURS}


def _encoded(event: Event) -> bytes:
    """As it is sent, with its time: lone surrogates, which no JSON may have, are question marks."""
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
    """Reads to the end. What is no message is said on stderr, and does not fail the run."""
    place = place_of(home)
    with Client(place) as client, open_input(file, _say, "messages") as stream:
        made, seq = _conversation(client, conversation, name)
        _say(f"conversation {made}: watch it at {_address(place)}, or with 'vantage watch {made}'")
        reader = StreamReader(source)
        sender = Sender(client, made, seq)
        sender.start()
        interrupted = False
        try:
            _read(stream, reader, sender, _Tee() if tee else None, verbose=verbose)
        except KeyboardInterrupt:
            interrupted = True
        sender.finish()
    if reader.unknown and not verbose:
        many = "1 message" if reader.unknown == 1 else f"{reader.unknown} messages"
        other = f", and --from {reader.resembles} may know them" if reader.resembles else ""
        _say(f"{many} of unknown type not logged: -v logs them{other}")
    if sender.error is not None:
        _say(f"{sender.left} of the events were not logged")
        raise SystemExit(sender.error.exit_code)
    if interrupted:
        raise SystemExit(130)


def _conversation(client: Client, conversation: str | None, name: str | None) -> tuple[str, int]:
    """The conversation to add to, and the number of its last event."""
    if conversation is not None:
        try:
            about = client.conversation("GET", conversation)
            return about["id"], about["seq"] or 0
        except Refused as refused:
            if refused.code != "not_found":
                raise
    fields = {"id": conversation, "name": name, "cwd": os.getcwd()}  # noqa: PTH109
    made = client.ask("POST", "/v1/conversations", {key: value for key, value in fields.items() if value is not None})
    return made["id"], made["seq"] or 0


def _address(place: str) -> str:
    with open(os.path.join(place, "server.json"), "rb") as file:  # noqa: PTH118, PTH123
        return str(json.load(file)["url"])


def _read(stream: IO[bytes], reader: StreamReader, sender: Sender, tee: "_Tee | None", *, verbose: bool) -> None:
    """To the end, even when nothing can be logged any more: whoever writes there must not die of it."""
    try:
        while chunk := stream.read(1 << 16):
            if tee is not None:
                tee.write(chunk)
            _take(reader.feed(chunk), sender, verbose=verbose)
    finally:
        _take(reader.finish(), sender, verbose=verbose)


def _take(items: "list[Event | StrayLine]", sender: Sender, *, verbose: bool) -> None:
    for item in items:
        if isinstance(item, StrayLine):
            _say(f"line {item.number}: {item.why}")
        elif item.type in LIVE_ONLY:
            continue  # the terminal tells such things to those who look at it; a log has none of them
        elif verbose or not isinstance(item, UnknownEvent):
            sender.put(item)


class _Tee:
    """Standard output. When nobody reads it any more, reading goes on without."""

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
