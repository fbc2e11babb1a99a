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


class Invalid(InputError):
    """A field is missing, or of the wrong kind."""

    code = "validation"
    status = 422


class EventError(InputError):
    """Not an event at all: invalid JSON, or JSON that is not an object."""

    code = "bad_event"


class Unauthorized(VantageError):
    """Nobody knows who asks."""

    code = "unauthorized"
    status = 401


class Forbidden(VantageError):
    """Not for this one, or not from there."""

    code = "forbidden"
    status = 403


class ReadOnly(Forbidden):
    """A token that only watches."""

    code = "read_only"


class TooLarge(InputError):
    code = "too_large"
    status = 413


class TooMany(VantageError):
    """Too often. `retry_after` says after how many seconds it is worth another try."""

    code = "too_many"
    status = 429

    def __init__(self, message: str, *, retry_after: int = 1, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class NotFound(VantageError, LookupError):
    """There is no such conversation, block or session."""

    code = "not_found"
    status = 404


class Gone(NotFound):
    """It was there, and retention dropped it. `next` is the first place behind the hole."""

    code = "gone"

    def __init__(self, message: str, *, next: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.next = next


class Conflict(VantageError):
    """Not in this state of things."""

    code = "conflict"
    status = 409


class Busy(Conflict):
    """The terminal runs something."""

    code = "busy"


class SecretPrompt(Conflict):
    """A program asks for a secret: nothing is typed into it by accident."""

    code = "secret_prompt"


class NoSecretPrompt(Conflict):
    """A secret was to be typed where its letters would be shown."""

    code = "no_secret_prompt"


class KeyboardTaken(Conflict):
    """A person has the keyboard."""

    code = "keyboard_taken"


class NotRunning(Conflict):
    """There is no shell."""

    code = "not_running"


class HomeTaken(Conflict):
    """Another process has this home directory."""

    code = "home_taken"


class Unavailable(VantageError):
    """Something that is needed does not work now."""

    code = "unavailable"
    status = 503
