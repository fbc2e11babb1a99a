"""`vantage mcp`: MCP over stdio, as a pipe to the server of the home."""

import os
from typing import Literal

import click

from vantage.cli.homes import home_option
from vantage.cli.shared import OneLineCommand


@click.command(cls=OneLineCommand)
@click.option("--conversation", metavar="ID", help="The conversation to use. Default: a new one.")
@click.option(
    "--tools", type=click.Choice(["core", "all"]), default="core", show_default=True, help="How many tools to offer."
)
@home_option
def mcp(conversation: str | None, tools: Literal["core", "all"], home: str | None) -> None:
    """Speak MCP on standard input and output, for an agent that starts this as its server.

    The server of the home does the work, and is started if none runs. When this process ends, shells live on.
    """
    import secrets
    import sys

    from vantage.cli.launch import LaunchError
    from vantage.cli.pipe import Pipe
    from vantage.conversation.home import home as default_home

    place = os.path.abspath(os.path.expanduser(home or default_home(os.environ)))  # noqa: PTH100, PTH111
    pipe = Pipe(place, conversation or f"c-{secrets.token_hex(5)}", tools)
    try:
        pipe.run()
    except LaunchError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(3)
    except (KeyboardInterrupt, BrokenPipeError):
        # whoever started it has gone; what is still buffered has no reader
        os._exit(0)
