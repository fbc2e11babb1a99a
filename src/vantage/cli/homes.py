"""Commands that read a conversation's files: where they are, and what to say when they are not there."""

import os
from typing import TYPE_CHECKING

import click

from vantage.cli.shared import WrongUsage

if TYPE_CHECKING:
    from vantage.conversation.files import ConversationFolder

home_option = click.option("--home", metavar="DIR", help="Where conversations are kept.")


def conversation_folder(conversation: str, home: str | None) -> "ConversationFolder":
    """The folder of a conversation that is there."""
    from pathlib import Path

    from vantage.conversation.files import ConversationFolder, check_id
    from vantage.conversation.home import home as default_home
    from vantage.errors import InputError, nearest_word

    place = Path(home or default_home(os.environ)).expanduser()
    try:
        folder = ConversationFolder(place / "conversations" / check_id(conversation))
    except InputError as error:
        raise WrongUsage(str(error)) from error
    if not folder.settings.exists():
        root = place / "conversations"
        known = sorted(path.name for path in root.iterdir()) if root.is_dir() else []
        near = nearest_word(conversation, known)
        hint = f"did you mean '{near}'?" if near else "give --home if they are kept elsewhere"
        raise click.ClickException(f"there is no conversation '{conversation}' in {place}: {hint}")
    return folder
