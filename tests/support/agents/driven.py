"""Runs a driver against a real agent over pipes, in this process, and records both directions.

It is the runner without a server: every message gets the next number, its record is kept, then the driver is told of
it. `Driven.records` is what a later process would find on disk, and what the recordings of tests are.
"""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from vantage.agents.drivers.driver import Driver, Moment, Options, Output
from vantage.agents.drivers.known import KNOWN
from vantage.events import Answer, Event, Request

TIMEOUT = 60


class Line(msgspec.Struct, tag="line"):
    """What the agent printed."""

    offset: int
    text: str


class Call(msgspec.Struct, tag="call"):
    """What a person did: `say`, `interrupt`, `answer` or `refuse`."""

    call: str
    key: str
    request: str = ""
    """The protocol's id of the request that is answered, as the driver's events have it."""
    option: str | None = None
    text: str = ""
    values: Any = None


class Sent(msgspec.Struct, tag="sent"):
    """What was sent, and the display text of that moment."""

    n: int
    key: str
    display: str
    message: Any


class Exit(msgspec.Struct, tag="exit"):
    status: int | None
    stderr: str = ""


class Start(msgspec.Struct, tag="start"):
    agent: str
    options: Options


Record = Start | Line | Call | Sent | Exit


class Playing:
    """A driver that is given records; what it wants to send and what it says is kept."""

    def __init__(self, start: Start) -> None:
        self.driver: Driver = KNOWN[start.agent].driver(start.options)
        self.events: list[Event] = []
        self.sends: dict[str, Callable[[Moment], Any]] = {}
        """Messages that wait to be sent, by their key, in the order in which they came."""
        self.requests: dict[str, Request] = {}
        self._seen: set[str] = set()

    def take(self, output: Output) -> None:
        self.events += output.events
        for event in output.events:
            if isinstance(event, Request):
                self.requests[event.request_id] = event
        for send in output.sends:
            if send.key not in self._seen:
                self.sends[send.key] = send.make

    def play(self, record: Record) -> None:
        match record:
            case Start():
                self.take(self.driver.start())
            case Line(offset=offset, text=text):
                self.take(self.driver.receive(text.encode(), offset))
            case Call():
                self.take(self._called(record))
            case Sent(n=n, key=key, message=message):
                self._seen.add(key)
                self.sends.pop(key, None)
                self.take(self.driver.sent(n, key, message))
            case Exit(status=status, stderr=stderr):
                self.take(self.driver.exited(status, stderr))

    def _called(self, call: Call) -> Output:
        match call.call:
            case "say":
                return self.driver.say(call.key, call.text, call.values or [])
            case "interrupt":
                return self.driver.interrupt(call.key)
        request = self.requests[call.request]
        if call.call == "refuse":
            return self.driver.refuse(call.key, request, call.text)
        answer = Answer(
            request_id=request.request_id, option=call.option, text=call.text or None, values=call.values, by="cli"
        )
        return self.driver.answer(call.key, request, answer)


class Driven:
    """An agent's process with its driver. Calls return at once; `wait` looks until the driver has said something."""

    def __init__(self, agent: str, options: Options, *, argv: list[str], env: dict[str, str], errors: Path) -> None:
        self.agent, self.options = agent, options
        self.display = ""
        """The display text of the people who watch now."""
        self.records: list[Record] = []
        self._playing = Playing(Start(agent, options))
        self._changed = threading.Condition()
        self._n = 0
        self._errors = errors
        with errors.open("w") as stderr:
            self._process = subprocess.Popen(
                argv, cwd=options.cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                start_new_session=True,
            )  # fmt: skip
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._reads, self._writes)]
        self._do(Start(agent, options))
        for thread in self._threads:
            thread.start()

    @property
    def driver(self) -> Driver:
        return self._playing.driver

    @property
    def events(self) -> list[Event]:
        return self._playing.events

    def say(self, key: str, text: str, attachments: list[Any] | None = None) -> None:
        self._do(Call("say", key, text=text, values=attachments))

    def interrupt(self, key: str) -> None:
        self._do(Call("interrupt", key))

    def answer(self, key: str, request: Request, option: str | None, text: str = "", values: Any = None) -> None:
        self._do(Call("answer", key, request.request_id, option, text, values))

    def refuse(self, key: str, request: Request, why: str) -> None:
        self._do(Call("refuse", key, request.request_id, text=why))

    def wait(self, met: Callable[["Driven"], Any]) -> Any:
        """What `met` finds, once it finds something."""
        deadline = time.monotonic() + TIMEOUT
        with self._changed:
            while not (found := met(self)) and time.monotonic() < deadline and self._process.poll() is None:
                self._changed.wait(0.05)
        shown = "\n".join(str(msgspec.to_builtins(replace(event)))[:300] for event in self.events[-20:])
        assert found, (
            f"state {self.driver.state}; the last events:\n{shown}\nstderr: {self._errors.read_text()[-2000:]}"
        )
        return found

    def wait_for(self, kind: type[Event], number: int = 1, **fields: Any) -> Any:
        """The event of this kind, with these fields, that comes as the given number."""

        def met(_: Self) -> Any:
            fitting = [
                one
                for one in self.events
                if isinstance(one, kind) and all(getattr(one, k) == v for k, v in fields.items())
            ]
            return fitting[number - 1] if len(fitting) >= number else None

        return self.wait(met)

    def wait_until(self, state: str) -> None:
        self.wait(lambda it: it.driver.state == state)

    def close_input(self) -> None:
        self._outbox.put(None)

    def _do(self, record: Record) -> None:
        with self._changed:
            self._record(record)
            while self._playing.sends:
                key, make = next(iter(self._playing.sends.items()))
                self._n += 1
                message = make(Moment(self._n, self.display))
                self._record(Sent(self._n, key, self.display, message))
                self._outbox.put(json.dumps(message, ensure_ascii=False).encode() + b"\n")
            self._changed.notify_all()

    def _record(self, record: Record) -> None:
        self.records.append(record)
        self._playing.play(record)

    def _reads(self) -> None:
        offset = 0
        for line in self._process.stdout:
            self._do(Line(offset, line.removesuffix(b"\n").decode()))
            offset += len(line)

    def _writes(self) -> None:
        while (data := self._outbox.get()) is not None:
            try:
                self._process.stdin.write(data)
                self._process.stdin.flush()
            except OSError:
                return
        self._process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the process with its group, and tells the driver."""
        self._outbox.put(None)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for thread in self._threads:
            thread.join()
        self._process.stdout.close()
        self._do(Exit(self._process.returncode, self._errors.read_text(errors="replace")))


def written(records: list[Record]) -> bytes:
    """A recording: one record a line."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def read(recording: bytes) -> list[Record]:
    return [msgspec.json.decode(line, type=Record) for line in recording.splitlines()]
