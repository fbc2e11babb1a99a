"""`vantage requests` and `answer`: open questions of all conversations, and a person's answer to one."""

import json
import time
from typing import Any

import click

from vantage.cli.arguments.command import Verb, json_option
from vantage.cli.arguments.conversation import home_option
from vantage.cli.display.printing import note, print_json, print_text
from vantage.cli.display.tables import Cell, ago, table
from vantage.cli.home_client import HomeClient, client_of
from vantage.client import requests as asked
from vantage.errors import InputError, NotFound

POLL_S = 1.0
_COLORS = {"approval": "33", "question": "36", "secret": "1;35"}


@click.command(cls=Verb)
@click.option("--watch", "watching", is_flag=True, help="Go on: print each new question, until Ctrl-C.")
@json_option
@home_option
def requests(watching: bool, as_json: bool, home: str | None) -> None:
    """List what people are asked, in all conversations, the oldest first.

    `vantage answer REQUEST OPTION` answers one.
    """
    with client_of(home, start=False) as client:
        found = client.answer(asked.list_requests())["requests"]
        if not watching:
            _print_all(found, as_json)
            return
        seen: set[str] = set()
        while True:
            for request in found:
                if request["request_id"] not in seen:
                    _print_one(request, as_json)
            seen = {each["request_id"] for each in found}
            time.sleep(POLL_S)
            found = client.answer(asked.list_requests())["requests"]


@click.command(cls=Verb)
@click.argument("request")
@click.argument("option", required=False)
@click.option("--text", help="What you answer, where the request or the option takes a text.")
@click.option("--values", metavar="JSON", help="The fields of a form, as a JSON object.")
@json_option
@home_option
def answer(
    request: str, option: str | None, text: str | None, values: str | None, as_json: bool, home: str | None
) -> None:
    """Answer a question that people are asked. The first answer counts.

    REQUEST is its id, OPTION one of its options, as `vantage requests` shows them.
    """
    with client_of(home, start=False) as client:
        known = _find(client, request)
        given = {"option": option, "text": text, "values": _object(values), "hash": known["hash"], "by": "cli"}
        said = client.answer(asked.answer(known["conversation_id"], request, given))
    if as_json:
        print_json(said)


def _find(client: HomeClient, request_id: str) -> dict[str, Any]:
    found = client.answer(asked.list_requests(request_id=request_id, every=True))["requests"]
    if not found:
        raise NotFound(f"there is no request {request_id!r}", hint="'vantage requests' lists those that are open")
    one: dict[str, Any] = found[0]
    return one


def _object(values: str | None) -> dict[str, Any] | None:
    if values is None:
        return None
    try:
        read = json.loads(values)
    except ValueError as error:
        raise InputError(f"--values is not JSON: {error}", hint="""write it as '{"name": "Ada"}'""") from None
    if not isinstance(read, dict):
        raise InputError("--values is not a JSON object", hint="""write it as '{"name": "Ada"}'""")
    return read


def _print_all(found: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"ok": True, "requests": found})
    elif not found:
        note("nothing is asked")
    else:
        rows = [
            (
                each["request_id"],
                each["conversation_id"],
                Cell(each.get("kind", "question"), _COLORS.get(each.get("kind", "question"), "")),
                ago(each["ts"]),
                _answers(each),
                each.get("title", ""),
            )
            for each in found
        ]
        print_text(table(rows, ("REQUEST", "CONVERSATION", "KIND", "ASKED", "ANSWERS", "QUESTION")))


def _print_one(request: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(request)
        return
    print_text(f"{request['conversation_id']}: {request.get('title', '')}")
    for shown in (request.get("text"), request.get("details")):
        if shown:
            print_text(str(shown))
    print_text(f"  {_answers(request)}: 'vantage answer {request['request_id']} …'")


def _answers(request: dict[str, Any]) -> str:
    """What an answer may be."""
    options = [str(each["id"]) for each in request.get("options") or ()]
    if request.get("schema") is not None:
        options.append("--values")
    if request.get("kind") == "secret":
        return "typed in the terminal"
    return ", ".join(options) or "--text"
