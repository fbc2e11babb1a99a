"""`vantage send`, `keys`, `wait`: typing into the program that runs, and waiting for what it prints."""

import json
import sys
from typing import Any, NamedTuple

import click

from vantage.cli.arguments.command import Verb, addressed, json_option, one_word, words_argument
from vantage.cli.arguments.conversation import chosen, complete_conversation, home_option
from vantage.cli.arguments.values import seconds
from vantage.cli.display.printing import note, print_json, print_text
from vantage.cli.display.streams import foreign
from vantage.cli.errors import TIMED_OUT, Answered, WrongUsage
from vantage.cli.home_client import HomeClient, client_of
from vantage.cli.wording import slip_note
from vantage.client import calls
from vantage.errors import InputError

wait_option = click.option(
    "--wait", metavar="TEXT", help="Then wait for TEXT in the output, PROMPT or EOF, or a condition as JSON."
)
turn_timeout_option = click.option(
    "--timeout", callback=seconds, default="30", show_default=True, metavar="SECONDS", help="Longest wait of --wait."
)
max_output_option = click.option(
    "--max-output", type=click.IntRange(min=1), metavar="N", help="Characters of text that are returned at most."
)
session_option = click.option("--session", metavar="ID", help="Only if this program runs: what `vantage run` printed.")


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [TEXT]")
@click.option("--enter", is_flag=True, help="Press Enter after it.")
@click.option("--paste", is_flag=True, help="As a paste: editors and shells do not run it line by line.")
@click.option("--secret", is_flag=True, help="Answer a password prompt with a line from stdin; Enter follows.")
@wait_option
@turn_timeout_option
@max_output_option
@session_option
@json_option
@home_option
def send(
    words: tuple[str, ...],
    enter: bool,
    paste: bool,
    secret: bool,
    wait: str | None,
    timeout: int,
    max_output: int | None,
    session: str | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Type TEXT into the program that runs, or into the shell; `-` types what is read from stdin.

    With --wait, prints what came of it, and exits with 124 when the text did not come in time.

    A secret is never an argument, because every process of the machine could read it there: --secret asks for it, or
    reads a line from stdin. It is not logged.
    """
    if secret and (paste or enter):
        raise WrongUsage("--secret reads a line and types it with Enter: neither --enter nor --paste goes with it")
    conversation, rest = addressed(words, enough=len(words) == 1 and not secret)
    if secret and rest:
        raise WrongUsage("a secret is not an argument: leave it out, and type it when asked or send it into stdin")
    if not rest and not secret and not enter:
        raise WrongUsage("what should be typed? Give TEXT, or - to read it from stdin, or --enter")
    turn = Turn(session, awaited(wait), timeout, max_output)
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        if secret:
            answer = client.pty(chosen_one, turn.send(_ask_secret() + "\r", secret=True))
        else:
            answer = _type(client, chosen_one, rest, turn, enter=enter, paste=paste)
    print_turn(answer, timeout, as_json=as_json)


class Turn(NamedTuple):
    """The options of `send` and `keys` beside the input: for which program, and what to wait for."""

    session: str | None
    wait_for: calls.Match | None
    timeout: int
    max_output: int | None

    def send(self, data: str | bytes, *, paste: bool | None = None, secret: bool | None = None) -> calls.Call:
        return calls.send(data, session_id=self.session, paste=paste, secret=secret, **self._wait())

    def keys(self, keys: list[str]) -> calls.Call:
        return calls.keys(keys, session_id=self.session, **self._wait())

    def _wait(self) -> dict[str, Any]:
        timeout = self.timeout if self.wait_for is not None else None
        return {"wait_for": self.wait_for, "timeout_ms": timeout, "max_output": self.max_output}


def awaited(wait: str | None) -> calls.Match | None:
    """The condition of `--wait`: JSON if it begins like an object, else a text."""
    return _condition(wait, "--wait") if wait is not None and wait.startswith("{") else wait


def print_turn(answer: dict[str, Any], timeout: int, *, as_json: bool) -> None:
    """Prints the result of the wait, if there was a `--wait`."""
    for each in answer.get("notes", ()):
        note(slip_note(each))
    if as_json:
        print_json(answer)
    elif shown := answer.get("screen") or answer.get("tail"):
        print_text(foreign(shown))
    if answer.get("matched") is False:
        raise _unmatched(answer, timeout)


def _type(
    client: HomeClient, conversation: str, words: list[str], turn: Turn, *, enter: bool, paste: bool
) -> dict[str, Any]:
    data = _data(one_word(words, "the text")) if words else b""
    if paste and data and enter:  # Enter is a key, not part of the pasted text
        client.pty(conversation, calls.send(_text(data), paste=True, session_id=turn.session))
        return client.pty(conversation, turn.keys(["Enter"]))
    return client.pty(conversation, turn.send(_text(data + b"\r" * enter), paste=(paste and bool(data)) or None))


def _data(word: str) -> bytes:
    return sys.stdin.buffer.read() if word == "-" else word.encode("utf-8", "surrogateescape")


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _ask_secret() -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass("Secret (not shown, not logged): ", stream=sys.stderr)
    line = sys.stdin.readline()
    if not line:
        raise WrongUsage("no secret came from stdin: send a line into it, or run this in a terminal")
    return line.rstrip("\r\n")


def _is_key(word: str) -> bool:
    """Whether a word is the name of a key, and not a conversation's id."""
    from vantage.terminal.input.keys import parse_key

    try:
        parse_key(word)
    except InputError:
        return False
    return True


def _complete_key(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    from vantage.terminal.input.keys import NAMES

    named = [] if context.params.get("words") else complete_conversation(context, parameter, incomplete)
    return [*named, *[name for name in NAMES if name.lower().startswith(incomplete.lower())]]


@click.command(cls=Verb)
@words_argument("[CONVERSATION] KEY...", _complete_key)
@wait_option
@turn_timeout_option
@max_output_option
@session_option
@json_option
@home_option
def keys(
    words: tuple[str, ...],
    wait: str | None,
    timeout: int,
    max_output: int | None,
    session: str | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Press keys by name: Enter, Tab, Escape, Up, F5, C-c, Alt-x, Up*3, or any single character.

    They are encoded for the modes that the running program has set. With --wait, prints what came of them, and exits
    with 124 when the text did not come in time.
    """
    conversation, rest = addressed(words, enough=bool(words) and _is_key(words[0]))
    if not rest and conversation is not None:
        raise WrongUsage(
            f"which keys? '{conversation}' is none, and names the conversation: vantage keys {conversation} Up"
        )
    if not rest:
        raise WrongUsage("which keys? As in: vantage keys Up Up Enter")
    turn = Turn(session, awaited(wait), timeout, max_output)
    with client_of(home) as client:
        answer = client.pty(chosen(conversation, client.home), turn.keys(rest))
    print_turn(answer, timeout, as_json=as_json)


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [TEXT]")
@click.option("--regex", is_flag=True, help="TEXT is a regular expression (RE2).")
@click.option("--prompt", is_flag=True, help="Until the shell is ready for a command.")
@click.option("--eof", is_flag=True, help="Until the program has ended.")
@click.option("--screen", metavar="TEXT", help="Until the screen shows TEXT.")
@click.option("--screen-gone", metavar="TEXT", help="Until the screen shows TEXT no longer.")
@click.option("--title", metavar="TEXT", help="Until the window's title has TEXT.")
@click.option("--foreground", metavar="NAME", help="Until this program has the terminal.")
@click.option(
    "--quiet-ms", type=click.IntRange(min=1), metavar="N", help="Until nothing was printed for N milliseconds."
)
@click.option("--secret-prompt", is_flag=True, help="Until a program asks for a secret.")
@click.option("--match", metavar="JSON", help='Until a condition holds: {"any": [{"text": "y/n"}, {"eof": true}]}.')
@click.option("--timeout", callback=seconds, default="30", show_default=True, metavar="SECONDS", help="Longest wait.")
@click.option("--from", "cursor", type=click.IntRange(min=0), metavar="CURSOR", help="Where in the output to begin.")
@click.option("--max-bytes", type=click.IntRange(min=1), metavar="N", help="Look at N bytes of output at most.")
@max_output_option
@session_option
@json_option
@home_option
def wait(
    words: tuple[str, ...],
    regex: bool,
    match: str | None,
    timeout: int,
    cursor: int | None,
    max_bytes: int | None,
    max_output: int | None,
    session: str | None,
    as_json: bool,
    home: str | None,
    **stated: Any,
) -> None:
    """Wait for TEXT in the output, or for something else to become true. Prints the text that matched.

    Looks from where the last command, input or wait ended, so nothing is missed in between. Of several conditions,
    the first that holds ends the wait. Exits with 124 when none held in time.
    """
    conditions: list[Any] = [{name: value} for name, value in stated.items() if value]
    if match is not None:
        conditions.append(_condition(match, "--match"))
    conversation, rest = addressed(words, enough=len(words) == 1 and not conditions)
    if rest:
        conditions.insert(0, {"regex" if regex else "text": one_word(rest, "the text")})
    elif regex:
        raise WrongUsage("--regex needs the expression as TEXT")
    if not conditions:
        raise WrongUsage("wait for what? Give TEXT, or --prompt, --eof, --screen, --quiet-ms, --secret-prompt, --match")
    with client_of(home) as client:
        call = calls.wait_for(
            conditions[0] if len(conditions) == 1 else {"any": conditions},
            from_cursor=cursor,
            timeout_ms=timeout,
            max_bytes=max_bytes,
            max_output=max_output,
            session_id=session,
        )
        answer = client.pty(chosen(conversation, client.home), call)
    if as_json:
        print_json(answer)
    elif answer["matched"] and answer.get("match_text"):
        print_text(foreign(answer["match_text"]))
    if not answer["matched"]:
        raise _unmatched(answer, timeout)


def _condition(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise WrongUsage(f"""{option} is not JSON: {error}: give a condition, as '{{"text": "ready"}}'""") from error


_WHY = {
    "exited": "the program ended before",
    "max_bytes": "it is not in that much output",
    "awaiting": "the program waits for input",
}


class _TimedOut(Answered):
    exit_code = TIMED_OUT


def _unmatched(answer: dict[str, Any], timeout: int) -> Answered:
    """The error of a wait that ended without a match."""
    from vantage.text.sanitize import one_line

    why = _WHY.get(answer["reason"], f"it did not happen within {timeout / 1000:g} s")
    last = answer.get("prompt") or answer.get("tail", "").strip().rpartition("\n")[2]
    message = f"{why}: the last line is {one_line(last)!r}" if last else why
    return _TimedOut(message) if answer["reason"] == "timeout" else Answered(message)
