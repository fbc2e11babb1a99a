"""The token of a conversation's own shells and agents. It is made of the home's token, so it is stored nowhere.

Deleting the conversation, or replacing the home's token, revokes it.
"""

import hashlib
import hmac
import re
from contextlib import suppress
from pathlib import Path

import msgspec

from vantage.conversation.store.conversation_folder import ID_PATTERN, ConversationFolder, Settings

PREFIX = "vantage_agent_"


def scoped_token(home_token: str, settings: Settings) -> str:
    said = f"{settings.id}\n{settings.epoch}".encode()
    return f"{PREFIX}{hmac.new(home_token.encode(), said, hashlib.sha256).hexdigest()}_{settings.id}"


def scoped_token_of(home: Path, settings: Settings) -> str | None:
    """The token for a conversation's shells; None in a home without a server's token."""
    try:
        home_token = (home / "token").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        return None
    return scoped_token(home_token, settings) if home_token else None


def own_environment(home: Path, settings: Settings) -> dict[str, str]:
    """The variables of a conversation's own shells and agents: its id, its home and its token.

    So `vantage` in them means this conversation, even if its creator ran in the shell of another one.
    """
    token = scoped_token_of(home, settings)
    named = {"VANTAGE_CONVERSATION": settings.id, "VANTAGE_HOME": str(home)}
    return named if token is None else {**named, "VANTAGE_TOKEN": token}


def settings_of(home: Path, conversation_id: str) -> Settings | None:
    """The settings of a conversation; None if there is none with this id."""
    if re.fullmatch(ID_PATTERN, conversation_id):
        with suppress(OSError, msgspec.MsgspecError):
            return ConversationFolder(home / "conversations" / conversation_id).read_settings()
    return None
