"""`vantage exec`, `run`, `end`, `reset`, `resize`: commands, programs, and the terminal they run in."""

import re
import shlex
import sys
from typing import Any

import click

from vantage.cli.client import Client
from vantage.cli.homes import chosen, conversation_argument, home_option
from vantage.cli.shared import WrongUsage
from vantage.cli.verb import (
    TIMED_OUT,
    Verb,
    addressed,
    client_of,
    json_option,
    note,
    one_word,
    print_json,
    print_text,
    seconds,
    size,
    words_argument,
)

_FOR_EVER = (1 << 31) - 1
"""Milliseconds."""


def _command(words: tuple[str, ...], name: str) -> tuple[str | None, str]:
    """The conversation and the command: one word is a shell's line as it is, several are the words of one."""
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
    from vantage.cli.execution import Execution

    conversation, command = _command(words, "exec")
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        if detach or as_json:
            wait = 0 if detach else _FOR_EVER if timeout is None else timeout
            fields = {"command": command, "cwd": cwd, "timeout_ms": wait, "max_output": max_output}
            answer = _answer(client, chosen_one, fields)
            if as_json:
                print_json(answer)
            else:
                print_text(answer["block_id"])
            if detach:
                return
            sys.exit(TIMED_OUT if answer.get("running") else _exit_code(answer.get("exit_code")))
        sys.exit(Execution(client, chosen_one, command, cwd, timeout).run())


def _answer(client: Client, conversation: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Of a command that is waited for as a whole. Ctrl-C is for the command, as it is where its output is followed."""
    try:
        return client.pty(conversation, "exec_block", **fields)
    except KeyboardInterrupt:
        client.close()  # the answer that it waited for would be taken for the next one's
        client.pty(conversation, "ctrl_c")
        raise


def _exit_code(code: int | None) -> int:
    return 1 if code is None else code


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [--] COMMAND...")
@click.option("--cwd", metavar="DIR", help="cd there first; it stays.")
@json_option
@home_option
def run(words: tuple[str, ...], cwd: str | None, as_json: bool, home: str | None) -> None:
    """Start a program to talk to: a REPL, a debugger, an editor. Prints the id of its session.

    Then `vantage send`, `keys` and `wait` talk to it, and `vantage end` ends it.
    """
    conversation, command = _command(words, "run")
    with client_of(home) as client:
        answer = client.pty(chosen(conversation, client.home), "exec_interactive", command=command, cwd=cwd)
    if as_json:
        print_json(answer)
        return
    if answer.get("note"):
        note(answer["note"])
    print_text(answer["session_id"])


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [SESSION]")
@click.option("--force", is_flag=True, help="Do not ask it to leave: terminate it.")
@json_option
@home_option
def end(words: tuple[str, ...], force: bool, as_json: bool, home: str | None) -> None:
    """End the program that `vantage run` started: politely first, then harder. Prints what it took."""
    conversation, rest = addressed(words, enough=len(words) == 1 and bool(re.fullmatch(r"s-[0-9a-f]+", words[0])))
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        session = one_word(rest, "the session") if rest else client.pty(chosen_one, "status")["active_session_id"]
        if session is None:
            raise click.ClickException(
                f"no program was started with 'vantage run' in '{chosen_one}': 'vantage keys {chosen_one} C-c' "
                "interrupts what runs"
            )
        answer = client.pty(chosen_one, "end_session", session_id=session, force=force or None)
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
        answer = client.pty(chosen(conversation, client.home), "reset")
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
        answer = client.pty(chosen(conversation, client.home), "resize", cols=cols, rows=rows)
    if as_json:
        print_json(answer)
