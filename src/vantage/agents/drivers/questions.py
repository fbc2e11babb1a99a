"""Options and forms of requests, as the protocols share them: choices, and elicitation as MCP defines it."""

from typing import Literal

from vantage import events as ev
from vantage.agents.values import Object, obj, objects, text
from vantage.events import Agent, Answer, Json

Scope = Literal["once", "session", "always"]

ALLOW, DENY, DECLINE, DONE = "allow", "deny", "decline", "done"
"""Ids of options that several protocols have."""
NOT_ALLOWED = "A person did not allow this."
NOT_ANSWERED = "A person declined to answer."


def no_answer(why: str) -> str:
    """What an agent is told when no person has answered."""
    return f"No person has answered ({why}), so this is not allowed."


def option(option_id: str, label: str, kind: Literal["allow", "deny", "choice"], scope: Scope | None = None) -> Object:
    made = {"id": option_id, "label": label, "kind": kind}
    return {**made, "scope": scope} if scope else made


def denial(answer: Answer, otherwise: str = NOT_ALLOWED) -> str:
    """Why a person said no, in the person's words if there are any."""
    return (answer.text or "").strip() or otherwise


DECLINES = option(DECLINE, "Do not answer", "deny")


# elicitation: a question with a form or an address


def elicitation(message: Json, agent: Agent | None) -> ev.Request:
    """The request that an elicitation is; its form is a JSON Schema, its address is shown."""
    server = text(message, "mcp_server_name", "serverName")
    title = text(message, "title", "message") or f"A question of {server or 'an MCP server'}"
    said = text(message, "message", "description")
    if address := text(message, "url"):
        said = "\n\n".join(filter(None, (said, f"<{address}>")))
        return ev.Request(
            kind="question",
            title=title,
            text=said,
            options=[option(DONE, "Done", "choice"), DECLINES],
            agent=agent,
        )
    return ev.Request(
        kind="question",
        title=title,
        text=said if said != title else None,
        schema=schema_of(message) or None,
        options=[DECLINES],
        agent=agent,
    )


def schema_of(message: Json) -> Object:
    return obj(message, "requested_schema") or obj(message, "requestedSchema")


def asks_for_password(schema: Object) -> bool:
    """Whether a form has a field for a password, which no request may ask for."""
    fields = obj(schema, "properties").values()
    return any(text(field, "format") == "password" for field in fields if isinstance(field, dict))


def elicited(answer: Answer) -> Object:
    """The answer to an elicitation, as MCP has it."""
    if answer.option == DECLINE:
        return {"action": "decline"}
    return {"action": "accept", "content": answer.values if isinstance(answer.values, dict) else {}}


NOT_ELICITED = {"action": "cancel"}


# choices: questions with labelled answers, of which some take several


OTHER = "other"


def choices(questions: list[Object]) -> tuple[list[Object], Object | None]:
    """Options for one question with one answer, else the form for all of them."""
    if len(questions) == 1 and not takes_several(questions[0]):
        labels = objects(questions[0], "options")
        listed = [option(str(number), _label(one), "choice") for number, one in enumerate(labels, 1)]
        other = {**option(OTHER, "Something else", "choice"), "needs_text": True}
        return [*listed, other, DECLINES], None
    fields = {_field(number): _choice_field(one) for number, one in enumerate(questions, 1)}
    return [DECLINES], {"type": "object", "properties": fields, "required": list(fields)}


def takes_several(question: Object) -> bool:
    return question.get("multiSelect") is True


def _field(number: int) -> str:
    return f"question_{number}"


def _label(one: Object) -> str:
    label, description = text(one, "label"), text(one, "description")
    return f"{label}: {description}" if description else label


def _choice_field(question: Object) -> Object:
    labels = [{"const": text(one, "label"), "title": _label(one)} for one in objects(question, "options")]
    described = {"title": text(question, "question") or text(question, "header")}
    if takes_several(question):
        return {"type": "array", **described, "items": {"type": "string", "anyOf": labels}}
    return {"type": "string", **described, **({"anyOf": [*labels, {"type": "string"}]} if labels else {})}


def chosen(questions: list[Object], answer: Answer) -> list[list[str]]:
    """What a person answered to each question."""
    if isinstance(answer.values, dict):
        given = [answer.values.get(_field(number)) for number in range(1, len(questions) + 1)]
        return [_texts(one) for one in given]
    labels = {str(number): text(one, "label") for number, one in enumerate(objects(questions[0], "options"), 1)}
    said = labels.get(answer.option or "") or (answer.text or "").strip()
    return [[said] if said else []]


def _texts(value: Json) -> list[str]:
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str) and one]
    return [value] if isinstance(value, str) and value else []
