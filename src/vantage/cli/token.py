"""`vantage token`: more tokens, for other programs and for people who only watch."""

import os
from typing import TYPE_CHECKING, Any

import click

from vantage.cli.homes import home_option
from vantage.cli.shared import OneLineCommand

if TYPE_CHECKING:
    from vantage.server.tokens import Token


class _Commands(click.Group):
    command_class = OneLineCommand


@click.group(cls=_Commands)
def token() -> None:
    """Make, list and revoke tokens.

    The home's own token is in the file 'token' of the home. Others are kept as hashes only: each is shown once.
    """


@token.command()
@click.option("--read-only", is_flag=True, help="For those who only watch.")
@click.option("--name", default="", metavar="NAME", help="What it is for.")
@home_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def new(read_only: bool, name: str, home: str | None, as_json: bool) -> None:
    """Make a token, and print it: it cannot be seen again."""
    made, secret = _asked(lambda tokens: tokens.new(name, "read" if read_only else "full"), home)
    if as_json:
        _print_json({**_shown(made), "token": secret})
    else:
        click.echo(secret)


@token.command()
@home_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def ls(home: str | None, as_json: bool) -> None:
    """List tokens: id, rights, when they were made, name."""
    from datetime import UTC, datetime

    known = _asked(lambda tokens: tokens.list(), home)
    if as_json:
        _print_json([_shown(each) for each in known])
        return
    for each in known:
        made = datetime.fromtimestamp(each.created / 1000, UTC).astimezone()
        click.echo(f"{each.id}  {_RIGHTS[each.scope]:<9}  {made:%Y-%m-%d %H:%M}  {each.name}".rstrip())


@token.command()
@click.argument("which", metavar="ID-OR-NAME")
@home_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def revoke(which: str, home: str | None, as_json: bool) -> None:
    """Take a token back, at once. Browsers that logged in with it are logged out."""
    gone = _asked(lambda tokens: tokens.revoke(which), home)
    if as_json:
        _print_json(_shown(gone))
        return
    click.echo(f"Revoked {gone.id}" + (f" ({gone.name})." if gone.name else "."))


_RIGHTS = {"full": "full", "read": "read-only"}


def _asked(ask: Any, home: str | None) -> Any:
    from pathlib import Path

    from vantage.conversation.home import home as default_home
    from vantage.errors import VantageError
    from vantage.server.tokens import Tokens

    tokens = Tokens(Path(home or default_home(os.environ)).expanduser(), make_main=False)
    try:
        return ask(tokens)
    except VantageError as error:
        raise click.ClickException(str(error)) from error


def _shown(each: "Token") -> dict[str, Any]:
    return {"id": each.id, "name": each.name, "scope": each.scope, "created": each.created}


def _print_json(value: Any) -> None:
    import json

    click.echo(json.dumps(value))
