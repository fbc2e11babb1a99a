"""What Claude Code asks of a person: leave to use a tool, a question of its own, the form of an MCP server.

Each kind makes the request that people see, and of their answer the one that Claude expects. The input of a call is
given back as it came. What Claude suggests to allow from now on is offered as options of their own, since a change of
the permission mode allows more than the call that is shown.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from vantage.agents.drivers import questions as q
from vantage.agents.streams.claude import TOOLS
from vantage.agents.tools import native
from vantage.agents.values import Object, obj, objects, text
from vantage.events import Agent, Answer, Json, Request

_ASKS = "AskUserQuestion"
_SUBJECTS = ("command", "file_path", "notebook_path", "url", "query", "pattern")
"""What a call is about, rather than the model's own description of it."""
_FOR_THE_SESSION, _ALWAYS, _MODE = "allow_session", "allow_always", "allow_mode"


class Asked(Protocol):
    """A request of Claude's."""

    def request(self, agent: Agent | None) -> Request:
        """As people see it."""
        ...

    def answered(self, answer: Answer) -> Object:
        """A person's answer, as Claude expects it."""
        ...

    def refused(self, why: str) -> Object:
        """The answer when no person has answered."""
        ...


def asked_in(request: Object) -> Asked | None:
    """What a control request asks; `None` if it is for no person."""
    match text(request, "subtype"):
        case "can_use_tool" if text(request, "tool_name") == _ASKS and objects(request.get("input"), "questions"):
            return Questions(request)
        case "can_use_tool":
            return Permission(request)
        case "elicitation":
            return Elicitation(request)
    return None


class Permission(NamedTuple):
    """Leave to use a tool."""

    asked: Object

    def request(self, agent: Agent | None) -> Request:
        given = obj(self.asked, "input")
        tool, args = native(TOOLS, text(self.asked, "tool_name"), given)
        name = text(self.asked, "display_name") or tool
        subject = text(given, *_SUBJECTS).strip().partition("\n")[0] or text(self.asked, "title", "description")
        why = text(self.asked, "decision_reason")
        return Request(
            kind="approval",
            title=f"{name}: {subject}" if subject else name,
            text=text(given, "plan") or why or None,
            tool=tool,
            tool_call_id=text(self.asked, "tool_use_id") or None,
            args=args,
            options=list(self._options()),
            agent=agent,
        )

    def _options(self) -> Iterator[Object]:
        yield q.option(q.ALLOW, "Allow", "allow", "once")
        rules, mode = self._rules(), self._mode()
        if rules:
            named = ", ".join(_named(one) for one in rules)
            yield q.option(_FOR_THE_SESSION, f"Allow {named} in this session", "allow", "session")
            if any(text(one, "destination") not in ("session", "cliArg", "") for one in rules):
                yield q.option(_ALWAYS, f"Always allow {named} in this project", "allow", "always")
        if mode is not None:
            label = f"Allow, and switch to the mode {text(mode, 'mode')} for this session"
            yield q.option(_MODE, label, "allow", "session")
        yield q.option(q.DENY, "Deny", "deny")

    def _rules(self) -> list[Object]:
        kinds = ("addRules", "addDirectories")
        suggested = objects(self.asked, "permission_suggestions")
        return [one for one in suggested if text(one, "type") in kinds and text(one, "behavior") in ("allow", "")]

    def _mode(self) -> Object | None:
        suggested = objects(self.asked, "permission_suggestions")
        return next((one for one in suggested if text(one, "type") == "setMode" and text(one, "mode")), None)

    def answered(self, answer: Answer) -> Object:
        for_the_session = [{**one, "destination": "session"} for one in self._rules()]
        mode = self._mode()
        granted: dict[str, list[Object]] = {
            q.ALLOW: [],
            _FOR_THE_SESSION: for_the_session,
            _ALWAYS: self._rules(),
            _MODE: [{**mode, "destination": "session"}] if mode else [],
        }
        if answer.option not in granted:
            return _deny(q.denial(answer))
        more = granted[answer.option]
        return _allow(obj(self.asked, "input"), **({"updatedPermissions": more} if more else {}))

    def refused(self, why: str) -> Object:
        return _deny(q.no_answer(why))


def _named(suggestion: Object) -> str:
    """The rules of a suggestion, as Claude's settings write them."""
    rules = [
        f"{text(one, 'toolName')}({text(one, 'ruleContent')})" if text(one, "ruleContent") else text(one, "toolName")
        for one in objects(suggestion, "rules")
    ]
    folders = suggestion.get("directories")
    return ", ".join([*rules, *(str(one) for one in folders)] if isinstance(folders, list) else rules)


class Questions(NamedTuple):
    """Questions of the model's, each with some answers to choose from."""

    asked: Object

    @property
    def _questions(self) -> list[Object]:
        return objects(self.asked.get("input"), "questions")

    def request(self, agent: Agent | None) -> Request:
        options, schema = q.choices(self._questions)
        only = self._questions[0] if len(self._questions) == 1 else {}
        return Request(
            kind="question",
            title=text(only, "question") or f"{len(self._questions)} questions",
            tool=_ASKS,
            tool_call_id=text(self.asked, "tool_use_id") or None,
            options=options,
            schema=schema,
            agent=agent,
        )

    def answered(self, answer: Answer) -> Object:
        if answer.option == q.DECLINE:
            return _deny(q.denial(answer, q.NOT_ANSWERED))
        said = q.chosen(self._questions, answer)
        answers = {
            text(one, "question"): ", ".join(given) for one, given in zip(self._questions, said, strict=True) if given
        }
        return _allow({**obj(self.asked, "input"), "answers": answers})

    def refused(self, why: str) -> Object:
        return _deny(q.no_answer(why))


class Elicitation(NamedTuple):
    """The form, or the address, of an MCP server."""

    asked: Object

    def request(self, agent: Agent | None) -> Request:
        return q.elicitation(self.asked, agent)

    def answered(self, answer: Answer) -> Object:
        return q.elicited(answer)

    def refused(self, why: str) -> Object:  # noqa: ARG002 -- the protocol has no place for it
        return q.NOT_ELICITED


def _allow(given: Object, **more: Json) -> Object:
    return {"behavior": "allow", "updatedInput": given, **more}


def _deny(message: str) -> Object:
    return {"behavior": "deny", "message": message}
