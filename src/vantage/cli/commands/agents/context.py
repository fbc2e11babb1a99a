"""`vantage context`: the display instruction for a conversation or for the terminal it runs in.

It is meant for any agent's system prompt:

claude --append-system-prompt "$(vantage context)"
"""

import os

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import CONVERSATION, home_option
from vantage.cli.errors import WrongUsage


@click.command(cls=OneLineCommand)
@click.option("--profile", "name", metavar="NAME", help="terminal, telegram, web, slack or api.")
@click.option("--width", type=click.IntRange(1, 65_535), metavar="N", help="Cells of content, instead of its own.")
@click.option(
    "--conversation", metavar="ID", help="What its agent is told now.  [default: $VANTAGE_CONVERSATION, if set]"
)
@click.option("--agent", metavar="ID", help="One agent of the conversation.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="The context as JSON, ready to be sent as `presentation`; of a conversation, the server's answer.",
)
@home_option
def context(
    name: str | None, width: int | None, conversation: str | None, agent: str | None, as_json: bool, home: str | None
) -> None:
    """Print the display instruction for this terminal, for a profile, or for a conversation.

    With --conversation, or where VANTAGE_CONVERSATION is set and neither --profile nor --width is given, the server
    says what the agent of that conversation is told: what all its displays can show.

    In a command substitution, where stdout is a pipe, the terminal is the one on stderr or stdin. COLUMNS overrides
    its width; with neither, 80 columns are assumed.
    """
    of_display = name is not None or width is not None
    if conversation is not None and of_display:
        raise WrongUsage("--conversation has displays of its own: leave --profile and --width out")
    if conversation is not None or (os.environ.get(CONVERSATION) and not of_display):
        _print_told(conversation, agent, as_json, home)
        return
    if agent is not None:
        raise WrongUsage("--agent needs --conversation: an agent belongs to one")
    import msgspec

    from vantage.errors import InputError
    from vantage.presentation import profile

    try:
        display = profile(name or "terminal", **({} if width is None else {"content_width": width}))
    except InputError as error:
        raise WrongUsage(str(error)) from error
    # As bytes: a prompt is UTF-8 in every locale, and `≤` must not fail where stdout is Latin-1.
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(display.to_dict()), indent=2))
    else:
        click.echo(display.to_system_instruction().encode())


def _print_told(conversation: str | None, agent: str | None, as_json: bool, home: str | None) -> None:
    """Prints the conversation's display instruction."""
    from vantage.cli.arguments.conversation import chosen
    from vantage.cli.display.printing import print_json
    from vantage.cli.home_client import client_of
    from vantage.client import requests

    with client_of(home, start=False) as client:
        told = requests.instructions(chosen(conversation, client.home), agent=agent, explain=True)
        answer = client.answer(told)
    if as_json:
        print_json(answer)
    else:
        click.echo(answer["text"].encode())
