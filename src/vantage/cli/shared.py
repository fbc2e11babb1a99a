"""What several commands share: the surfaces they draw for, and how wrong usage is reported."""

from typing import Any

import click

SURFACES = ("terminal", "plain", "html", "telegram", "slack")
PROFILES = {"plain": "api", "html": "web"}
"""Surface → the profile it is drawn with, where that has another name."""


class OneLineCommand(click.Command):
    """Wrong usage is reported in one line: what a script gets on stderr is the error, not the manual.

    Who asked for JSON gets every error as JSON too, on stdout, as the server would have said it.
    """

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
        except click.ClickException as error:
            if ctx.meta[_AS_JSON] and not isinstance(error, Answered):
                _print_error(error)
            raise

    def _wants_json(self, args: list[str]) -> bool:
        own = args[: args.index("--")] if "--" in args else args
        return "--json" in own and any("--json" in parameter.opts for parameter in self.params)


_AS_JSON = "vantage.as_json"


def _print_error(error: click.ClickException) -> None:
    from vantage.cli.client import Refused
    from vantage.cli.verb import print_json

    if isinstance(error, Refused):
        print_json(error.answer)
        return
    code = getattr(error, "code", None) or _CODES.get(error.exit_code, "failed")
    print_json({"ok": False, "error": {"code": code, "message": error.format_message(), "hint": ""}})


_CODES = {2: "usage", 3: "no_server"}
"""Exit code → what the error is called in JSON."""


class WrongUsage(click.ClickException):
    exit_code = 2


class Answered(click.ClickException):
    """The answer was printed, and is not what was hoped for: there is no other one."""
