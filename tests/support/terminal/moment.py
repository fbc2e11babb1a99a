"""A terminal at one moment, as conditions see it."""

import msgspec


class Now(msgspec.Struct):
    """A terminal as it is now."""

    cursor: int = 0
    over: bool = False
    at_prompt: bool = False
    awaiting_secret: bool = False
    foreground: str | None = None
    title: str = ""
    screen: str = ""
    quiet: float = 0

    def screen_text(self):
        return self.screen

    def quiet_for(self):
        return self.quiet
