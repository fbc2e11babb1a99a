"""What Codex asks of a person: leave for a command, a change of files or more rights, and questions.

Each kind makes the request that people see, and of their answer the result that Codex expects. A change of files comes
with the item that it belongs to, which has the diff.
"""

from typing import NamedTuple, Protocol

from vantage.agents.drivers import questions as q
from vantage.agents.streams.codex_server import diff_of
from vantage.agents.values import Object, content_text, obj, objects, text
from vantage.events import Answer, Json, Request, compact_json
from vantage.timeline.tools.shell import command_of

_FOR_THE_SESSION, _BY_RULE, _STOP = "allow_session", "allow_rule", "stop"
_ON_HOST = "host"
_COMMAND, _FILES = "item/commandExecution/requestApproval", "item/fileChange/requestApproval"
_RIGHTS, _QUESTIONS = "item/permissions/requestApproval", "item/tool/requestUserInput"
_FORM = "mcpServer/elicitation/request"


class Asked(Protocol):
    """A request of Codex's."""

    def request(self) -> Request:
        """As people see it."""
        ...

    def answered(self, answer: Answer) -> Object:
        """A person's answer, as Codex expects it."""
        ...

    def refused(self) -> Object:
        """The answer when no person has answered."""
        ...


def asked_in(message: Object, item: Object) -> Asked | None:
    """What a request with its item asks; `None` if it is for no person."""
    params = obj(message, "params")
    match text(message, "method"):
        case method if method == _COMMAND:
            return Command(params)
        case method if method == _FILES:
            return Files(params, item)
        case method if method == _RIGHTS:
            return Rights(params)
        case method if method == _QUESTIONS and objects(params, "questions"):
            return Questions(params)
        case method if method == _FORM and text(params, "mode") in ("form", "url", "openai/form", "openaiForm"):
            return Elicitation(params)
    return None


def is_secret(message: Object) -> bool:
    """Whether a request asks for a secret, which no request may."""
    params = obj(message, "params")
    asks = any(one.get("isSecret") is True for one in objects(params, "questions"))
    return asks or q.asks_for_password(q.schema_of(params))


class Command(NamedTuple):
    """Leave to run a command, or to reach a host from one that runs."""

    params: Object

    def request(self) -> Request:
        command, host = text(self.params, "command"), text(self.params.get("networkApprovalContext"), "host")
        subject = command_of(command).partition("\n")[0] or "a command"
        return Request(
            kind="approval",
            title=f"Network access: {host}" if host else f"Run: {subject}",
            text=text(self.params, "reason") or None,
            tool="shell",
            tool_call_id=text(self.params, "itemId") or None,
            args={"command": command} if command else {"host": host} if host else None,
            cwd=text(self.params, "cwd") or None,
            options=[one for one, _ in self._options()],
        )

    def _options(self) -> list[tuple[Object, Json]]:
        """What can be chosen, each with the decision that it is."""
        stated = self.params.get("availableDecisions")
        decisions = stated if isinstance(stated, list) and stated else ["accept", "acceptForSession", "cancel"]
        given = [one for index, decision in enumerate(decisions) if (one := _option(decision, index))]
        return [*given, (q.option(q.DENY, "Deny", "deny"), "decline")]

    def answered(self, answer: Answer) -> Object:
        chosen = (decision for one, decision in self._options() if one["id"] == answer.option)
        return {"decision": next(chosen, "decline")}

    def refused(self) -> Object:
        return {"decision": "decline"}


def _option(decision: Json, index: int) -> tuple[Object, Json] | None:
    """A decision that Codex offers, as an option; nothing for one that is not known."""
    if isinstance(decision, str):
        known = _DECISIONS.get(decision)
        return (known, decision) if known else None
    if words := obj(decision, "acceptWithExecpolicyAmendment").get("execpolicy_amendment"):
        label = f"Always allow commands that begin with: {command_of(words)}"
        return q.option(_BY_RULE, label, "allow", "always"), decision
    if change := obj(decision, "applyNetworkPolicyAmendment", "network_policy_amendment"):
        host, allows = text(change, "host"), text(change, "action") == "allow"
        label = f"Always allow {host}" if allows else f"Never allow {host}"
        return q.option(f"{_ON_HOST}_{index}", label, "allow" if allows else "deny", "always"), decision
    return None


