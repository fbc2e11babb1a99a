"""Finds the conversation and the home that a command is for, in the files: no server is needed for that.

Paths are plain strings, because every command begins here and `pathlib` takes longer to load than this takes to run.
"""

import os
import os.path
from typing import TYPE_CHECKING

import click

from vantage.cli.errors import WrongUsage
from vantage.conversation.store.home import check_home
from vantage.conversation.store.home import home as default_home

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from vantage.conversation.store.conversation_folder import ConversationFolder

home_option = click.option("--home", metavar="DIR", help="Where conversations are kept.")
CONVERSATION = "VANTAGE_CONVERSATION"
"""The variable that names the conversation when a command does not."""
_LISTED = 8


def place_of(home: str | None) -> str:
    """The home that a command works in. Raises UnsafeHome if another user could change it."""
    place = stated_place(home)
    check_home(place)
    return place


def stated_place(home: str | None) -> str:
    return os.path.abspath(os.path.expanduser(home or default_home(os.environ)))  # noqa: PTH100, PTH111


def known_conversations(place: str) -> list[str]:
    """The ids of the conversations of a home, the last used first."""
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
    """When its last event was logged, and when it was made. The second decides if both were logged in one tick of the
    clock.
    """
    made, told = (_changed(os.path.join(path, name)) for name in ("conversation.json", "events.jsonl"))  # noqa: PTH118
    return told or made, made


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116
    except OSError:
        return 0


def chosen(conversation: str | None, place: str) -> str:
    """The conversation that was named, else `$VANTAGE_CONVERSATION`, else the only one."""
    named = conversation or os.environ.get(CONVERSATION)
    if named:
        if "/" in named or not _is_conversation(os.path.join(place, "conversations", named)):  # noqa: PTH118
            conversation_folder(named, place)  # raises, and says what is wrong
        return named
    known = known_conversations(place)
    if len(known) == 1:
        return known[0]
    if not known:
        raise WrongUsage(f"there is no conversation in {place}: 'vantage new' makes one")
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    raise WrongUsage(f"which conversation? Name it, or set {CONVERSATION}: {', '.join(known[:_LISTED])}{more}")


def possible_id(conversation: str) -> str:
    """An id that a conversation can have. Any other one is wrong usage, with or without a server."""
    from vantage.conversation.store.conversation_folder import check_id
    from vantage.errors import InputError

    try:
        return check_id(conversation)
    except InputError as error:
        raise WrongUsage(str(error)) from error


def conversation_folder(conversation: str, home: str | None) -> "ConversationFolder":
    """The folder of a conversation. Raises NotFound if there is none."""
    from pathlib import Path

    from vantage.conversation.store.conversation_folder import ConversationFolder
    from vantage.errors import NotFound, did_you_mean

    place = place_of(home)
    folder = ConversationFolder(Path(place) / "conversations" / possible_id(conversation))
    if not folder.settings.exists():
        make = f"'vantage new {conversation}' makes it; --home names another home"
        raise NotFound(
            f"there is no conversation '{conversation}' in {place}",
            hint=did_you_mean(conversation, known_conversations(place), otherwise=make),
        )
    return folder


def complete_conversation(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem | str]":
    """Conversations for the shell's completion."""
    place = stated_place(context.params.get("home"))
    return [name for name in known_conversations(place) if name.startswith(incomplete)]


conversation_argument = click.argument(
    "conversation", required=False, metavar="[CONVERSATION]", shell_complete=complete_conversation
)
