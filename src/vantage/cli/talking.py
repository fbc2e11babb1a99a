"""`vantage send`, `keys`, `wait`: typing into whatever runs, and waiting for what it says."""

import base64
import json
import re
import sys
from typing import Any

import click

from vantage.cli.client import Client
from vantage.cli.homes import chosen, complete_conversation, home_option
from vantage.cli.shared import Answered, WrongUsage
from vantage.cli.streams import foreign
from vantage.cli.verb import (
    TIMED_OUT,
    Verb,
    addressed,
    client_of,
    json_option,
    one_word,
    print_json,
    print_text,
    seconds,
    words_argument,
)

_KEY = re.compile(
    r"(?:(?:C|Ctrl|M|Alt|S|Shift)-)*"
    r"(?:Enter|Return|Tab|BackTab|BTab|Escape|Esc|Backspace|BS|Delete|Del|Insert|Ins|Home|End|PageUp|PgUp|PageDown|PgDn"
    r"|PgDown|Up|Down|Left|Right|Space|F\d{1,2}|.)(?:\*\d+)?",
    re.IGNORECASE | re.DOTALL,
)
"""What a key looks like, as `terminal.keys` reads it: only to tell one from a conversation."""

session_option = click.option("--session", metavar="ID", help="Only if this program runs: what `vantage run` printed.")


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [TEXT]")
@click.option("--enter", is_flag=True, help="Press Enter behind it.")
@click.option("--paste", is_flag=True, help="As a paste: editors and shells do not run it line by line.")
@click.option("--secret", is_flag=True, help="Answer a password prompt, with what is read from stdin; Enter follows.")
@session_option
@json_option
@home_option
def send(
    words: tuple[str, ...],
    enter: bool,
    paste: bool,
    secret: bool,
    session: str | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Type TEXT into whatever runs, as it is; `-` types what comes from stdin.

    A secret is never an argument, where every process of the machine could read it: --secret asks for it, or reads
    a line from stdin. It is logged nowhere.
    """
    if secret and (paste or enter):
        raise WrongUsage("--secret reads a line and types it with Enter: neither --enter nor --paste goes with it")
    conversation, rest = addressed(words, enough=len(words) == 1 and not secret)
    if secret and rest:
        raise WrongUsage("a secret is not an argument: leave it out, and type it when asked or send it into stdin")
    if not rest and not secret and not enter:
        raise WrongUsage("what should be typed? Give TEXT, or - to read it from stdin, or --enter")
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        if secret:
            answer = client.pty(chosen_one, "send", data=_ask_secret() + "\r", secret=True, session_id=session)
        else:
            answer = _type(client, chosen_one, rest, enter=enter, paste=paste, session=session)
    if as_json:
        print_json(answer)


def _type(
    client: Client, conversation: str, words: list[str], *, enter: bool, paste: bool, session: str | None
) -> dict[str, Any]:
    data = _data(one_word(words, "the text")) if words else b""
    if paste and data:
        answer = client.pty(conversation, "send", **_fields(data), paste=True, session_id=session)
        # Enter is a key, not part of what was pasted
        return client.pty(conversation, "enter", session_id=session) and answer if enter else answer
    return client.pty(conversation, "send", **_fields(data + b"\r" * enter), session_id=session)


def _data(word: str) -> bytes:
    return sys.stdin.buffer.read() if word == "-" else word.encode("utf-8", "surrogateescape")


def _fields(data: bytes) -> dict[str, str]:
    try:
        return {"data": data.decode()}
    except UnicodeDecodeError:
        return {"data_b64": base64.b64encode(data).decode()}


def _ask_secret() -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass("Secret (not shown, not logged): ", stream=sys.stderr)
    line = sys.stdin.readline()
    if not line:
        raise WrongUsage("no secret came from stdin: send a line into it, or run this in a terminal")
    return line.rstrip("\r\n")


def _complete_key(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    from vantage.terminal.keys import NAMES

    named = [] if context.params.get("words") else complete_conversation(context, parameter, incomplete)
    return [*named, *[name for name in NAMES if name.lower().startswith(incomplete.lower())]]


@click.command(cls=Verb)
@words_argument("[CONVERSATION] KEY...", _complete_key)
@session_option
@json_option
@home_option
def keys(words: tuple[str, ...], session: str | None, as_json: bool, home: str | None) -> None:
    """Press keys by name: Enter, Tab, Escape, Up, F5, C-c, Alt-x, Up*3, or any single character.

    They are encoded as the program that runs expects them.
    """
    conversation, rest = addressed(words, enough=bool(words) and bool(_KEY.fullmatch(words[0])))
    if not rest and conversation is not None:
        raise WrongUsage(
            f"which keys? '{conversation}' is none, and names the conversation: vantage keys {conversation} Up"
        )
    if not rest:
        raise WrongUsage("which keys? As in: vantage keys Up Up Enter")
    with client_of(home) as client:
        answer = client.pty(chosen(conversation, client.home), "keys", keys=rest, session_id=session)
    if as_json:
        print_json(answer)


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [TEXT]")
@click.option("--regex", is_flag=True, help="TEXT is a regular expression (RE2).")
@click.option("--prompt", is_flag=True, help="Until the shell is ready for a command.")
@click.option("--eof", is_flag=True, help="Until the program has ended.")
@click.option("--screen", metavar="TEXT", help="Until the screen shows TEXT.")
@click.option("--screen-gone", metavar="TEXT", help="Until the screen shows TEXT no longer.")
@click.option("--title", metavar="TEXT", help="Until the window's title has TEXT.")
@click.option("--foreground", metavar="NAME", help="Until this program has the terminal.")
@click.option("--quiet-ms", type=click.IntRange(min=1), metavar="N", help="Until nothing was printed for so long.")
@click.option("--secret-prompt", is_flag=True, help="Until a program asks for a secret.")
@click.option("--match", metavar="JSON", help='Until a condition holds: {"any": [{"text": "y/n"}, {"eof": true}]}.')
@click.option("--timeout", callback=seconds, default="30", show_default=True, metavar="SECONDS", help="Longest wait.")
@click.option("--from", "cursor", type=click.IntRange(min=0), metavar="CURSOR", help="Where in the output to begin.")
@click.option("--max-bytes", type=click.IntRange(min=1), metavar="N", help="Look at so much output at most.")
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
    session: str | None,
    as_json: bool,
    home: str | None,
    **stated: Any,
) -> None:
    """Wait for TEXT in the output, or for something else to become true. Prints the text that matched.

    Looks from where the last command, input or wait ended, so nothing is missed in between. Of several conditions,
    the first one to hold ends the wait. Exits with 124 when none did in time.
    """
    conditions: list[Any] = [{name: value} for name, value in stated.items() if value]
    if match is not None:
        conditions.append(_condition(match))
    conversation, rest = addressed(words, enough=len(words) == 1 and not conditions)
    if rest:
        conditions.insert(0, {"regex" if regex else "text": one_word(rest, "the text")})
    elif regex:
        raise WrongUsage("--regex needs the expression as TEXT")
    if not conditions:
        raise WrongUsage("wait for what? Give TEXT, or --prompt, --eof, --screen, --quiet-ms, --secret-prompt, --match")
    with client_of(home) as client:
        answer = client.pty(
            chosen(conversation, client.home),
            "wait_for",
            match=conditions[0] if len(conditions) == 1 else {"any": conditions},
            from_cursor=cursor,
            timeout_ms=timeout,
            max_bytes=max_bytes,
            session_id=session,
        )
    if as_json:
        print_json(answer)
    elif answer["matched"] and answer.get("match_text"):
        print_text(foreign(answer["match_text"]))
    if not answer["matched"]:
        raise _in_vain(answer, timeout)


def _condition(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise WrongUsage(f"""--match is not JSON: {error}: give a condition, as '{{"text": "ready"}}'""") from error


_WHY = {"exited": "the program ended before", "max_bytes": "it is not in that much output"}


class _TimedOut(Answered):
    exit_code = TIMED_OUT


def _in_vain(answer: dict[str, Any], timeout: int) -> Answered:
    """The wait is over without what was waited for."""
    from vantage.text.sanitize import one_line

    why = _WHY.get(answer["reason"], f"it did not happen within {timeout / 1000:g} s")
    lines = answer.get("tail", "").strip().splitlines()
    message = f"{why}: the last line is {one_line(lines[-1])!r}" if lines else why
    return _TimedOut(message) if answer["reason"] == "timeout" else Answered(message)
