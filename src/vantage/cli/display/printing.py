"""What commands print: answers on standard output, notes on standard error."""

import json
import sys
from typing import Any

import click

from vantage.cli.display.streams import foreign
from vantage.text.sanitize import sanitize


def print_json(answer: Any) -> None:
    print_text(foreign(json.dumps(answer, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)))


def print_text(text: str) -> None:
    """A text and a line end, as UTF-8 in every locale, because a program's output must arrive unchanged."""
    sys.stdout.buffer.write((text + "\n").encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def note(message: str) -> None:
    """A line on standard error that is not the answer."""
    click.echo(f"vantage: {sanitize(message)}", err=True)
