"""`vantage new`, `ls`, `rename`, `status`, `close`, `delete`: conversations themselves."""

import os
from typing import Any

import click

from vantage.cli.arguments.command import Verb, addressed, json_option, one_word, words_argument
from vantage.cli.arguments.conversation import (
    chosen,
    complete_conversation,
    conversation_argument,
    home_option,
    possible_id,
)
from vantage.cli.arguments.values import size
from vantage.cli.display.printing import note, print_json, print_text
from vantage.cli.display.tables import Cell, ago, pairs, table
from vantage.cli.home_client import client_of
from vantage.client import calls, requests
from vantage.client.environment import shell_environment

_COLORS = {"running": "33", "secret": "1;35", "idle": "32", "new": "2", "ended": "2"}


@click.command(cls=Verb)
@click.argument("id", required=False, metavar="[ID]")
@click.option("--name", help="A name for people.")
@click.option("--shell", metavar="SHELL", help="bash, zsh, fish, sh or a path.  [default: bash]")
@click.option("--cwd", metavar="DIR", help="Where the shell starts.  [default: here]")
@click.option("--size", "cols_rows", callback=size, metavar="COLSxROWS", help="Of its terminal.  [default: 120x40]")
@click.option("--env", "more", multiple=True, metavar="NAME=VALUE", help="One more variable of the shell; repeatable.")
@click.option("--no-rc", is_flag=True, help="Do not read your rc files.")
@click.option("--allow-secret-input", is_flag=True, help="Let agents type into password prompts without saying so.")
@click.option("--engine", metavar="ENGINE", help="Draws its screens: auto, ghostty or pyte.  [default: the server's]")
@json_option
@home_option
def new(
    id: str | None,
    name: str | None,
    shell: str | None,
    cwd: str | None,
    cols_rows: tuple[int, int] | None,
    more: tuple[str, ...],
    no_rc: bool,
    allow_secret_input: bool,
    engine: str | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Make a conversation, and print its id.

    Its shell gets this directory and this environment. It starts with the first command.
    """
    if id is not None:
        possible_id(id)
    fields: dict[str, Any] = {
        "id": id,
        "name": name,
        "shell": shell,
        "engine": engine,
        "cwd": os.path.abspath(os.path.expanduser(cwd or ".")),  # noqa: PTH100, PTH111
        "env": {**shell_environment(), **dict(map(_variable, more))},
    }
    if cols_rows is not None:
        fields["cols"], fields["rows"] = cols_rows
    if no_rc:
        fields["user_rc"] = False
    if allow_secret_input:
        fields["allow_secret_input"] = True
    with client_of(home) as client:
        made = client.answer(requests.create(fields))
    if as_json:
        print_json(made)
    else:
        print_text(made["id"])


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r} is no variable: write NAME=VALUE", param_hint="'--env'")
    return name, value


@click.command(cls=Verb)
@json_option
@home_option
def ls(as_json: bool, home: str | None) -> None:
    """List conversations, the last used first."""
    with client_of(home, start=False) as client:
        answer = client.answer(requests.list_conversations())
    if as_json:
        print_json(answer)
        return
    found = answer["conversations"]
    if not found:
        note("there is no conversation: 'vantage new' makes one")
        return
    rows = [
        (
            each["id"],
            Cell(each["state"], _COLORS.get(each["state"], "")),
            ago(each["last_activity"]),
            each["cwd"],
            " · ".join(filter(None, (each["name"], each.get("running") or each.get("title")))),
        )
        for each in found
    ]
    print_text(table(rows, ("CONVERSATION", "STATE", "USED", "DIRECTORY", "ABOUT")))


@click.command(cls=Verb)
@words_argument("[CONVERSATION] NAME")
@json_option
@home_option
def rename(words: tuple[str, ...], as_json: bool, home: str | None) -> None:
    """Give a conversation another name. Its id stays."""
    conversation, rest = addressed(words, enough=len(words) == 1)
    name = one_word(rest, "the new name")
    with client_of(home) as client:
        answer = client.answer(requests.rename(chosen(conversation, client.home), name))
    if as_json:
        print_json(answer)


@click.command(cls=Verb)
@conversation_argument
@json_option
@home_option
def status(conversation: str | None, as_json: bool, home: str | None) -> None:
    """Say what a conversation's terminal does now."""
    with client_of(home, start=False) as client:
        chosen_one = chosen(conversation, client.home)
        answer = client.pty(chosen_one, calls.status())
    if as_json:
        print_json(answer)
        return
    last = answer["last_exit_code"]
    mode = answer["mode"]
    print_text(
        pairs(
            [
                ("conversation", Cell(chosen_one, "1")),
                ("mode", Cell(mode, _COLORS["idle" if mode == "idle" else "running"])),
                ("session", answer["active_session_id"] or ""),
                ("block", answer["active_block_id"] or ""),
                ("foreground", answer["foreground"] or ""),
                ("stalled", Cell(answer.get("stalled") or "", "31")),
                (
                    "asks for",
                    Cell("a secret: 'vantage send --secret' answers", "1;35") if answer["awaiting_secret"] else "",
                ),
                ("directory", answer["cwd"] or ""),
                ("last exit", "" if last is None else Cell(str(last), "31" if last else "32")),
                ("title", answer["title"]),
                ("size", f"{answer['cols']}x{answer['rows']}" + (", alternate screen" if answer["alt_screen"] else "")),
                ("keyboard", answer["keyboard"]),
                ("process", str(answer["pid"] or "")),
                ("cursor", str(answer["cursor"])),
            ]
        )
    )


@click.command(cls=Verb)
@conversation_argument
@json_option
@home_option
def close(conversation: str | None, as_json: bool, home: str | None) -> None:
    """End a conversation's shell. Everything it did stays readable."""
    with client_of(home) as client:
        answer = client.answer(requests.close(chosen(conversation, client.home)))
    if as_json:
        print_json(answer)


@click.command(cls=Verb)
@click.argument("conversation", shell_complete=complete_conversation)
@json_option
@home_option
def delete(conversation: str, as_json: bool, home: str | None) -> None:
    """End a conversation's shell and remove all its files. There is no way back, so it must be named."""
    with client_of(home) as client:
        answer = client.answer(requests.delete(chosen(conversation, client.home)))
    if as_json:
        print_json(answer)
