"""What an ACP agent asks of a person: leave for a call, with the agent's own options, and elicitation.

The protocol's answer to a permission has no place for words, so a person's words go along in `_meta`, from where the
driver takes them for the agent's next turn.
"""

from typing import Literal, NamedTuple, Protocol

from vantage.agents.adapter import OpenCall
from vantage.agents.drivers import questions as q
from vantage.agents.streams.acp_calls import described, details_of
from vantage.agents.values import Object, content_text, obj, objects, text
from vantage.events import Answer, Request
from vantage.timeline.tools.shell import command_of

PERMISSION, ELICITATION = "session/request_permission", "elicitation/create"
CANCELLED: Object = {"outcome": {"outcome": "cancelled"}}
_WORDS = "vantage.text"
_KINDS: dict[str, Literal["allow", "deny"]] = {"allow": "allow", "reject": "deny"}
_SCOPES: dict[str, q.Scope] = {"once": "once", "always": "always"}


class Asked(Protocol):
    """A request of the agent's."""

    def request(self, call: OpenCall | None) -> Request:
        """As people see it; the call is what the stream has told of it."""
        ...

    def answered(self, answer: Answer) -> Object:
        """A person's answer, as the protocol has it."""
        ...

    def refused(self) -> Object:
        """The answer when no person has answered."""
        ...

    def cancelled(self) -> Object:
        """The answer when the turn is cancelled."""
        ...


def asked_in(message: Object) -> Asked | None:
    """What a request asks; `None` if it is for no person."""
    match text(message, "method"):
        case method if method == PERMISSION and objects(message.get("params"), "options"):
            return Permission(obj(message, "params"))
        case method if method == ELICITATION and text(message.get("params"), "mode") in ("form", "url"):
            return Elicitation(obj(message, "params"))
    return None


def words_in(answer: object) -> str:
    """A person's words that go along with an answer."""
    return text(obj(answer, "_meta"), _WORDS)


class Permission(NamedTuple):
    """Leave for a call."""

    params: Object

    def request(self, call: OpenCall | None) -> Request:
        stated = obj(self.params, "toolCall")
        tool, args = (call.tool, call.args) if call else described(stated)
        command = command_of(args.get("command")) if isinstance(args, dict) else ""
        title = text(stated, "title") or tool
        diff = text(details_of(stated), "diff")
        said = [one for one in objects(stated, "content") if text(one, "type") == "content"]
        return Request(
            kind="approval",
            title=f"Run: {command.splitlines()[0]}" if command else title,
            text=content_text(said) or None,
            tool=tool,
            tool_call_id=text(stated, "toolCallId") or None,
            args=args,
            details=diff or None,
            options=[made for one in objects(self.params, "options") if (made := _option(one))],
            agent=call.agent if call else None,
        )

    def answered(self, answer: Answer) -> Object:
        chosen = next((one for one in self._listed() if text(one, "optionId") == answer.option), None)
        if chosen is None:
            return self.refused()
        selected: Object = {"outcome": {"outcome": "selected", "optionId": answer.option}}
        said = (answer.text or "").strip()
        return {**selected, "_meta": {_WORDS: said}} if said else selected

    def refused(self) -> Object:
        """The agent's own refusal of this call; without one, that the request was cancelled."""
        refusal = next((text(one, "optionId") for one in self._listed() if text(one, "kind") == "reject_once"), None)
        return {"outcome": {"outcome": "selected", "optionId": refusal}} if refusal else CANCELLED

    def allowed(self) -> Object | None:
        """Leave for this call alone; `None` if the agent has no such option."""
        once = next((text(one, "optionId") for one in self._listed() if text(one, "kind") == "allow_once"), None)
        return {"outcome": {"outcome": "selected", "optionId": once}} if once else None

    def cancelled(self) -> Object:
        return CANCELLED

    def _listed(self) -> list[Object]:
        return [one for one in objects(self.params, "options") if _option(one)]


def _option(stated: Object) -> Object | None:
    """An option of the agent's; nothing for one of an unknown kind, which may allow anything."""
    verb, _, scope = text(stated, "kind").partition("_")
    kind = _KINDS.get(verb)
    if kind is None or not text(stated, "optionId"):
        return None
    return q.option(text(stated, "optionId"), text(stated, "name") or verb, kind, _SCOPES.get(scope))


class Elicitation(NamedTuple):
    """A question with a form or an address."""

    params: Object

    def request(self, call: OpenCall | None) -> Request:
        return q.elicitation(self.params, call.agent if call else None)

    def answered(self, answer: Answer) -> Object:
        return q.elicited(answer)

    def refused(self) -> Object:
        return q.NOT_ELICITED

    def cancelled(self) -> Object:
        return q.NOT_ELICITED
