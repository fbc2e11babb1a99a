"""Every error: whose fault it is, its code on the wire, its HTTP status, and the next steps as data.

A message and an advice name no verb. What to call next is a `Do`, and each face words it: Python and HTTP say
`read_screen`, MCP `pty_read_screen`, the command line `vantage screen`. `to_wire` and `from_wire` are its JSON.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

Fault = Literal["caller", "state", "vantage"]
"""`caller`: the request is wrong. `state`: right, but not now. `vantage`: the server or its machine cannot do it."""


def nearest_word(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that is most like `word`, if any is. Case does not matter."""
    from difflib import get_close_matches  # noqa: PLC0415 -- only a mistake needs it

    words = {each.lower(): each for each in known}
    close = get_close_matches(word.lower(), words, 1, cutoff)
    return words[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str | None = None, cutoff: float = 0.6) -> str:
    """The hint for a word that is not in `known`: the nearest one, else `otherwise`, else all of them.

    `cutoff` says from 0 to 1 how alike two words must be.
    """
    words = list(known)
    near = nearest_word(word, words, cutoff)
    if near is not None:
        return f"did you mean {near!r}?"
    if otherwise is not None:
        return otherwise
    return f"use one of {', '.join(words)}" if words else "there are none"


class Do:
    """A next step: a verb, its arguments, and what calling it does ("waits for its end")."""

    __slots__ = ("args", "does", "verb")

    def __init__(self, verb: str, does: str = "", /, **args: Any) -> None:
        self.verb = verb
        self.does = does
        self.args = args

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Do) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = [repr(each) for each in (self.verb, self.does) if each]
        return f"Do({', '.join([*given, *(f'{name}={value!r}' for name, value in self.args.items())])})"

    def to_dict(self) -> dict[str, Any]:
        return {"verb": self.verb, "args": self.args, "does": self.does}


def verb_call(step: Do) -> str:
    """A step as Python and HTTP word it: `wait_for {"match": "PROMPT"}`."""
    return f"{step.verb} {json.dumps(step.args, ensure_ascii=False)}" if step.args else step.verb


def worded(advice: str, steps: Sequence[Do], call: Callable[[Do], str] = verb_call) -> str:
    """Advice and steps as one hint; `call` words the verb and arguments of a step."""
    said = [f"{call(step)} {step.does}".rstrip() for step in steps]
    return "; ".join(filter(None, (advice, *said)))


