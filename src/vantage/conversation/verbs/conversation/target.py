"""What the verbs of a conversation and of the home get as their target."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vantage.conversation.conversation import Conversation
    from vantage.conversation.manager import Manager


class Home(NamedTuple):
    manager: "Manager"


class Target(NamedTuple):
    """A conversation, and the manager that has it."""

    manager: "Manager"
    conversation: "Conversation"
