"""`vantage exec`, `run`, `end`, `reset`, `resize`: commands, programs, and the terminal they run in."""

import re
import shlex
import sys
from typing import Any

import click

from vantage.cli.arguments.command import Verb, addressed, json_option, one_word, words_argument
from vantage.cli.arguments.conversation import chosen, conversation_argument, home_option
from vantage.cli.arguments.values import seconds, size
from vantage.cli.commands.terminal.input import (
    awaited,
    max_output_option,
    print_turn,
    turn_timeout_option,
    wait_option,
)
from vantage.cli.display.printing import note, print_json, print_text
from vantage.cli.errors import TIMED_OUT, WrongUsage
from vantage.cli.home_client import HomeClient, client_of
from vantage.client import calls

_FOR_EVER = (1 << 31) - 1
"""Milliseconds."""


def _command(words: tuple[str, ...], name: str) -> tuple[str | None, str]:
    """The conversation and the command. One word is a shell's line; several words are quoted and joined."""
    conversation, rest = addressed(words, enough=len(words) == 1)
    if not rest:
        raise WrongUsage(f"which command? As in: vantage {name} -- make test")
    return conversation, rest[0] if len(rest) == 1 else shlex.join(rest)


@click.command(cls=Verb, name="exec")
@words_argument("[CONVERSATION] [--] COMMAND...")
@click.option("--cwd", metavar="DIR", help="cd there first; it stays.")
@click.option(
    "--timeout", callback=seconds, metavar="SECONDS", help="Leave it running after so long, and exit with 124."
)
@click.option("--detach", is_flag=True, help="Only start it, and print its block.")
@click.option("--max-output", type=click.IntRange(min=1), metavar="N", help="Characters of output in --json.")
@json_option
@home_option
def exec_command(
    words: tuple[str, ...],
    cwd: str | None,
    timeout: int | None,
    detach: bool,
    max_output: int | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Run a shell command in a conversation, print what it prints, and exit with its exit code.

    Stdout is the command's output and nothing else, as it comes and whole. Ctrl-C interrupts the command; pressed
    again it leaves it running.

    \b
      vantage exec work -- make test
      vantage exec 'cd src && ls | wc -l'
    """
    from vantage.cli.commands.terminal.execution import Execution

    conversation, command = _command(words, "exec")
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        if detach or as_json:
            wait = 0 if detach else _FOR_EVER if timeout is None else timeout
            call = calls.exec_block(command, cwd=cwd, timeout_ms=wait, max_output=max_output)
            answer = _answer(client, chosen_one, call)
            if as_json:
                print_json(answer)
            else:
                print_text(answer["block_id"])
            if detach:
                return
            sys.exit(_exit_code(answer))
        sys.exit(Execution(client, chosen_one, command, cwd, timeout).run())


def _answer(client: HomeClient, conversation: str, call: calls.Call) -> dict[str, Any]:
    """The result of a command that is waited for as a whole. Ctrl-C interrupts the command, as with followed output."""
    try:
        return client.pty(conversation, call)
    except KeyboardInterrupt:
        client.pty(conversation, calls.ctrl_c())
        raise


def _exit_code(answer: dict[str, Any]) -> int:
    """The command's exit code; if it has none, the code for a timed-out wait. A command that waits for input has not
    timed out.
    """
    if answer.get("running") and not answer.get("awaiting"):
        return TIMED_OUT
    code: int | None = answer.get("exit_code")
    return 1 if code is None else code


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [--] COMMAND...")
@click.option("--cwd", metavar="DIR", help="cd there first; it stays.")
@wait_option
@turn_timeout_option
@max_output_option
@json_option
@home_option
def run(
    words: tuple[str, ...],
    cwd: str | None,
    wait: str | None,
    timeout: int,
    max_output: int | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Start a program to talk to: a REPL, a debugger, an editor. Prints the id of its session.

    Then `vantage send`, `keys` and `wait` talk to it, and `vantage end` ends it. With --wait, what the program printed
    up to then follows the id.
    """
    conversation, command = _command(words, "run")
    condition = awaited(wait)
    call = calls.exec_interactive(
        command,
        cwd=cwd,
        wait_for=condition,
        timeout_ms=timeout if condition is not None else None,
        max_output=max_output,
    )
    with client_of(home) as client:
        answer = client.pty(chosen(conversation, client.home), call)
    if not as_json:
        if answer.get("note"):
            note(answer["note"])
        print_text(answer["session_id"])
    print_turn(answer, timeout, as_json=as_json)


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [SESSION]")
@click.option("--force", is_flag=True, help="Terminate it at once.")
@json_option
@home_option
def end(words: tuple[str, ...], force: bool, as_json: bool, home: str | None) -> None:
    """End what runs, or one session of `vantage run`: asks it to leave, interrupts it, then kills it.

    Words are typed only at the prompt of a shell or a REPL, never at a question. Prints which way ended it.
    """
    conversation, rest = addressed(words, enough=len(words) == 1 and bool(re.fullmatch(r"s-[0-9a-f]+", words[0])))
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        session = one_word(rest, "the session") if rest else None
        answer = client.pty(chosen_one, calls.end_session(session, force=force or None))
    if as_json:
        print_json(answer)
    else:
        print_text(answer["how"])


@click.command(cls=Verb)
@conversation_argument
@json_option
@home_option
def reset(conversation: str | None, as_json: bool, home: str | None) -> None:
    """Kill everything in a conversation's terminal and start a fresh shell. What was printed stays readable."""
    with client_of(home) as client:
        answer = client.pty(chosen(conversation, client.home), calls.reset())
    if as_json:
        print_json(answer)


@click.command(cls=Verb)
@words_argument("[CONVERSATION] COLSxROWS")
@json_option
@home_option
def resize(words: tuple[str, ...], as_json: bool, home: str | None) -> None:
    """Give a conversation's terminal another size, as 120x40. Programs in it are told."""
    conversation, rest = addressed(words, enough=len(words) == 1)
    cols, rows = size(None, None, one_word(rest, "the size")) or (0, 0)
    with client_of(home) as client:
        answer = client.pty(chosen(conversation, client.home), calls.resize(cols, rows))
    if as_json:
        print_json(answer)
