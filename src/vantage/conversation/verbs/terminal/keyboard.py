"""Who may type into a terminal: the agent, unless a person has taken the keyboard."""

from vantage.errors import Do, KeyboardTaken

AGENT = "agent"
"""The holder while no person has the keyboard."""


def person(client: str) -> str:
    """The name under which a client holds the keyboard."""
    return f"client:{client}"


class Keyboard:
    def __init__(self) -> None:
        self.holder = AGENT

    def check(self, by: str = AGENT) -> None:
        """Raises unless `by` has the keyboard."""
        if self.holder == by:
            return
        message, facts = f"{self.holder} has the keyboard", {"keyboard": self.holder}
        if by == AGENT:
            steps = [Do("status", "says `keyboard: agent` when it is given back; then call again")]
            raise KeyboardTaken(message, do=steps, facts=facts)
        raise KeyboardTaken(message, do=[Do("take_keyboard", "takes it")], facts=facts)

    def take(self, client: str) -> None:
        """Gives the keyboard to a person."""
        if self.holder not in (AGENT, person(client)):
            raise KeyboardTaken(
                f"{self.holder} has the keyboard", hint="it must be given back first", facts={"keyboard": self.holder}
            )
        self.holder = person(client)

    def release(self, client: str) -> bool:
        """Gives the keyboard back to the agent, if this client has it. Returns whether it had."""
        had = self.holder == person(client)
        if had:
            self.holder = AGENT
        return had
