"""`vantage agent`, `say`, `interrupt`: runs an agent in a conversation, and talks to it."""

import os
import secrets
import sys
from typing import Any

import click

from vantage.cli.arguments.command import Verb, addressed, json_option, one_word, words_argument
from vantage.cli.arguments.conversation import (
    chosen,
    complete_conversation,
    conversation_argument,
    home_option,
    place_of,
    possible_id,
)
from vantage.cli.display.printing import note, print_json, print_text
from vantage.cli.display.tables import Cell, table
from vantage.cli.errors import WrongUsage
from vantage.cli.home_client import HomeClient, client_of
from vantage.client import requests
from vantage.client.environment import shell_environment
from vantage.errors import NotFound

_BECAME = {
    "queued": "the message waits until the agent can take it",
    "steered": "the message joins the turn that runs",
    "refused": "the agent does not take a message now: try again, or interrupt it",
}


@click.command(cls=Verb)
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("prompt", required=False, metavar="[PROMPT]")
@click.option("--cwd", metavar="DIR", help="Where it works.  [default: here]")
@click.option("--model", metavar="MODEL", help="By the agent's name for it.")
@click.option("--mode", metavar="MODE", help="The agent's own permission mode.")
@click.option("--resume", metavar="SESSION", help="Continue a session of the agent.")
@click.option(
    "--conversation",
    metavar="ID",
    shell_complete=complete_conversation,
    help="Where it runs; made if there is none.  [default: a new one]",
)
@click.option("--acp", metavar="COMMAND", help="Run this program, which speaks the Agent Client Protocol.")
@json_option
@home_option
def agent(
    name: str | None,
    prompt: str | None,
    cwd: str | None,
    model: str | None,
    mode: str | None,
    resume: str | None,
    conversation: str | None,
    acp: str | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Run the agent NAME (claude, codex …) in a conversation, and talk to it here. Without NAME, list them.

    On a terminal, the timeline is above and an input line below. Enter sends, Alt-Enter begins another line, a number
    answers a question, Esc interrupts, Ctrl-O shows the agent's terminal, Ctrl-D leaves; the agent works on. In a pipe,
    its rows are printed until the turn is over, and the agent is ended: `vantage say` continues its session.
    """
    place = place_of(home)
    if acp is not None and prompt is None:
        name, prompt = "acp", name
    if name is None and conversation is None:
        with HomeClient(place) as client:
            _list(client.answer(requests.agents()), as_json=as_json)
        return
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if name is not None and prompt is None and not interactive:
        raise WrongUsage("in a pipe an agent needs a PROMPT: vantage agent claude 'fix the importer'")
    with HomeClient(place) as client:
        where = _conversation(client, conversation, name or "agent", cwd)
        if name is not None:
            fields = {"command": acp.split() if acp else None, "model": model, "mode": mode, "resume": resume}
            here = os.path.abspath(os.path.expanduser(cwd or "."))  # noqa: PTH100, PTH111
            client.answer(requests.start_agent(where, name, {**fields, "cwd": here, "env": shell_environment()}))
        if prompt is not None:
            client.answer(requests.say(where, prompt, by="cli"))
        sys.exit(_talk(place, where) if interactive else _until_done(client, place, where))


def _conversation(client: HomeClient, conversation: str | None, name: str, cwd: str | None) -> str:
    """The conversation that was named, or a new one."""
    where = possible_id(conversation) if conversation else f"{name}-{secrets.token_hex(3)}"
    try:
        client.answer(requests.describe(where))
    except NotFound:
        here = os.path.abspath(os.path.expanduser(cwd or "."))  # noqa: PTH100, PTH111
        client.answer(requests.create({"id": where, "cwd": here, "env": shell_environment()}))
    return where


def _talk(place: str, conversation: str) -> int:
    from vantage.cli.commands.agents.desk import Desk
    from vantage.cli.commands.look.watch import Watch

    watch = Watch(place, conversation, None)
    desk = Desk(place, conversation, watch.link)
    desk.open()
    try:
        code = watch.run(desk)
    finally:
        desk.close()
    note(f"left '{conversation}': its agent works on; 'vantage agent --conversation {conversation}' comes back")
    return code


def _until_done(client: HomeClient, place: str, conversation: str) -> int:
    from vantage.cli.commands.look.watch import Watch

    code = Watch(place, conversation, None, to_the_end=True).run()
    state = client.answer(requests.agent(conversation))
    client.answer(requests.end_agent(conversation))
    if state.get("error"):
        note(f"the agent failed: {state['error']}")
        return 1
    return code


def _list(answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    found = answer["agents"]
    programs = [
        (
            Cell(each["agent"]),
            Cell(each.get("version") or "") if each["installed"] else Cell("not installed", "2"),
            Cell(each.get("path") or each.get("install") or ""),
        )
        for each in found
    ]
    print_text(table(programs, ("AGENT", "VERSION", "PROGRAM")))
    sessions = [
        (each["agent"], one["conversation_id"], one["session"], one["cwd"])
        for each in found
        for one in each.get("sessions", [])
    ]
    if sessions:
        print_text("\n" + table(sessions, ("AGENT", "CONVERSATION", "SESSION", "CWD")))


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [--] TEXT")
@json_option
@home_option
def say(words: tuple[str, ...], as_json: bool, home: str | None) -> None:
    """Give the agent of CONVERSATION a message. One that has ended continues its session.

    TEXT `-` is read from standard input.
    """
    conversation, rest = addressed(words, enough=len(words) == 1)
    text = one_word(rest, "TEXT")
    if text == "-":
        text = sys.stdin.read()
    with client_of(home) as client:
        answer = client.answer(requests.say(chosen(conversation, client.home), text, by="cli"))
    if as_json:
        print_json(answer)
    elif answer["delivery"] != "now":
        note(_BECAME[answer["delivery"]])
    if answer["delivery"] == "refused":
        sys.exit(1)


@click.command(cls=Verb)
@conversation_argument
@json_option
@home_option
def interrupt(conversation: str | None, as_json: bool, home: str | None) -> None:
    """Stop the turn of the agent of CONVERSATION."""
    with client_of(home) as client:
        answer = client.answer(requests.interrupt(chosen(conversation, client.home)))
    if as_json:
        print_json(answer)
    elif not answer["interrupted"]:
        note("no turn runs")
