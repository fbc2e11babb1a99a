"""The requests of one conversation to people: opened, answered once, closed.

Every change is an event, and is in the log before anything else happens: before the request is shown, before an answer
is delivered, before a waiting caller learns of it. The ledger is folded from the log when a conversation is opened, so
a killed process loses no request and no answer. A file marks the conversations that have open requests: a process that
starts opens these, so their requests expire and can be answered without a visit to the conversation.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from vantage.conversation.requests.content import check_answer
from vantage.conversation.requests.hash import request_hash
from vantage.conversation.requests.ledger import Entry, Ledger, Why, as_fields
from vantage.conversation.store.clock import now_ms
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.files.writing import write_atomically
from vantage.errors import Do, NotFound, RequestAnswered, RequestChanged, RequestOver, RequestSecret
from vantage.events import Answer, Event, Request, RequestClosed

MAX_TIMER_S = 60.0
"""How long one timer runs at most: the time of day may be set meanwhile."""

OnAnswer = Callable[[Request, Answer], None]
OnClosed = Callable[[Request, str], None]

_log = logging.getLogger(__name__)


class Requests:
    def __init__(
        self, folder: ConversationFolder, events: Iterable[Event], *, log: Callable[[list[Event]], list[Event]]
    ) -> None:
        """`events` are those of requests that the log has; `log` appends to it, calls `before`, `follow` and `tell`."""
        self._mark = folder.open_requests
        self._append = log
        self._ledger = Ledger()
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        self._answered: list[OnAnswer] = []
        self._ended: list[OnClosed] = []
        self._timer: asyncio.TimerHandle | None = None
        for event in events:
            self._ledger.apply(event)

    # what is known

    def get(self, request_id: str) -> Entry:
        entry = self._ledger.get(request_id)
        if entry is None:
            raise no_request(request_id)
        self._expire(entry)
        return self._ledger.get(request_id) or entry

    def knows(self, request_id: str) -> bool:
        return self._ledger.get(request_id) is not None

    @property
    def has_open(self) -> bool:
        return self._ledger.has_open

    def open_entries(self) -> list[Entry]:
        """The open requests, the oldest first."""
        self.expire()
        return self._ledger.open()

    def entries(self) -> list[Entry]:
        """All requests, the oldest first: those with an answer too, which may not have been delivered."""
        return list(self._ledger)

    # what the conversation's log calls

    def before(self, events: Sequence[Event]) -> None:
        """Called before events are logged."""
        if not self._mark.exists() and any(isinstance(event, Request) for event in events):
            write_atomically(self._mark, b"")

    def follow(self, events: Sequence[Event]) -> list[Entry]:
        """Called with events that are logged, before they are published. Returns the requests that changed."""
        changed = [entry for event in events if (entry := self._ledger.apply(event)) is not None]
        if changed:
            if not self._ledger.has_open:
                self._mark.unlink(missing_ok=True)
            self._schedule()
        return changed

    def tell(self, changed: Sequence[Entry]) -> None:
        """Called when the events are published: wakes callers that wait, and calls back for answers and ends."""
        for entry in changed:
            if entry.state == "open":
                continue
            for waiting in self._waiting.pop(entry.request.request_id, ()):
                if not waiting.done():
                    waiting.set_result(None)
            if entry.closed is not None:
                for ended in self._ended:
                    _guarded(ended, entry.request, entry.closed.why)
            elif entry.answer is not None:
                for answered in self._answered:
                    _guarded(answered, entry.request, entry.answer)

    # asking

    def prepared(self, request: Request) -> Request:
        """The request with the hash of what it shows. Events that are logged in another way need it too."""
        return msgspec.structs.replace(request, hash=request_hash(request))

    def open(self, request: Request) -> Entry:
        """Logs a request. One with the same id and content is the same request, however it stands by now."""
        request = self.prepared(request)
        known = self._ledger.get(request.request_id)
        if known is None:
            self._append([request])
        elif known.request.hash != request.hash:
            raise RequestChanged(
                f"there is a request {request.request_id!r} with another content",
                hint="choose another request_id for another question",
                facts={"request_id": request.request_id, "hash": known.request.hash, "state": known.state},
            )
        return self.get(request.request_id)

    def close(self, request_id: str, why: Why) -> Entry:
        """Ends a request without an answer; with `too_late` also one whose answer could not be delivered.

        A request that has ended already stays as it is.
        """
        entry = self.get(request_id)
        if entry.state == "open" or (why == "too_late" and entry.closed is None):
            self._append([RequestClosed(request_id=request_id, why=why)])
        return self.get(request_id)

    def on_answer(self, callback: OnAnswer) -> Callable[[], None]:
        """Calls back with each answer once it is logged. Returns a function that ends this."""
        self._answered.append(callback)
        return lambda: self._answered.remove(callback)

    def on_closed(self, callback: OnClosed) -> Callable[[], None]:
        """Calls back with each request that ends without an answer, and why. Returns a function that ends this."""
        self._ended.append(callback)
        return lambda: self._ended.remove(callback)

    async def wait(self, request_id: str, seconds: float) -> Entry:
        """The request once it has ended, or as it is when the time is over."""
        entry = self.get(request_id)
        if entry.state != "open" or seconds <= 0:
            return entry
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(request_id, []).append(waiting)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(waiting, seconds)
        finally:
            left = self._waiting.get(request_id, [])
            if waiting in left:
                left.remove(waiting)
            if not left:
                self._waiting.pop(request_id, None)
        return self.get(request_id)

    # answering

    def answer(self, answer: Answer, hash: str) -> Entry:
        """Logs a person's answer to what they were shown. The first one counts; a later one is told of it."""
        entry = self.get(answer.request_id)
        request = entry.request
        if request.kind == "secret":
            raise RequestSecret(
                "this request is for a secret, which is not sent as an answer: it would be in the log",
                hint="type it on the page or in 'vantage attach'",
                do=[Do("send", "types it", secret=True)],
                facts={"request_id": request.request_id},
            )
        if entry.answer is not None:
            raise _answered(entry, entry.answer)
        if entry.closed is not None:
            why = entry.closed.why
            raise RequestOver(
                f"the request was closed: {_WHY.get(why, why)}",
                hint="nothing waits for this answer",
                facts={"request_id": request.request_id, "why": why},
            )
        if hash != request.hash:
            raise RequestChanged(
                f"the answer is to another content (hash {hash[:64]!r}) than the request has ({request.hash!r})",
                hint="read the request again, and answer what it shows",
                do=[Do("request", "shows it", request_id=request.request_id)],
                facts={"request_id": request.request_id, "hash": request.hash},
            )
        check_answer(request, answer)
        self._append([answer])
        return self.get(request.request_id)

    def answered_in_terminal(self, request_id: str, by: str) -> None:
        """Logs that a secret was typed where it was asked for: who did it, and nothing of the secret.

        A request that has ended already stays as it is.
        """
        if self.get(request_id).state == "open":
            self._append([Answer(request_id=request_id, by=by)])

    # expiry

    def expire(self) -> None:
        """Closes the requests whose time is over, and sets a timer for the next one."""
        for entry in self._ledger.open():
            self._expire(entry)
        self._schedule()

    def _expire(self, entry: Entry) -> None:
        expires = entry.request.expires
        if entry.state == "open" and expires is not None and expires <= now_ms():
            self._append([RequestClosed(request_id=entry.request.request_id, why="expired")])

    def _schedule(self) -> None:
        self.stop()
        ends = [entry.request.expires for entry in self._ledger.open() if entry.request.expires is not None]
        if ends:
            seconds = min(max((min(ends) - now_ms()) / 1000, 0.0) + 0.001, MAX_TIMER_S)
            self._timer = asyncio.get_running_loop().call_later(seconds, self._expire_now)

    def _expire_now(self) -> None:
        try:
            self.expire()
        except Exception:  # noqa: BLE001 -- a full disk, say: the next timer tries again, and a reader says why
            _log.exception("requests could not be closed as expired")
            self._timer = asyncio.get_running_loop().call_later(MAX_TIMER_S, self._expire_now)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def leave(self) -> None:
        """The conversation is closed here: callers that wait are told so."""
        self.stop()
        waiting, self._waiting = self._waiting, {}
        for request_id, each in waiting.items():
            for future in each:
                if not future.done():
                    future.set_exception(no_request(request_id))


_WHY = {
    "expired": "its time was over",
    "withdrawn": "it was withdrawn",
    "answered_elsewhere": "it was answered elsewhere",
    "too_late": "the answer came too late",
    "lost": "the agent that asked is gone",
}


def no_request(request_id: str) -> NotFound:
    return NotFound(f"there is no request {request_id[:80]!r}", do=[Do("requests", "lists those that are open")])


def _answered(entry: Entry, answer: Answer) -> RequestAnswered:
    what = answer.option if answer.option is not None else "a text" if answer.values is None else "a form"
    return RequestAnswered(
        f"{answer.by or 'a person'} has answered it already: {what}",
        hint="the first answer counts",
        facts={"request_id": entry.request.request_id, "answer": as_fields(answer)},
    )


def _guarded(callback: Callable[..., None], *arguments: Any) -> None:
    try:
        callback(*arguments)
    except Exception:  # noqa: BLE001 -- what is logged stands; the others must be told too
        _log.exception("the end of a request could not be passed on")
