"""`vantage format`: an agent's JSON stream in, readable output out."""

from typing import Any

import click

from vantage.agents import SOURCES
from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.values import SURFACES


@click.command(name="format", cls=OneLineCommand)
@click.argument("file", required=False, default="-", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--from", "source", type=click.Choice(SOURCES), default="auto", show_default=True, help="Whose stream it is."
)
@click.option("--surface", type=click.Choice(SURFACES), default="terminal", show_default=True, help="What to draw for.")
@click.option(
    "--width",
    type=click.IntRange(0, 10_000),
    help="Columns to fit into; 30 or less leaves paragraphs on one line.  [default: the terminal's; none in a pipe]",
)
@click.option("--plain", is_flag=True, help="No colours and no escape codes.")
@click.option("--each", is_flag=True, help="Print every event as it comes, instead of each call once it is complete.")
@click.option(
    "--specs",
    type=click.Path(exists=True),
    help="Render specs for the tools in the stream: a file, or a folder of them.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show messages of unknown types, too.")
def format(**options: Any) -> None:
    """Show an agent's JSON stream as readable text.

    Reads one JSON message a line from FILE, or from standard input, and finds out whose it is. On a terminal, running
    calls are shown below and replaced when they complete; in a pipe each call is printed once.

    \b
      vantage format conversation.jsonl
      codex exec --json "fix the tests" | vantage format
      claude -p --output-format stream-json --verbose "fix the tests" | vantage format
    """
    from vantage.cli.commands.agents.event_printer import run

    run(**options)
