"""`vantage serve`: the server."""

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import home_option


@click.command(cls=OneLineCommand)
@click.option("--host", metavar="ADDRESS", help="The address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), help="The port; 0 picks a free one.  [default: 7878]"
)
@home_option
@click.option("--expose", is_flag=True, default=None, help="Allow an address that other machines can reach.")
@click.option("--hosts", metavar="NAME", multiple=True, help="Another host name of this server.")
@click.option("--origins", metavar="URL", multiple=True, help="Another origin whose pages may talk to it.")
@click.option("--verbose", "-v", is_flag=True, help="Log here too, every request.")
@click.option("--ready-fd", type=int, hidden=True, help="Detach, and write a line of JSON here.")
def serve(home: str | None, verbose: bool, ready_fd: int | None, **flags: Any) -> None:
    """Serve conversations to agents and to the people who watch them.

    Prints one line: a link that logs a browser in, once. Settings that are not given here are read from VANTAGE_*
    variables and from config.toml in the home; 'vantage doctor' shows those in force.
    """
    tell = _detach(ready_fd) if ready_fd is not None else None

    from pathlib import Path

    import uvloop

    from vantage.conversation.store.files.writing import make_directory
    from vantage.conversation.store.home import check_home
    from vantage.conversation.store.home import home as default_home
    from vantage.errors import VantageError
    from vantage.server.config import is_loopback, load
    from vantage.server.logs import start_logging
    from vantage.server.running import run

    # as every other command reads it: `..` is resolved by name, also after a link
    place = Path(os.path.abspath(Path(home or default_home(os.environ)).expanduser()))  # noqa: PTH100
    if verbose:
        flags["log_level"] = "debug"
    try:
        check_home(str(place))
        config = load(place, flags, os.environ, any_port=tell is not None).config
        make_directory(place)
        start_logging(config, terminal=sys.stderr if verbose else None)
        if not is_loopback(config.host):
            click.echo(f"Warning: other machines can reach {config.host}, and a token opens a shell.", err=True)
        uvloop.run(run(config, (lambda _: tell({"ready": True})) if tell else click.echo))
    except VantageError as error:
        if tell:
            tell({"code": error.code, "error": str(error)})
        raise
    except OSError as error:  # another user's file, a directory, a link or a device is in the place of one of our files
        why = error.strerror or str(error)
        where = f"{error.filename}: {why}" if error.filename else why
        words = f"cannot serve {place}: {where}"
        if tell:
            tell({"code": "unavailable", "error": words})
        raise click.ClickException(words) from error


def _detach(ready: int) -> Callable[[dict[str, Any]], None]:
    """Leaves the session and the directory of the process that started this one. Returns the function that reports to
    it.
    """
    os.set_inheritable(ready, False)
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():  # a session leader would get a controlling terminal by opening one
        os._exit(0)
    os.chdir("/")

    def tell(message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # it did not wait for the report
            os.write(ready, json.dumps(message).encode() + b"\n")
        os.close(ready)

    return tell
