"""`vantage export`: a conversation as one file."""

import os

import click

from vantage.cli.homes import chosen, conversation_argument, conversation_folder, home_option, place_of
from vantage.cli.output import output_option, progress, write_output
from vantage.cli.shared import OneLineCommand, WrongUsage

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
    _know_tools(place)
    try:
        write_output(output, (text.encode() for text in exported(folder, kind, progress())))
    except VantageError as error:
        raise click.ClickException(f"conversation '{named}' cannot be exported: {error}") from error


def _know_tools(place: str) -> None:
    """How the home's tools look that are not ours, as its server knows it."""
    import msgspec

    from vantage import extensions
    from vantage.conversation.home import specs_folder
    from vantage.conversation.spec_files import load_folder
    from vantage.timeline.specs.registry import COMMON

    extensions.install()
    for tool, spec in load_folder(specs_folder(os.environ)).specs.items():
        COMMON.offer(tool, spec)
    try:
        with open(os.path.join(place, "tools.json"), "rb") as file:  # noqa: PTH118, PTH123
            known = msgspec.json.decode(file.read(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError):
        return
    for tool, spec in known.items():
        COMMON.offer(tool, spec)
