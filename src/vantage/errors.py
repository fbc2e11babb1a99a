"""Every error: whose fault it is, its code on the wire, and the way out."""

from collections.abc import Iterable


def nearest_word(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """What somebody who wrote `word` may have meant, for a hint."""
    from difflib import get_close_matches  # noqa: PLC0415 -- only a mistake needs it

    close = get_close_matches(word, list(known), 1, cutoff)
    return close[0] if close else None


class VantageError(Exception):
    """Something Vantage could not do. `hint` says what to do instead."""

    code = "error"
    status = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message


class InputError(VantageError, ValueError):
    """What came in cannot be used: the sender's fault."""

    code = "bad_input"
    status = 400


class EventError(InputError):
    """Not an event at all: invalid JSON, or JSON that is not an object."""

    code = "bad_event"
