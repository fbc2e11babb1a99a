"""What commands read from and print to: files, pipes, and readers that leave."""

import os
import sys
from collections.abc import Callable
from typing import IO

from vantage.text.sanitize import sanitize_output


def open_input(file: str, say: Callable[[str], None], what: str) -> IO[bytes]:
    """A file, or standard input for `-`; unbuffered, so that what has come is there at once."""
    if file == "-":
        if sys.stdin.isatty():
            say(f"reading {what} from the keyboard, one JSON object a line; Ctrl-D ends")
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    return open(file, "rb", buffering=0)  # noqa: PTH123 -- closed by the caller


def foreign(text: str) -> str:
    """What a program printed, for standard output: as it is for a program, harmless for a person."""
    return sanitize_output(text) if sys.stdout.isatty() else text


def leave_quietly() -> None:
    """The reader of our output has gone, as `head` does: nothing to say, and nothing for the interpreter to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
