"""`vantage export`: a conversation as one file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from vantage.cli.homes import conversation_folder, home_option
from vantage.cli.output import output_option, progress, write_output
from vantage.cli.shared import OneLineCommand, WrongUsage

if TYPE_CHECKING:
    from vantage.conversation.files import ConversationFolder


def _asciicast(folder: "ConversationFolder") -> Iterator[str]:
    from vantage.export.asciicast import asciicast

    return asciicast(folder, progress())


def _html(folder: "ConversationFolder") -> Iterator[str]:
    from vantage.export.player import player

    yield player(folder, progress())


_FORMATS = {"asciicast": _asciicast, "html": _html}
"""What the file is → what writes it."""


@click.command(cls=OneLineCommand)
@click.argument("conversation")
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(_FORMATS)),
    help="asciicast: a recording for asciinema and its players (version 3). html: a page that plays it by itself.",
)
@output_option
@home_option
def export(conversation: str, kind: str | None, output: str | None, home: str | None) -> None:
    """Write the terminal of CONVERSATION, from its beginning to now, as one file.

    Needs no server: it is made from the conversation's files.
    """
    from vantage.errors import VantageError

    if kind is None:
        raise WrongUsage(f"what should the file be? Say --format {' or --format '.join(_FORMATS)}")
    folder = conversation_folder(conversation, home)
    try:
        write_output(output, (text.encode() for text in _FORMATS[kind](folder)))
    except VantageError as error:
        raise click.ClickException(f"conversation '{conversation}' cannot be exported: {error}") from error
