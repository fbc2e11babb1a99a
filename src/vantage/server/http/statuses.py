"""The statuses of errors: what each means, its codes, and an example."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from vantage import errors
from vantage.errors import VantageError
from vantage.server.http.answers import Internal, NoSuchMethod, error_fields


class Problem(msgspec.Struct):
    """What went wrong."""

    code: Annotated[str, Meta(description="What is wrong, for programs")]
    message: Annotated[str, Meta(description="What is wrong, for people")]
    hint: Annotated[str, Meta(description="The way out: `advice` and `steps` in one sentence")]
    advice: Annotated[str, Meta(description="The way out beside `steps`")] = ""
    steps: Annotated[
        list[dict[str, Any]], Meta(description="Calls that help: each has `verb`, `args` and `does`, its effect")
    ] = []
    facts: Annotated[
        dict[str, Any],
        Meta(description="Of a request to a person: its `answer`, `hash` or `why` it was closed, as the code needs"),
    ] = {}


class Gone(Problem):
    """What went wrong."""

    next: Annotated[int, Meta(description="The first place that is still there, when something is `gone`")] = 0


@dataclass(frozen=True, slots=True)
class Status:
    codes: tuple[str, ...]
    """The first is the example's."""
    description: str
    example: VantageError
    header: tuple[str, str] | None = None
    """A header of the answer, and what is in it."""


STATUSES: dict[int, Status] = {
    400: Status(
        ("bad_input", "bad_event"),
        "The request cannot be read.",
        errors.InputError("the body is not JSON", hint="send one JSON value"),
    ),
    401: Status(
        ("unauthorized",),
        "No token, or one that is not valid.",
        errors.Unauthorized("this needs a token", hint="send one"),
        ("WWW-Authenticate", "Bearer"),
    ),
    403: Status(
        ("read_only", "forbidden"),
        "Not with this token, not for this Host, not from this Origin.",
        errors.ReadOnly("this token may only watch", hint="use one with full rights"),
    ),
    404: Status(
        ("not_found", "gone"),
        "There is no such thing, or retention dropped it.",
        errors.NotFound("there is no conversation 'work'", hint="list them, or create it"),
    ),
    405: Status(
        ("method_not_allowed",),
        "The path does not take that method.",
        NoSuchMethod(),
    ),
    409: Status(
        (
            "busy",
            "conflict",
            "keyboard_taken",
            "client_taken",
            "secret_prompt",
            "no_secret_prompt",
            "secret_gone",
            "not_running",
            "input_full",
            "input_closed",
            "line_too_long",
            "changed",
            "answered",
            "closed",
            "secret",
        ),
        "Not in this state.",
        errors.Busy(
            "the terminal runs 'make'",
            do=[errors.Do("wait_for", "waits for its end", match="PROMPT"), errors.Do("ctrl_c", "interrupts it")],
        ),
    ),
    413: Status(
        ("too_large",),
        "More than 16 MiB.",
        errors.TooLarge("a request has at most 16777216 bytes here", hint="send it in parts"),
    ),
    422: Status(
        ("validation", "bad_spec"),
        "A field is missing, or of the wrong type.",
        errors.Invalid("missing required field `command`", hint="it takes command, cwd?, timeout_ms?, max_output?"),
    ),
    429: Status(
        ("too_many",),
        "Too often.",
        errors.TooMany("too many requests", hint="try again in 1 s"),
        ("Retry-After", "Seconds"),
    ),
    500: Status(
        ("internal", "error"),
        "A failure of the server.",
        Internal("1f2e3d4c", "/home/ada/.local/state/vantage/server.log"),
    ),
    503: Status(
        ("unavailable", "host_lost", "host_silent", "interrupted"),
        "Something that is needed does not work now.",
        errors.Unavailable("the server is about to end", hint="connect again: shells live on"),
    ),
}


def failure(status: int) -> dict[str, Any]:
    """The schema of an error's body."""
    codes = STATUSES[status].codes
    (problem,) = msgspec.json.schema_components((Gone if "gone" in codes else Problem,))[1].values()
    del problem["title"]
    problem["properties"]["code"] = {"enum": codes, "description": problem["properties"]["code"]["description"]}
    return {
        "type": "object",
        "properties": {"ok": {"const": False}, "error": problem},
        "required": ["ok", "error"],
    }


def failure_example(status: int) -> dict[str, Any]:
    return error_fields(STATUSES[status].example)
