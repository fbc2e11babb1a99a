"""What the commands share that ask the server: how their words are read, how they answer, how they are interrupted.

The conversation comes first and may be left out. Where further words follow, `--` says where it ends: what stands
before it is the conversation, or nothing. Without `--`, each command says which words are enough by themselves.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from vantage.cli.client import Client
from vantage.cli.homes import complete_conversation, place_of
from vantage.cli.shared import OneLineCommand, WrongUsage
from vantage.cli.streams import foreign, leave_quietly
from vantage.text.sanitize import sanitize

INTERRUPTED = 130
TIMED_OUT = 124
_SEPARATOR = "\0"
"""Stands for `--`, which click removes; no argument of a process can be it."""

json_option = click.option("--json", "as_json", is_flag=True, help="The server's answer, as JSON.")


class Verb(OneLineCommand):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args = [*args[: at + 1], _SEPARATOR, *args[at + 1 :]]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            error.ctx = None  # click prints the usage of the context it finds here
            raise
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None
        except BrokenPipeError:
            leave_quietly()
            raise SystemExit(1) from None


def words_argument(metavar: str, complete: Callable[..., Any] = complete_conversation) -> Callable[..., Any]:
    """`[CONVERSATION] [--] …`: read it with `addressed`."""
    return click.argument("words", nargs=-1, metavar=metavar, shell_complete=complete)


def addressed(words: Sequence[str], *, enough: bool) -> tuple[str | None, list[str]]:
    """The conversation, if one was named, and the other words. `enough`: without `--`, none of them names one."""
    if _SEPARATOR in words:
        at = words.index(_SEPARATOR)
        if at > 1:
            raise WrongUsage(f"one conversation stands before --, not {at} words: {' '.join(words[:at])}")
        return (words[0] if at else None), list(words[at + 1 :])
    if enough or not words:
        return None, list(words)
    return words[0], list(words[1:])


def one_word(words: list[str], what: str) -> str:
    """The word that is left, of a command that takes one."""
    if len(words) != 1:
        raise WrongUsage(f"{what} is one word, not {len(words)}: put it between quotes" if words else f"{what}?")
    return words[0]


def client_of(home: str | None, *, start: bool = True) -> Client:
    return Client(place_of(home), start=start)


def print_json(answer: Any) -> None:
    print_text(foreign(json.dumps(answer, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)))


def print_text(text: str) -> None:
    """A text and a line end, as UTF-8 whatever the locale: what a program printed is not ours to lose."""
    sys.stdout.buffer.write((text + "\n").encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def note(message: str) -> None:
    """Something that is not the answer."""
    click.echo(f"vantage: {sanitize(message)}", err=True)


_UNITS = {"ms": 1, "s": 1000, "": 1000, "m": 60_000, "h": 3_600_000}


def seconds(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    """`30`, `0.5`, `200ms`, `5m`, `2h`: in milliseconds."""
    if value is None:
        return None
    read = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h|)", value.strip())
    if read is None:
        raise click.BadParameter(f"{value!r} is no time: write 30, 0.5, 200ms or 5m")
    return round(float(read[1]) * _UNITS[read[2]])


def size(
    _context: click.Context | None, _parameter: click.Parameter | None, value: str | None
) -> tuple[int, int] | None:
    """`120x40`: columns and rows."""
    if value is None:
        return None
    read = re.fullmatch(r"(\d{1,4})[x×](\d{1,4})", value.strip())
    if read is None:
        raise click.BadParameter(f"{value!r} is no size: write columns x rows, as 120x40")
    cols, rows = int(read[1]), int(read[2])
    if not (2 <= cols <= 1000 and 1 <= rows <= 500):
        raise click.BadParameter(f"a terminal has 2 to 1000 columns and 1 to 500 rows, not {value}")
    return cols, rows
