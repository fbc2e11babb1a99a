"""AG-UI: one JSON event a line, or server-sent events.

A call's arguments come in pieces, and its start is emitted when they are complete. A `*_CHUNK` event opens a message or
a call without a start event; the next one, or the end of the run, closes it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, nothing, silent
from vantage.agents.tools import native
from vantage.agents.values import Object, content_text, message_of, moment, number, obj, objects, text
from vantage.events import Event

_SILENT = (
    "STEP_STARTED", "STEP_FINISHED", "STATE_SNAPSHOT", "STATE_DELTA", "REASONING_START", "REASONING_END",
    "REASONING_ENCRYPTED_VALUE", "THINKING_START", "THINKING_END",
)  # fmt: skip
_REASONING = ("REASONING", "THINKING")


class Held(NamedTuple):
    """A call whose arguments are not complete."""

    tool: str
    pieces: list[str]


class AgUi(Adapter):
    def __init__(self) -> None:
        super().__init__()
        self.known = {
            "RUN_STARTED": Known(self._run_started),
            "RUN_FINISHED": Known(self._run_finished),
            "RUN_ERROR": Known(self._run_error),
            "TEXT_MESSAGE_START": Known(self._text_start),
            "TEXT_MESSAGE_CONTENT": Known(self._text),
            "TEXT_MESSAGE_CHUNK": Known(self._text),
            "TEXT_MESSAGE_END": Known(self._text_end),
            "REASONING_MESSAGE_START": Known(self._text_start),
            "REASONING_MESSAGE_CONTENT": Known(self._text),
            "REASONING_MESSAGE_CHUNK": Known(self._text),
            "REASONING_MESSAGE_END": Known(nothing),
            "THINKING_TEXT_MESSAGE_START": Known(self._text_start),
            "THINKING_TEXT_MESSAGE_CONTENT": Known(self._text),
            "THINKING_TEXT_MESSAGE_CHUNK": Known(self._text),
            "THINKING_TEXT_MESSAGE_END": Known(nothing),
            "TOOL_CALL_START": Known(self._call_start),
            "TOOL_CALL_ARGS": Known(self._call_args),
            "TOOL_CALL_CHUNK": Known(self._call_chunk),
            "TOOL_CALL_END": Known(self._call_end),
            "TOOL_CALL_RESULT": Known(self._call_result),
            "MESSAGES_SNAPSHOT": Known(self._snapshot),
            **silent(*_SILENT),
        }
        self._held: dict[str, Held] = {}
        self._chunked = ""
        """The call that the last `TOOL_CALL_CHUNK` belonged to."""
        self._roles: dict[str, str] = {}
        self._message = ""
        """The open message: a chunk need not name it again."""
        self._count = 0
        self._heard: set[str] = set()
        """Messages that were emitted, so a snapshot adds only the others."""
        self._typed: list[str] = []
        """The user's message so far."""
        self._began: int | None = None

    def feed(self, message: Object) -> list[Event]:
        kind = self.kind(message)
        closed = [] if kind == "TOOL_CALL_CHUNK" or not self._chunked else list(self._release(self._chunked))
        if self._typed and not (kind.startswith("TEXT_MESSAGE") and text(message, "messageId") in ("", self._message)):
            closed += self._user_said()
        return [*closed, *super().feed(message)]

    def finish(self) -> list[Event]:
        """Calls whose arguments never ended are emitted with those that came."""
        held = [event for call_id in list(self._held) for event in self._release(call_id)]
        return [*self._user_said(), *held]

    # runs

    def _run_started(self, message: Object) -> Iterator[Event]:
        self._began = moment(message, "timestamp")
        yield from self._history(objects(obj(message, "input"), "messages"))

    def _run_finished(self, message: Object) -> Iterator[Event]:
        yield from self.finish()
        usage = _usage(obj(message, "result")) | self._duration(message)
        yield ev.TurnComplete(
            finish=text(message, "outcome") or text(message.get("outcome"), "type") or "finished",
            usage=usage or None,
            ts=moment(message, "timestamp"),
        )

    def _run_error(self, message: Object) -> Iterator[Event]:
        yield from self.finish()
        ts = moment(message, "timestamp")
        yield ev.Error(message=message_of(message), ts=ts)
        yield ev.TurnComplete(finish="error", usage=self._duration(message) or None, ts=ts)

    def _duration(self, message: Object) -> dict[str, int | float]:
        ended = moment(message, "timestamp")
        return {} if self._began is None or ended is None else {"duration_ms": max(ended - self._began, 0)}

    # messages

    def _text_start(self, message: Object) -> tuple[Event, ...]:
        self._open(message, opens=True)
        return ()

    def _open(self, message: Object, *, opens: bool) -> str:
        stated = text(message, "messageId")
        if not stated and (opens or not self._message):
            self._count += 1
        self._message = stated or (self._message if not opens and self._message else f"message {self._count}")
        self._heard.add(self._message)
        if role := text(message, "role"):
            self._roles[self._message] = role
        return self._message

    def _text(self, message: Object) -> Iterator[Event]:
        name, piece, ts = self._open(message, opens=False), text(message, "delta"), moment(message, "timestamp")
        reasoning = self.kind(message).startswith(_REASONING)
        if self._roles.get(name) == "user" and not reasoning:
            self._typed.append(piece)
            return
        yield from self.speech.delta(name, piece, reasoning=reasoning, ts=ts)

    def _text_end(self, message: Object) -> list[Event]:  # noqa: ARG002
        return self._user_said()

    def _user_said(self) -> list[Event]:
        """The user's message comes in pieces too, and is emitted as one."""
        said, self._typed = "".join(self._typed), []
        return [ev.UserMessage(text=said)] if said else []

    def _snapshot(self, message: Object) -> Iterator[Event]:
        yield from self._history(objects(message, "messages"))

    def _history(self, messages: list[Object]) -> Iterator[Event]:
        """The messages of a snapshot that were not emitted before."""
        for one in messages:
            role, said = text(one, "role"), content_text(one.get("content"))
            name = text(one, "id") or f"{role} {said}"
            if role == "tool":
                if text(one, "toolCallId") in self.calls.open:
                    yield from self.calls.end(text(one, "toolCallId"), said, error=one.get("error"))
                continue
            if name not in self._heard:
                self._heard.add(name)
                if role == "user":
                    yield ev.UserMessage(text=said)
                elif role in ("assistant", "reasoning"):
                    yield from self.speech.whole(name, said, reasoning=role == "reasoning")
            for call in objects(one, "toolCalls"):
                function = obj(call, "function")
                tool, args = native({}, text(function, "name"), function.get("arguments"))
                if text(call, "id") not in self._held:
                    yield from self.calls.start(text(call, "id"), tool, args)

    # calls

    def _call_start(self, message: Object) -> tuple[Event, ...]:
        self._message = ""
        self._held[text(message, "toolCallId")] = Held(text(message, "toolCallName", "name"), [])
        return ()

    def _call_args(self, message: Object) -> tuple[Event, ...]:
        self._held.setdefault(text(message, "toolCallId"), Held("", [])).pieces.append(text(message, "delta", "args"))
        return ()

    def _call_chunk(self, message: Object) -> Iterator[Event]:
        call_id = text(message, "toolCallId") or self._chunked
        if self._chunked and call_id != self._chunked:
            yield from self._release(self._chunked)
        self._chunked, self._message = call_id, ""
        if call_id not in self._held:
            self._held[call_id] = Held(text(message, "toolCallName"), [])
        self._held[call_id].pieces.append(text(message, "delta"))

    def _call_end(self, message: Object) -> Iterator[Event]:
        yield from self._release(text(message, "toolCallId"))

    def _release(self, call_id: str) -> Iterator[Event]:
        self._chunked = "" if call_id == self._chunked else self._chunked
        held = self._held.pop(call_id, None)
        if held is not None:
            tool, args = native({}, held.tool, "".join(held.pieces) or None)
            yield from self.calls.start(call_id, tool, args)

    def _call_result(self, message: Object) -> Iterator[Event]:
        call_id = text(message, "toolCallId")
        yield from self._release(call_id)
        self._heard.add(text(message, "messageId"))
        failed = message.get("ok") is False or message.get("isError") is True or message.get("error") is not None
        yield from self.calls.end(
            call_id,
            content_text(message.get("content")),
            is_error=failed,
            error=message.get("error"),
            ts=moment(message, "timestamp"),
        )


_USAGE = {
    "input_tokens": ("input_tokens", "inputTokens", "prompt_tokens", "promptTokens"),
    "output_tokens": ("output_tokens", "outputTokens", "completion_tokens", "completionTokens"),
    "cost_usd": ("cost_usd", "costUsd", "cost"),
}


def _usage(result: Object) -> dict[str, int | float]:
    """The tokens that a run's result names: AG-UI leaves their form to the agents."""
    stated = obj(result, "usage") or result
    return {ours: value for ours, keys in _USAGE.items() if (value := number(stated, *keys)) is not None}
