"""Errors of the command line: what each prints, and what the process exits with."""

import click

from vantage.cli.wording import hint_of
from vantage.errors import NoServer, VantageError

NO_SERVER = 3
TIMED_OUT = 124
INTERRUPTED = 130
"""Exit codes, beside 0 for done, 1 for failed and 2 for wrong usage."""


class WrongUsage(click.ClickException):
    exit_code = 2


class Answered(click.ClickException):
    """The answer was printed, but the command failed. With `--json`, nothing more is printed."""


class Failed(click.ClickException):
    """An error of Vantage, worded for the command line."""

    def __init__(self, error: VantageError) -> None:
        hint = hint_of(error)
        super().__init__(f"{error.message}: {hint}" if hint else error.message)
        self.error = error


class Unreachable(Failed):
    exit_code = NO_SERVER


def failed(error: VantageError) -> Failed:
    """The exception that a command raises for an error of Vantage."""
    return Unreachable(error) if isinstance(error, NoServer) else Failed(error)