_DECISIONS = {
    "accept": q.option(q.ALLOW, "Allow", "allow", "once"),
    "acceptForSession": q.option(_FOR_THE_SESSION, "Allow in this session", "allow", "session"),
    "cancel": q.option(_STOP, "Deny, and stop the turn", "deny"),
}


class Files(NamedTuple):
    """Leave to change files."""

    params: Object
    item: Object

    def request(self) -> Request:
        changes = objects(self.item, "changes")
        paths, diff = [text(one, "path") for one in changes], diff_of(changes)
        root = text(self.params, "grantRoot")
        more = f"Allowing it in this session allows all changes below {root}." if root else ""
        return Request(
            kind="approval",
            title=f"Change {', '.join(paths) or 'files'}",
            text="\n\n".join(filter(None, (text(self.params, "reason"), more))) or None,
            tool="apply_patch",
            tool_call_id=text(self.params, "itemId") or None,
            args={"patch": diff} if diff else None,
            details=diff or None,
            options=[
                _DECISIONS["accept"], _DECISIONS["acceptForSession"], _DECISIONS["cancel"],
                q.option(q.DENY, "Deny", "deny"),
            ],
        )  # fmt: skip

    def answered(self, answer: Answer) -> Object:
        return {"decision": _FILE_DECISIONS.get(answer.option or "", "decline")}

    def refused(self) -> Object:
        return {"decision": "decline"}


_FILE_DECISIONS = {q.ALLOW: "accept", _FOR_THE_SESSION: "acceptForSession", _STOP: "cancel"}


class Rights(NamedTuple):
    """Leave to read, write or reach more than the sandbox allows."""

    params: Object

    def request(self) -> Request:
        asked = {key: value for key, value in obj(self.params, "permissions").items() if value}
        return Request(
            kind="approval",
            title=f"More rights: {compact_json(asked)}",
            text=text(self.params, "reason") or None,
            tool="request_permissions",
            tool_call_id=text(self.params, "itemId") or None,
            args=asked,
            cwd=text(self.params, "cwd") or None,
            options=[
                q.option(q.ALLOW, "Allow in this turn", "allow", "once"),
                _DECISIONS["acceptForSession"],
                q.option(q.DENY, "Deny", "deny"),
            ],
        )

    def answered(self, answer: Answer) -> Object:
        scope = {q.ALLOW: "turn", _FOR_THE_SESSION: "session"}.get(answer.option or "")
        return {"permissions": obj(self.params, "permissions"), "scope": scope} if scope else self.refused()

    def refused(self) -> Object:
        return {"permissions": {}, "scope": "turn"}


class Questions(NamedTuple):
    """Questions of the model's."""

    params: Object

    @property
    def _questions(self) -> list[Object]:
        return objects(self.params, "questions")

    def request(self) -> Request:
        options, schema = q.choices(self._questions)
        only = self._questions[0] if len(self._questions) == 1 else {}
        return Request(
            kind="question",
            title=text(only, "question") or f"{len(self._questions)} questions",
            tool="request_user_input",
            tool_call_id=text(self.params, "itemId") or None,
            options=options,
            schema=schema,
        )

    def answered(self, answer: Answer) -> Object:
        if answer.option == q.DECLINE:
            return self.refused()
        said = q.chosen(self._questions, answer)
        pairs = zip(self._questions, said, strict=True)
        return {"answers": {text(one, "id"): {"answers": given} for one, given in pairs if given}}

    def refused(self) -> Object:
        return {"answers": {}}


class Elicitation(NamedTuple):
    """The form, or the address, of an MCP server; Codex asks in this way for leave to call its tools, too."""

    params: Object

    def request(self) -> Request:
        request = q.elicitation(self.params, None)
        if not _is_approval(self.params):
            return request
        meta = obj(self.params, "_meta")
        return Request(
            kind="approval",
            title=request.title,
            text=content_text(meta.get("tool_description")) or None,
            tool=text(meta, "tool_name", "tool_title") or None,
            args=meta.get("tool_params"),
            options=[q.option(q.ALLOW, "Allow", "allow", "once"), q.option(q.DENY, "Deny", "deny")],
        )

    def answered(self, answer: Answer) -> Object:
        if _is_approval(self.params):
            return {"action": "accept", "content": {}} if answer.option == q.ALLOW else {"action": "decline"}
        return q.elicited(answer)

    def refused(self) -> Object:
        return q.NOT_ELICITED


def _is_approval(params: Object) -> bool:
    return text(params.get("_meta"), "codex_approval_kind") == "mcp_tool_call"
