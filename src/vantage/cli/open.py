"""`vantage open`: the page, in a browser that is logged in."""

import os
import sys

import click

from vantage.cli.homes import home_option
from vantage.cli.verb import Verb, client_of, json_option, note, print_json


@click.command(cls=Verb)
@click.option("--print", "only_print", is_flag=True, help="Print the link instead of opening it.")
@json_option
@home_option
def open(only_print: bool, as_json: bool, home: str | None) -> None:
    """Open the page in your browser.

    The link works once, for ten minutes; it is printed where no browser can be opened.
    """
    with client_of(home) as client:
        link = client.ask("POST", "/v1/links", {})
    if as_json:
        print_json(link)
    elif only_print or not opened(link["url"]):
        click.echo(link["url"])
    else:
        note(f"Opened {link['url'].partition('/login')[0]} in your browser.")


def opened(url: str) -> bool:
    """Whether a browser took it. One without a display would take this terminal instead."""
    if sys.platform != "darwin" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    import webbrowser

    return webbrowser.open(url)
