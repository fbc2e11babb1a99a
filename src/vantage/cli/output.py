"""Where a command's result goes: a file that is whole or not there, or standard output; and how far the work is."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from vantage.cli.shared import WrongUsage

_PATIENCE = 0.5
"""Seconds of work before anybody is told of it."""

output_option = click.option("--output", "-o", metavar="FILE", help="Write to FILE instead of standard output.")


def to_terminal(output: str | None) -> bool:
    return output in (None, "-") and sys.stdout.isatty()


def refuse_terminal(output: str | None, what: str) -> None:
    """What is not for reading does not go where somebody reads."""
    if to_terminal(output):
        raise WrongUsage(f"{what} cannot be shown in a terminal: give --output FILE, or send it into a pipe")


def write_output(output: str | None, pieces: Iterable[bytes]) -> None:
    if output in (None, "-"):
        stream = sys.stdout.buffer
        for piece in pieces:
            stream.write(piece)
        stream.flush()
        return
    target = Path(str(output))
    try:
        _write_file(target, pieces)
    except OSError as error:
        raise click.ClickException(f"cannot write {target}: {error.strerror}: give another --output") from error


def _write_file(target: Path, pieces: Iterable[bytes]) -> None:
    if target.exists() and not target.is_file():  # a pipe or a device takes what comes
        with target.open("wb") as file:
            file.writelines(pieces)
        return
    replace_file(target, pieces)


def replace_file(target: Path, pieces: Iterable[bytes], mode: int = 0o666) -> None:
    """The old content or the new, never a mixture."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode), "wb") as file:
            file.writelines(pieces)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def progress() -> Callable[[int, int], None]:
    """A line on the terminal that says how far long work is; nothing in a pipe."""
    if not sys.stderr.isatty():
        return lambda _done, _all: None
    began, last = time.monotonic(), -1

    def show(done: int, whole: int) -> None:
        nonlocal last
        percent = done * 100 // max(whole, 1)
        if percent == last or time.monotonic() - began < _PATIENCE:
            return
        last = percent
        click.echo("\r     \r" if percent == 100 else f"\r{percent:3} %", nl=False, err=True)

    return show