class VantageError(Exception):
    """Something Vantage could not do.

    `facts` are the values in the message, `advice` is a way out that is no call, `do` are the calls that help. `hint`
    words both.
    """

    code = "error"
    status = 500
    fault: Fault = "vantage"

    def __init__(
        self, message: str, *, hint: str = "", do: Sequence[Do] = (), facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.advice = hint
        self.do = tuple(do)
        self.facts = dict(facts or {})

    @property
    def hint(self) -> str:
        return worded(self.advice, self.do)

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message


class InputError(VantageError, ValueError):
    """The request cannot be used as it is."""

    code = "bad_input"
    status = 400
    fault = "caller"


class Invalid(InputError):
    """A field is missing, or has the wrong type or an impossible value."""

    code = "validation"
    status = 422


class EventError(InputError):
    """Not an event at all: invalid JSON, or JSON that is not an object."""

    code = "bad_event"


class TooDeep(EventError):
    """JSON with more levels than can be read."""


class Unauthorized(VantageError):
    """The request has no valid token."""

    code = "unauthorized"
    status = 401
    fault = "caller"


class Forbidden(VantageError):
    """The token, or the place that the request comes from, does not allow it."""

    code = "forbidden"
    status = 403
    fault = "caller"


class ReadOnly(Forbidden):
    """A read-only token asked for a change."""

    code = "read_only"


class TooLarge(InputError):
    """The request has more bytes than are taken."""

    code = "too_large"
    status = 413


class TooMany(VantageError):
    """Too many requests at a time. `retry_after` is in seconds."""

    code = "too_many"
    status = 429
    fault = "caller"

    def __init__(self, message: str, *, retry_after: int = 1, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class NotFound(VantageError, LookupError):
    """There is no such conversation, block or session."""

    code = "not_found"
    status = 404
    fault = "caller"


class Gone(NotFound):
    """Retention dropped it. `next` is the first place after the dropped part."""

    code = "gone"

    def __init__(self, message: str, *, next: int, hint: str = "") -> None:
        super().__init__(message, hint=hint, facts={"next": next})
        self.next = next


class Conflict(VantageError):
    """The request is right, but not in the present state."""

    code = "conflict"
    status = 409
    fault = "state"


class Busy(Conflict):
    """The terminal runs something."""

    code = "busy"


class SecretPrompt(Conflict):
    """A program asks for a secret, and the input did not say that it is one."""

    code = "secret_prompt"


class NoSecretPrompt(Conflict):
    """A secret was sent while no program asks for one: it would be shown."""

    code = "no_secret_prompt"


class SecretGone(Conflict):
    """The program that asked for a secret ended before it read it."""

    code = "secret_gone"


class InputFull(Conflict):
    """A program does not read the input that was sent before."""

    code = "input_full"


class InputClosed(Conflict):
    """The agent, or its client, has closed its input. Nothing was sent."""

    code = "input_closed"


class OutOfOrder(Conflict):
    """The message does not have the next number. `last`, a fact, is the number of the last one. Nothing was sent."""

    code = "out_of_order"


class LineTooLong(Conflict):
    """A terminal in canonical mode cuts lines at 4,095 bytes."""

    code = "line_too_long"


class KeyboardTaken(Conflict):
    """A person has the keyboard."""

    code = "keyboard_taken"


class ClientTaken(Conflict):
    """Another token uses this client id."""

    code = "client_taken"


class RequestConflict(Conflict):
    """A request to a person is not what the caller takes it for. `facts` travel: they say what it is."""


class RequestChanged(RequestConflict):
    """The answer is to another content than the request has, or its id is in use for another content."""

    code = "changed"


class RequestAnswered(RequestConflict):
    """The request has an answer already; `facts` has it."""

    code = "answered"


class RequestOver(RequestConflict):
    """The request was closed without an answer; `facts` says why."""

    code = "closed"


class RequestSecret(RequestConflict):
    """The request is for a secret, which is typed into the terminal and never travels as an answer."""

    code = "secret"


class NotRunning(Conflict):
    """There is no shell."""

    code = "not_running"


class HomeTaken(Conflict):
    """Another process has this home directory."""

    code = "home_taken"


class UnsafeHome(VantageError):
    """Another user could change this home directory."""

    code = "unsafe_home"
    status = 403


class Unavailable(VantageError):
    """Something that is needed does not work now."""

    code = "unavailable"
    status = 503


class HostLost(Unavailable):
    """The PTY host ended, and its shells with it. Their output is kept."""

    code = "host_lost"


class HostSilent(Unavailable):
    """The PTY host does not answer."""

    code = "host_silent"


class Interrupted(Unavailable):
    """The server ended during a call that was sent again, and how far the call came is not known."""

    code = "interrupted"


class NoServer(Unavailable):
    """No server could be reached or started."""

    code = "no_server"


BY_CODE: dict[str, type[VantageError]] = {
    each.code: each
    for each in (
        *(
            VantageError,
            InputError,
            Invalid,
            EventError,
            Unauthorized,
            Forbidden,
            ReadOnly,
            TooLarge,
            TooMany,
            NotFound,
        ),
        *(Conflict, Busy, SecretPrompt, NoSecretPrompt, SecretGone, InputFull, LineTooLong, KeyboardTaken, ClientTaken),
        *(InputClosed, OutOfOrder),
        *(RequestChanged, RequestAnswered, RequestOver, RequestSecret),
        *(NotRunning, HomeTaken, UnsafeHome, Unavailable, HostLost, HostSilent, Interrupted, NoServer),
    )
}
"""Code on the wire → the error that has it. `Gone` needs its `next`, see `from_wire`."""


def to_wire(error: VantageError) -> dict[str, Any]:
    """`code`, `message` and `hint`; `next` of `Gone`; `facts` of a `RequestConflict`; with next steps also `advice` and
    `steps`, which `hint` words.
    """
    fields: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    if isinstance(error, Gone):
        fields["next"] = error.next
    if isinstance(error, RequestConflict):
        fields["facts"] = error.facts
    if error.do:
        fields["advice"] = error.advice
        fields["steps"] = [step.to_dict() for step in error.do]
    return fields


def from_wire(fields: Mapping[str, Any]) -> VantageError:
    """The error that a server answered with."""
    code = str(fields.get("code", ""))
    message = str(fields.get("message", "")) or "the server answered with an error"
    if code == Gone.code:
        return Gone(message, next=int(fields.get("next", 0)), hint=str(fields.get("hint", "")))
    steps = [Do(each["verb"], each.get("does", ""), **each.get("args", {})) for each in fields.get("steps", ())]
    advice = str(fields.get("advice", "") if steps else fields.get("hint", ""))
    kind = BY_CODE.get(code, VantageError)
    facts = fields.get("facts", {})
    error = TooMany(message, hint=advice) if kind is TooMany else kind(message, hint=advice, do=steps, facts=facts)
    error.code = code or error.code
    return error
