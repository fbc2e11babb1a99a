"""What several commands share: the surfaces they draw for, and how wrong usage is reported."""

from typing import Any

import click

SURFACES = ("terminal", "plain", "html", "telegram", "slack")
PROFILES = {"plain": "api", "html": "web"}
"""Surface → the profile it is drawn with, where that has another name."""


class OneLineCommand(click.Command):
    """Wrong usage is reported in one line: what a script gets on stderr is the error, not the manual."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            error.ctx = None  # click prints the usage of the context it finds here
            raise


class WrongUsage(click.ClickException):
    exit_code = 2
