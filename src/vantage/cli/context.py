"""`vantage context`: the display instruction for the terminal it runs in, for any agent's system prompt.

claude --append-system-prompt "$(vantage context)"
"""

import click

from vantage.cli.shared import OneLineCommand, WrongUsage


@click.command(cls=OneLineCommand)
@click.option("--profile", "name", default="terminal", metavar="NAME", help="terminal, telegram, web, slack or api.")
@click.option("--width", type=click.IntRange(1, 65_535), metavar="N", help="Cells of content, instead of its own.")
@click.option("--json", "as_json", is_flag=True, help="The context as JSON, ready to be sent as `presentation`.")
def context(name: str, width: int | None, as_json: bool) -> None:
    """Print the display instruction for this terminal, or for a profile.

    In a command substitution, where stdout is a pipe, the terminal is the one on stderr or stdin. COLUMNS overrides
    its width; with neither, 80 columns are assumed.
    """
    import msgspec

    from vantage.errors import InputError
    from vantage.presentation import profile

    try:
        display = profile(name, **({} if width is None else {"content_width": width}))
    except InputError as error:
        raise WrongUsage(str(error)) from error
    # As bytes: a prompt is UTF-8 whatever the locale, and `≤` must not fail where stdout is Latin-1.
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(display.to_dict()), indent=2))
    else:
        click.echo(display.to_system_instruction().encode())
