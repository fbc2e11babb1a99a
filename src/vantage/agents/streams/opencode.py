"""opencode: `opencode run --format json`. It prints whole parts only: a call is printed when it is over."""

from collections.abc import Iterator

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known
from vantage.agents.tools import Native, native, task_report
from vantage.agents.values import Object, message_of, moment, number, obj, text
from vantage.events import Agent, Event

TOOLS = {
    "patch": Native("apply_patch", {"patchText": "patch"}),
    "apply_patch": Native("apply_patch", {"patchText": "patch"}),
    "codesearch": Native("web_search"),
}
_DETAILS = ("diff", "exit")
_INVALID = "invalid"
"""The tool that opencode calls instead of one that does not exist, or that got wrong arguments."""
_NO_OUTPUT = "(no output)"
_MORE = "tool-calls"
"""Why a step ends when the turn continues."""


class OpenCode(Adapter):
    def __init__(self) -> None:
        super().__init__()
        self.known = {
            "step_start": Known(self._step_start),
            "step_finish": Known(self._step_finish),
            "text": Known(self._said, ("part",)),
            "reasoning": Known(self._said, ("part",)),
            "tool_use": Known(self._tool, ("part",)),
            "error": Known(self._error, ("error", "sessionID")),
            "done": Known(self._done, ("reason",)),
        }
        self._root = ""
        self._usage: dict[str, int | float] = {}
        self._began: int | None = None

    def _agent(self, message: Object) -> Agent | None:
        """The first session is the root agent's; every other one is a sub-agent's."""
        session = text(message, "sessionID")
        self._root = self._root or session
        return Agent(id=session, depth=1) if session != self._root else None

    def _said(self, message: Object) -> Iterator[Event]:
        part = obj(message, "part")
        yield from self.speech.whole(
            text(part, "id"),
            text(part, "text"),
            reasoning=text(message, "type") == "reasoning",
            agent=self._agent(message),
            ts=moment(message, "timestamp"),
        )

    def _tool(self, message: Object) -> Iterator[Event]:
        part, agent = obj(message, "part"), self._agent(message)
        state = obj(part, "state")
        call_id, status, time = text(part, "callID", "id"), text(state, "status"), obj(state, "time")
        given, refused = state.get("input"), ""
        if text(part, "tool") == _INVALID and text(given, "tool"):
            refused = text(given, "error") or text(state, "output")
            tool, args = _INVALID, {"tool": text(given, "tool")}  # the stream does not have its arguments
        else:
            tool, args = native(TOOLS, text(part, "tool"), given)
        yield from self.calls.start(call_id, tool, args, agent=agent, ts=moment(time, "start"))
        if status not in ("completed", "error"):
            return
        metadata = obj(state, "metadata")
        details = {key: metadata[key] for key in _DETAILS if metadata.get(key) is not None}
        yield from self.calls.end(
            call_id,
            "" if refused or text(state, "output") == _NO_OUTPUT else task_report(text(state, "output")),
            is_error=status == "error" or bool(refused),
            error=refused or message_of(state.get("error")) or None,
            details=details or None,
            agent=agent,
            ts=moment(time, "end"),
        )

    def _error(self, message: Object) -> Iterator[Event]:
        notice = ev.Canceled if text(message.get("error"), "name") == "MessageAbortedError" else ev.Error
        yield notice(message=message_of(message.get("error")), ts=moment(message, "timestamp"))

    # a turn: steps, of which the last does not end in calls

    def _step_start(self, message: Object) -> tuple[Event, ...]:
        self._agent(message)
        if self._began is None:
            self._began = moment(message, "timestamp")
        return ()

    def _step_finish(self, message: Object) -> Iterator[Event]:
        part, agent, ts = obj(message, "part"), self._agent(message), moment(message, "timestamp")
        tokens = obj(part, "tokens")
        cached = number(obj(tokens, "cache"), "read") or 0
        self._add(
            "input_tokens", (number(tokens, "input") or 0) + cached + (number(obj(tokens, "cache"), "write") or 0)
        )
        self._add("cached_input_tokens", cached)
        self._add("output_tokens", number(tokens, "output") or 0)
        self._add("reasoning_tokens", number(tokens, "reasoning") or 0)
        self._add("cost_usd", number(part, "cost") or 0)
        reason = text(part, "reason")
        if agent is None and reason and reason != _MORE:
            if ts is not None and self._began is not None:
                self._usage["duration_ms"] = max(ts - self._began, 0)
            yield self._turn(reason, ts)

    def _done(self, message: Object) -> Iterator[Event]:
        if self._usage:
            yield self._turn(text(message, "reason"), moment(message, "timestamp"))

    def _turn(self, reason: str, ts: int | None) -> Event:
        usage, self._usage, self._began = self._usage, {}, None
        return ev.TurnComplete(finish=reason or None, usage=usage or None, ts=ts)

    def _add(self, name: str, value: int | float) -> None:
        self._usage[name] = self._usage.get(name, 0) + value
