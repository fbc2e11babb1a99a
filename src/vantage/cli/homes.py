"""Which conversation of which home is meant, found in the files: no server is needed for that.

Plain strings: every command begins here, and `pathlib` costs more than the look.
"""

import os
import os.path
from typing import TYPE_CHECKING

import click

from vantage.cli.shared import WrongUsage
from vantage.conversation.home import home as default_home

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from vantage.conversation.files import ConversationFolder

home_option = click.option("--home", metavar="DIR", help="Where conversations are kept.")
CONVERSATION = "VANTAGE_CONVERSATION"
"""The variable that names the conversation of those who do not."""
_LISTED = 8


class NoConversation(click.ClickException):
    code = "not_found"


def place_of(home: str | None) -> str:
    return os.path.abspath(os.path.expanduser(home or default_home(os.environ)))  # noqa: PTH100, PTH111


def known_conversations(place: str) -> list[str]:
    """Their ids, whoever used one last first."""
    root = os.path.join(place, "conversations")  # noqa: PTH118
    try:
        with os.scandir(root) as entries:
            used = [(_last_used(entry.path), entry.name) for entry in entries if _is_conversation(entry.path)]
    except OSError:
        return []
    return [name for _, name in sorted(used, reverse=True)]


def _is_conversation(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "conversation.json"))  # noqa: PTH113, PTH118


def _last_used(path: str) -> tuple[float, float]:
    """When something was told last, and when it was made: within a tick of the clock the younger one wins."""
    made, told = (_changed(os.path.join(path, name)) for name in ("conversation.json", "events.jsonl"))  # noqa: PTH118
    return told or made, made


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116
    except OSError:
        return 0


def chosen(conversation: str | None, place: str) -> str:
    """The conversation that was named, else `$VANTAGE_CONVERSATION`, else the only one there is."""
    named = conversation or os.environ.get(CONVERSATION)
    if named:
        if "/" in named or not _is_conversation(os.path.join(place, "conversations", named)):  # noqa: PTH118
            conversation_folder(named, place)  # says what is wrong with it
        return named
    known = known_conversations(place)
    if len(known) == 1:
        return known[0]
    if not known:
        raise WrongUsage(f"there is no conversation in {place}: 'vantage new' makes one")
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    raise WrongUsage(f"which conversation? Name it, or set {CONVERSATION}: {', '.join(known[:_LISTED])}{more}")


def conversation_folder(conversation: str, home: str | None) -> "ConversationFolder":
    """The folder of a conversation that is there."""
    from pathlib import Path

    from vantage.conversation.files import ConversationFolder, check_id
    from vantage.errors import InputError, nearest_word

    place = place_of(home)
    try:
        folder = ConversationFolder(Path(place) / "conversations" / check_id(conversation))
    except InputError as error:
        raise WrongUsage(str(error)) from error
    if not folder.settings.exists():
        near = nearest_word(conversation, known_conversations(place))
        hint = f"did you mean '{near}'?" if near else "give --home if they are kept elsewhere"
        raise NoConversation(f"there is no conversation '{conversation}' in {place}: {hint}")
    return folder


def complete_conversation(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem | str]":
    """Conversations for the shell's completion."""
    place = place_of(context.params.get("home"))
    return [name for name in known_conversations(place) if name.startswith(incomplete)]


conversation_argument = click.argument(
    "conversation", required=False, metavar="[CONVERSATION]", shell_complete=complete_conversation
)
