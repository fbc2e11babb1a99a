"""Writes a command's result to standard output or to a file, which is whole or absent; shows progress of long work."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from vantage.cli.display.signals import cleaning_up
from vantage.cli.errors import WrongUsage

_QUIET_S = 0.5
"""Seconds. Shorter work shows no progress."""
_APART_S = 0.1
"""Seconds between two updates of the progress line."""
_ELSEWHERE = ""
"""Where the result goes, if not to standard output."""

output_option = click.option("--output", "-o", metavar="FILE", help="Write to FILE instead of standard output.")


def to_terminal(output: str | None) -> bool:
    return output in (None, "-") and sys.stdout.isatty()


def refuse_terminal(output: str | None, what: str) -> None:
    """Raises WrongUsage if output that is not for reading would go to a terminal."""
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
    if target.exists() and not target.is_file():  # a pipe or a device is written to as it is
        with target.open("wb") as file:
            file.writelines(pieces)
        return
    replace_file(target, pieces)


def replace_file(target: Path, pieces: Iterable[bytes], mode: int = 0o666) -> None:
    """Replaces a file atomically: it has the old content or the new, never a mixture."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with cleaning_up():
        try:
            with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
                file.writelines(pieces)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def progress(output: str | None = _ELSEWHERE) -> Iterator[Callable[[int, int], None]]:
    """A progress line on the terminal, removed when the work is done.

    It is not shown in a pipe, nor when the result itself goes to the terminal. `output` is the result's file, if any.
    """
    if not sys.stderr.isatty() or to_terminal(output):
        yield lambda _done, _all: None
        return
    began = last = time.monotonic()
    shown = False

    def show(done: int, whole: int) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if now - began >= _QUIET_S and (not shown or now - last >= _APART_S):
            last, shown = now, True
            percent = min(done * 100 // max(whole, 1), 100)
            click.echo(f"\r{percent:3} %, {size(done)} of {size(whole)}\x1b[K", nl=False, err=True)

    try:
        yield show
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def size(count: int) -> str:
    """Bytes as people read them."""
    amount, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit in ("B", "kB") else f"{amount:.1f} {unit}"
