"""What may be asked of a person, and what may be answered to it."""

from collections.abc import Iterator, Mapping
from typing import Any

from vantage.conversation.requests.form import first_problem
from vantage.errors import Invalid, did_you_mean
from vantage.events import Answer, Json, Request

MAX_DETAILS = 1 << 20
"""Characters of the details, and of the arguments as JSON."""


def check_form(schema: Json) -> None:
    """Raises unless a form can be shown: an object with properties, and no field for a password."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        raise Invalid(
            "`schema`: expected the JSON Schema of an object with properties",
            hint='write {"type": "object", "properties": {"name": {"type": "string"}}}',
        )
    if any(each.get("format") == "password" for each in _objects(schema)):
        raise Invalid(
            "`schema`: a form takes no passwords: its answer would be in the log",
            hint="let the program that needs it ask for it in the terminal, where it is typed and not logged",
        )


def check_options(options: list[dict[str, Json]]) -> None:
    """Raises unless each option has an id of its own."""
    ids = [each["id"] for each in options]
    twice = next((each for each in ids if ids.count(each) > 1), None)
    if twice is not None:
        raise Invalid(f"`options`: two have the id {twice!r}", hint="an answer names an option by its id")


def check_answer(request: Request, answer: Answer) -> None:
    """Raises unless the answer is one that the request takes."""
    options = {str(each.get("id")): each for each in _options(request)}
    chosen = options.get(answer.option) if answer.option is not None else None
    if answer.option is not None and chosen is None:
        hint = did_you_mean(answer.option, options) if options else "this request has no options: give text or values"
        raise Invalid(f"`option`: the request has no option {answer.option!r}", hint=hint)
    if answer.values is not None and request.schema is None:
        raise Invalid("`values`: the request has no form", hint=_takes(request))
    if request.schema is not None:
        _check_form_answer(request, answer, chosen)
        return
    if options and chosen is None:
        raise Invalid("missing required field `option`", hint=_takes(request))
    if chosen is not None:
        _check_text(answer, chosen)
    elif not answer.text:
        raise Invalid("missing required field `text`", hint=_takes(request))


def _check_form_answer(request: Request, answer: Answer, chosen: Mapping[str, Json] | None) -> None:
    """An option that denies needs no values."""
    if answer.text is not None and chosen is None:
        raise Invalid("`text`: the request has a form", hint=_takes(request))
    if chosen is not None and answer.text is not None:
        _check_text(answer, chosen)
    if answer.values is None:
        if chosen is None or chosen.get("kind") != "deny":
            raise Invalid("missing required field `values`", hint=_takes(request))
        return
    problem = first_problem(request.schema, answer.values)
    if problem is not None:
        raise Invalid(problem, hint="the request's schema says what each field takes")


def _check_text(answer: Answer, option: Mapping[str, Json]) -> None:
    if option.get("needs_text") and not answer.text:
        raise Invalid(f"option {answer.option!r} needs a text", hint="give `text` with it")
    if answer.text is not None and not option.get("needs_text"):
        raise Invalid(
            f"option {answer.option!r} takes no text, and this one would not reach the agent",
            hint="leave `text` out, or choose an option with needs_text",
        )


def _takes(request: Request) -> str:
    """What an answer to the request has."""
    ids = [str(each.get("id")) for each in _options(request)]
    if request.schema is not None:
        fields = ", ".join(map(str, request.schema.get("properties", ())))
        return f"give `values` with {fields}" + (f", or an option: {', '.join(ids)}" if ids else "")
    return f"`option` is one of {', '.join(ids)}" if ids else "give `text`"


def _options(request: Request) -> list[Mapping[str, Json]]:
    found = request.options if isinstance(request.options, list) else []
    return [each for each in found if isinstance(each, Mapping)]


def _objects(value: Any) -> Iterator[Mapping[str, Json]]:
    """Every object in a value; JSON from outside has at most 64 levels."""
    if isinstance(value, Mapping):
        yield value
        for each in value.values():
            yield from _objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each)
