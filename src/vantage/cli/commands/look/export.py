"""`vantage export`: a conversation as one file."""

from typing import TYPE_CHECKING

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import chosen, conversation_argument, conversation_folder, home_option, place_of
from vantage.cli.display.output_file import output_option, progress, write_output
from vantage.cli.display.printing import note
from vantage.cli.errors import WrongUsage

if TYPE_CHECKING:
    from vantage.timeline.tools.registry import ToolRegistry

_FORMATS = ("html", "markdown", "text", "asciicast", "player")


@click.command(cls=OneLineCommand)
@conversation_argument
@click.option(
    "--format",
    "kind",
    type=click.Choice(_FORMATS),
    help="html: a page with the timeline and the terminal, to be played. markdown, text: the timeline. "
    "asciicast: the terminal as a recording for asciinema and its players (version 3). "
    "player: a page that plays the terminal alone.",
)
@output_option
@home_option
def export(conversation: str | None, kind: str | None, output: str | None, home: str | None) -> None:
    """Write CONVERSATION, from its beginning to now, as one file.

    Needs no server: it is made from the conversation's files. Of one command's output, 100,000 characters are written;
    where there was more, the file says how much.
    """
    from vantage.errors import VantageError
    from vantage.export.conversation import export as exported

    if kind is None:
        raise WrongUsage(f"what should the file be? Say --format with one of {', '.join(_FORMATS)}")
    place = place_of(home)
    named = chosen(conversation, place)
    folder = conversation_folder(named, place)
    tools = _known_tools(place)
    try:
        with progress(output) as show:
            write_output(output, (text.encode() for text in exported(folder, kind, show, tools)))
    except VantageError as error:
        raise click.ClickException(f"conversation '{named}' cannot be exported: {error}") from error


def _known_tools(place: str) -> "ToolRegistry":
    """The render specs that the home's server has."""
    from pathlib import Path

    from vantage import extensions
    from vantage.conversation.store.specs.home import HomeSpecs
    from vantage.errors import Unavailable

    specs = HomeSpecs(Path(place), extensions.installed(), note)
    try:
        specs.load()
    except Unavailable as error:
        note(f"tools for all conversations are left out: {error}")
    return specs.tools
