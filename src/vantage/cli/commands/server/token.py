"""`vantage token`: more tokens, for other programs and for people who only watch."""

from typing import TYPE_CHECKING, Any

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import home_option, place_of

if TYPE_CHECKING:
    from vantage.server.security.tokens import Token


class _Commands(click.Group):
    command_class = OneLineCommand


@click.group(cls=_Commands)
def token() -> None:
    """Make, list and revoke tokens; list browsers that are logged in, and log them out.

    The home's own token is in the file 'token' of the home. Others are kept as hashes only: each is shown once.
    """


@token.command()
@click.option("--read-only", is_flag=True, help="For watching only.")
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
    """List tokens, then browsers that are logged in: id, rights, since when, name."""
    from vantage.text.sanitize import one_line

    known = _asked(lambda tokens: [*tokens.list(), *tokens.sessions()], home)
    if as_json:
        _print_json([_shown(each) for each in known])
        return
    for each in known:
        name = one_line(f"{each.name}, until {_moment(each.expires)}" if each.parent else each.name)
        click.echo(f"{each.id}  {_RIGHTS[each.scope]:<9}  {_moment(each.created)}  {name}".rstrip())


@token.command()
@click.argument("which", metavar="ID-OR-NAME")
@home_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def revoke(which: str, home: str | None, as_json: bool) -> None:
    """Take a token back, at once, or log a browser out. Browsers that logged in with the token are logged out too."""
    gone = _asked(lambda tokens: tokens.revoke(which), home)
    if as_json:
        _print_json(_shown(gone))
        return
    from vantage.text.sanitize import one_line

    done = "Logged out" if gone.parent else "Revoked"
    click.echo(f"{done} {gone.id}" + (f" ({one_line(gone.name)})." if gone.name else "."))


_RIGHTS = {"full": "full", "read": "read-only"}


def _asked(ask: Any, home: str | None) -> Any:
    from pathlib import Path

    from vantage.server.security.tokens import Tokens

    return ask(Tokens(Path(place_of(home)), make_main=False))


def _shown(each: "Token") -> dict[str, Any]:
    shown = {"id": each.id, "name": each.name, "scope": each.scope, "created": each.created}
    return {**shown, "expires": each.expires} if each.parent else shown


def _moment(ms: int) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%Y-%m-%d %H:%M}"


def _print_json(value: Any) -> None:
    import json

    click.echo(json.dumps(value))
