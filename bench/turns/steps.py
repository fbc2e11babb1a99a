"""What a player does: one call a step, and what the answer must show.

Steps are data. A player makes the calls in order and checks each answer, so a wrong answer fails the run. The former
pattern of our tools, a call and then a wait for what comes of it, is derived from the steps of today (`apart`).
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Step(NamedTuple):
    tool: str
    args: dict[str, Any]
    shows: tuple[str, ...]
    """Texts that the model must find in the answer before it goes on."""


Wait = str | dict[str, Any]


# our tools


def exec_block(command: str, *shows: str, **args: Any) -> Step:
    return Step("pty_exec_block", {"command": command, **args}, shows)


def exec_interactive(command: str, wait_for: Wait, *shows: str) -> Step:
    return Step("pty_exec_interactive", {"command": command, "wait_for": wait_for}, shows)


def send(data: str, wait_for: Wait, *shows: str, **args: Any) -> Step:
    return Step("pty_send", {"data": data, **args, "wait_for": wait_for}, shows)


def keys(names: str, wait_for: Wait, *shows: str) -> Step:
    return Step("pty_keys", {"keys": names.split(), "wait_for": wait_for}, shows)


def wait_for(match: Wait, *shows: str, **args: Any) -> Step:
    return Step("pty_wait_for", {"match": match, **args}, shows)


def end_session(*shows: str) -> Step:
    return Step("pty_end_session", {}, shows)


def read_block(block_id: str, *shows: str, **args: Any) -> Step:
    return Step("pty_read_block", {"block_id": block_id, **args}, shows)


READ_SCREEN = Step("pty_read_screen", {}, ())
"""Our player's way to look when an answer does not show what it expects."""


def apart(steps: Iterable[Step]) -> Iterator[Step]:
    """The same steps with every `wait_for` as a call of its own."""
    for step in steps:
        args = dict(step.args)
        match args.pop("wait_for", None):
            case None:
                yield step
            case {"match": _} as wait:
                yield from (Step(step.tool, args, ()), Step("pty_wait_for", wait, step.shows))
            case match:
                yield from (Step(step.tool, args, ()), Step("pty_wait_for", {"match": match}, step.shows))


# Codex's tools


def exec_command(cmd: str, *shows: str, **args: Any) -> Step:
    return Step("exec_command", {"cmd": cmd, **args}, shows)


def tty(cmd: str, *shows: str, yield_time_ms: int = 1000) -> Step:
    """A program that keeps running: the call returns after this time, whatever the program has printed by then."""
    return exec_command(cmd, *shows, tty=True, yield_time_ms=yield_time_ms)


def write_stdin(chars: str, *shows: str, **args: Any) -> Step:
    """The player fills in `session_id`: that of the program that was started last."""
    return Step("write_stdin", {"chars": chars, **args}, shows)


def poll(*shows: str, yield_time_ms: int = 5000) -> Step:
    """Codex's way to wait, and to look when an answer does not show what the player expects."""
    return Step("write_stdin", {"yield_time_ms": yield_time_ms}, shows)
