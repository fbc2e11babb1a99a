"""Every error: whose fault it is, its code on the wire, and the way out."""


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
