"""`vantage stop`: ends the server of a home, and its shells only with `--shells`."""

import json
import os
import select
import signal

import click

from vantage.cli.arguments.command import Verb, json_option
from vantage.cli.arguments.conversation import home_option, place_of
from vantage.cli.display.printing import print_json
from vantage.client.launch import answers
from vantage.errors import NoServer

TIMEOUT_S = 30.0
"""For a process to end after SIGTERM."""


@click.command(cls=Verb)
@click.option("--shells", is_flag=True, help="End every shell and agent of the home too, with all that runs in it.")
@json_option
@home_option
def stop(shells: bool, as_json: bool, home: str | None) -> None:
    """End the server. Shells live on, and the next command that needs a server starts one and finds them.

    After an upgrade, the next server is of the new version.
    """
    place = place_of(home)
    server = _end(place, "server.json")
    host = _end(place, "host.json") if shells else _owner(place, "host.json")
    if as_json:
        print_json({"ok": True, "server": server, "host": host if shells else None})
        return
    click.echo(f"The server has ended (process {server})." if server else f"No server runs in {place}.")
    if host:
        click.echo("All shells have ended." if shells else "Shells live on: 'vantage stop --shells' ends them.")


def _owner(place: str, name: str) -> int | None:
    """The process whose address is in this file, if it answers."""
    try:
        with open(os.path.join(place, name), "rb") as file:  # noqa: PTH118, PTH123
            said = json.load(file)
        return int(said["pid"]) if answers(said["socket"]) else None
    except (OSError, NoServer, ValueError, KeyError, TypeError):
        return None


def _end(place: str, name: str) -> int | None:
    """Ends the process whose address is in this file, and waits until it has gone. Returns its id."""
    pid = _owner(place, name)
    if pid is None:
        return None
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return pid
    try:
        signal.pidfd_send_signal(process, signal.SIGTERM)
        if not select.select([process], [], [], TIMEOUT_S)[0]:
            raise click.ClickException(f"process {pid} was told to end, and has not within {TIMEOUT_S:.0f} s")
    except ProcessLookupError:
        pass
    except PermissionError as error:
        raise click.ClickException(f"process {pid} is not yours to end: {error.strerror}") from error
    finally:
        os.close(process)
    return pid
