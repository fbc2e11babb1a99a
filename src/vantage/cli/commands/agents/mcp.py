"""`vantage mcp`: MCP over stdio, as a pipe to the server of the home."""

import os
from typing import Literal

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import CONVERSATION, home_option, possible_id
from vantage.cli.errors import NO_SERVER


@click.command(cls=OneLineCommand)
@click.option(
    "--conversation", metavar="ID", help="The conversation to use. Default: $VANTAGE_CONVERSATION, else a new one."
)
@click.option(
    "--tools", type=click.Choice(["core", "all"]), default="core", show_default=True, help="How many tools to offer."
)
@click.option("--scoped", is_flag=True, help="Reach that conversation, and those made with it, only.")
@home_option
def mcp(conversation: str | None, tools: Literal["core", "all"], scoped: bool, home: str | None) -> None:
    """Speak MCP on standard input and output, for an agent that starts this as its server.

    The server of the home does the work, and is started if none runs. When this process ends, shells live on.
    """
    import secrets
    import sys

    from vantage.cli.commands.agents.mcp_pipe import Pipe, TokenRevoked
    from vantage.conversation.store.home import home as default_home
    from vantage.errors import NoServer

    place = os.path.abspath(os.path.expanduser(home or default_home(os.environ)))  # noqa: PTH100, PTH111
    named = conversation or os.environ.get(CONVERSATION) or f"c-{secrets.token_hex(5)}"
    pipe = Pipe(place, possible_id(named), tools, token=_token_of(place, named) if scoped else None)
    try:
        pipe.run()
    except NoServer as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(NO_SERVER)
    except TokenRevoked:
        click.echo("Error: the token was revoked: set VANTAGE_TOKEN to a valid one, or unset it", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, BrokenPipeError):
        # the client has gone: buffered output has no reader
        os._exit(0)


def _token_of(home: str, conversation_id: str) -> str:
    """The token of a conversation's own shells and agents."""
    from pathlib import Path

    from vantage.conversation.store.scoped_token import scoped_token_of, settings_of

    settings = settings_of(Path(home), conversation_id)
    token = scoped_token_of(Path(home), settings) if settings is not None else None
    if token is None:
        raise click.UsageError(
            f"--scoped: there is no conversation {conversation_id!r} in {home}: create it first, or leave --scoped out"
        )
    return token
