"""`vantage demo`: a scripted agent run through every part, in the browser and on this terminal."""

import sys

import click

from vantage.cli.arguments.command import Verb, json_option
from vantage.cli.arguments.conversation import home_option, place_of
from vantage.cli.display.printing import note, print_json
from vantage.cli.home_client import client_of
from vantage.client.environment import shell_environment
from vantage.client.requests import request


@click.command(cls=Verb)
@click.option("--pace", type=click.FloatRange(0, 10), default=1.0, help="Stretches every pause; 0 leaves them out.")
@click.option("--detach", is_flag=True, help="Only start it: watch it in the browser.")
@json_option
@home_option
def demo(pace: float, detach: bool, as_json: bool, home: str | None) -> None:
    """Show what Vantage does, in a minute: no model, no network, real programs.

    A scripted agent writes, plans, edits, plays a game in a real terminal, opens an editor, meets a password prompt,
    calls a tool that has a render spec and asks a sub-agent. It is shown here and in your browser.
    """
    from vantage.cli.commands.server.open import handed_over

    place = place_of(home)
    with client_of(home) as client:
        made = client.answer(request("POST", "/v1/demo", {"pace": pace, "env": shell_environment()}))
        link = client.answer(request("POST", "/v1/links", {}))["url"]
    if as_json:
        print_json({**made, "url": link})
    elif handed_over(place, link):
        note("It plays in your browser, too.")
    else:
        note(f"Watch it in a browser, too: {link}")
    if detach or as_json:
        return
    from vantage.cli.commands.look.watch import Watch

    sys.exit(Watch(place, made["id"], None, to_the_end=True).run())
