"""`vantage serve`: the server."""

import os
import sys
from typing import Any

import click

from vantage.cli.homes import home_option
from vantage.cli.shared import OneLineCommand


@click.command(cls=OneLineCommand)
@click.option("--host", metavar="ADDRESS", help="The address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), help="The port; 0 picks a free one.  [default: 7878]"
)
@home_option
@click.option("--expose", is_flag=True, default=None, help="Allow an address that other machines can reach.")
@click.option("--hosts", metavar="NAME", multiple=True, help="Another name that this server is called by.")
@click.option("--origins", metavar="URL", multiple=True, help="Another origin whose pages may talk to it.")
@click.option("--verbose", "-v", is_flag=True, help="Log here too, every request.")
@click.option("--ready-fd", type=int, hidden=True, help="Detach, and write a line of JSON here.")
def serve(home: str | None, verbose: bool, ready_fd: int | None, **flags: Any) -> None:
    """Serve conversations to agents and to those who watch them.

    Prints one line: a link that logs a browser in, once. What is not given here is read from VANTAGE_* variables and
    from config.toml in the home; 'vantage doctor' shows what is in force.
    """
    from vantage.cli.launch import detach

    tell = detach(ready_fd) if ready_fd is not None else None

    from pathlib import Path

    import uvloop

    from vantage.conversation.files import make_directory
    from vantage.conversation.home import home as default_home
    from vantage.errors import VantageError
    from vantage.server.config import is_loopback, load
    from vantage.server.logs import start_logging
    from vantage.server.running import run

    place = Path(home or default_home(os.environ)).expanduser().absolute()
    if verbose:
        flags["log_level"] = "debug"
    try:
        config = load(place, flags, os.environ, any_port=tell is not None).config
        make_directory(place)
        start_logging(config, terminal=sys.stderr if verbose else None)
        if not is_loopback(config.host):
            click.echo(f"Warning: other machines can reach {config.host}: whoever has a token has a shell.", err=True)
        uvloop.run(run(config, (lambda _: tell({"ready": True})) if tell else click.echo))
    except VantageError as error:
        if tell:
            tell({"code": error.code, "error": str(error)})
        raise click.ClickException(str(error)) from error
