"""The way out of an error, with its next steps as commands to type."""

from collections.abc import Callable, Mapping
from typing import Any

from vantage.errors import Do, VantageError, worded

# verb → how its call is typed here
_COMMANDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "exec_block": lambda _: "exec",
    "exec_interactive": lambda _: "run",
    "end_session": lambda _: "end",
    "wait_for": lambda args: _wait(args.get("match")),
    "read_block": lambda args: " ".join(filter(None, ("read", args.get("block_id")))),
    "read_screen": lambda _: "screen",
    "ctrl_c": lambda _: "keys C-c",
    "keys": lambda args: " ".join(["keys", *args.get("keys", ())]),
    "send": lambda args: "send --secret" if args.get("secret") else "send",
}


def hint_of(error: VantageError) -> str:
    return worded(error.advice, error.do, command_of)


def slip_note(note: Mapping[str, Any]) -> str:
    """A note about a slip, with commands to type."""
    steps = [Do(each["verb"], each["does"], **each["args"]) for each in note.get("steps", ())]
    return f"{note['message']}: {worded('', steps, command_of)}"


def command_of(step: Do) -> str:
    """A next step as it is typed here."""
    known = _COMMANDS.get(step.verb)
    return f"'vantage {known(step.args) if known else step.verb}'"


def _wait(match: Any) -> str:
    if match == "PROMPT":
        return "wait --prompt"
    return "wait --secret-prompt" if match == {"secret_prompt": True} else "wait"
