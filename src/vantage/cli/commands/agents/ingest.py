"""`vantage ingest`: an agent's stream → a conversation's log, so that any agent's run can be watched live."""

from typing import Any

import click

from vantage.agents import SOURCES
from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import complete_conversation, home_option


@click.command(cls=OneLineCommand)
@click.argument("file", required=False, default="-", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--conversation",
    metavar="ID",
    shell_complete=complete_conversation,
    help="Add to this conversation; it is made if there is none.  [default: $VANTAGE_CONVERSATION, else a new one]",
)
@click.option("--name", help="What people call the conversation, if it is made.")
@click.option(
    "--from", "source", type=click.Choice(SOURCES), default="auto", show_default=True, help="Whose stream it is."
)
@click.option("--tee", is_flag=True, help="Pass the input on to standard output, as it comes.")
@click.option("-v", "--verbose", is_flag=True, help="Log messages of unknown types, too.")
@home_option
def ingest(**options: Any) -> None:
    """Log an agent's JSON stream as a conversation, live.

    Reads one JSON message a line from FILE, or from standard input, and finds out whose it is. What comes within 50 ms
    is sent together. When the server restarts, reading goes on, and what was not logged is sent again, once.

    \b
      claude -p --output-format stream-json --verbose "fix the tests" | vantage ingest
      codex exec --json "fix the tests" | vantage ingest --conversation fix --tee | vantage format
    """
    from vantage.cli.commands.agents.event_sender import run

    run(**options)
