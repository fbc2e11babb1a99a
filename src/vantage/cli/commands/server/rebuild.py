"""`vantage rebuild`: proves, or restores, that text and blocks are what the raw output says."""

import sys

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import chosen, conversation_argument, conversation_folder, home_option, place_of
from vantage.cli.display.output_file import progress
from vantage.cli.display.signals import cleaning_up


@click.command(cls=OneLineCommand)
@conversation_argument
@click.option("--check", is_flag=True, help="Only compare; exit 1 when something differs.")
@home_option
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def rebuild(conversation: str | None, check: bool, home: str | None, as_json: bool) -> None:
    """Derive the spool, blocks and screen of CONVERSATION from its raw output again.

    Nothing of it is lost either way: the raw output stays as it is, and what differs is replaced by what it gives.
    """
    import msgspec

    from vantage.conversation.search.store import SearchStore
    from vantage.conversation.store.derived.rebuild import rebuild as derive_again
    from vantage.errors import VantageError

    place = place_of(home)
    named = chosen(conversation, place)
    folder = conversation_folder(named, place)
    try:
        with cleaning_up(), progress() as show:
            report = derive_again(folder, named, check=check, progress=show)
    except VantageError as error:
        raise click.ClickException(f"conversation '{named}' cannot be derived again: {error}") from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder.path} cannot be used: {error.strerror}") from None
    if not check:
        SearchStore(folder.path.parents[1] / "search.db").start_anew()  # it may know entries that are gone
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        for difference in report.differences:
            click.echo(f"{difference.file} {difference.message}")
        found = f"{report.raw:,} bytes of output give {report.blocks:,} blocks and {report.events:,} events"
        verdict = "all as kept" if not report.differences else "not as kept" if check else "replaced what differed"
        click.echo(f"{found}: {verdict}")
    if check and report.differences:
        sys.exit(1)
