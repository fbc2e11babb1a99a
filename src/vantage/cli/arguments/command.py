"""The classes of commands, and how a command's words are read.

The conversation comes first and may be left out. Where further words follow, `--` separates them from it. Without `--`,
each command decides how many words are enough without a conversation.
"""

from collections.abc import Callable, Sequence
from typing import Any

import click

from vantage.cli.arguments.conversation import complete_conversation
from vantage.cli.display.printing import print_json
from vantage.cli.display.streams import leave_quietly
from vantage.cli.errors import INTERRUPTED, Answered, Failed, WrongUsage, failed
from vantage.errors import VantageError, to_wire

_SEPARATOR = "\0"
"""Stands for `--`, which click removes. It cannot be an argument of a process."""
_AS_JSON = "vantage.as_json"

json_option = click.option("--json", "as_json", is_flag=True, help="The server's answer, as JSON.")


class OneLineCommand(click.Command):
    """Errors are one line on stderr, without the usage. With `--json` they are printed as JSON on stdout, too."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        as_json = self._wants_json(args)
        try:
            context = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            error.ctx = None  # click prints the usage of the context it finds here
            if as_json:
                _print_error(error)
            raise
        context.meta[_AS_JSON] = as_json
        return context

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except VantageError as error:
            worded = failed(error)
            if ctx.meta[_AS_JSON]:
                _print_error(worded)
            raise worded from error
        except click.ClickException as error:
            if ctx.meta[_AS_JSON] and not isinstance(error, Answered):
                _print_error(error)
            raise

    def _wants_json(self, args: list[str]) -> bool:
        own = args[: args.index("--")] if "--" in args else args
        return "--json" in own and any("--json" in parameter.opts for parameter in self.params)


def _print_error(error: click.ClickException) -> None:
    if isinstance(error, Failed):
        print_json({"ok": False, "error": to_wire(error.error)})
        return
    code = "usage" if error.exit_code == WrongUsage.exit_code else "failed"
    print_json({"ok": False, "error": {"code": code, "message": error.format_message(), "hint": ""}})


class Verb(OneLineCommand):
    """A command that asks the server. `--` may stand among its words, and Ctrl-C ends it silently."""

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
    """The conversation, if one was named, and the other words. With `enough`, no `--` is needed: all words are other
    words.
    """
    if _SEPARATOR in words:
        at = words.index(_SEPARATOR)
        if at > 1:
            raise WrongUsage(f"one conversation stands before --, not {at} words: {' '.join(words[:at])}")
        return (words[0] if at else None), list(words[at + 1 :])
    if enough or not words:
        return None, list(words)
    return words[0], list(words[1:])


def one_word(words: list[str], what: str) -> str:
    """The one word that is left, or wrong usage."""
    if len(words) != 1:
        raise WrongUsage(f"{what} is one word, not {len(words)}: put it between quotes" if words else f"{what}?")
    return words[0]
