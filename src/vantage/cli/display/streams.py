"""Standard streams and input files of commands, also closed ones and those whose reader has gone."""

import os
import sys
from collections.abc import Callable
from typing import IO

from vantage.text.sanitize import sanitize_output

_STANDARD = (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_WRONLY, "w"), ("stderr", os.O_WRONLY, "w"))
"""The standard streams in the order of their descriptors: name, how it is opened, mode of the file object."""


def open_closed_streams() -> None:
    """A standard stream that the caller closed (`<&-`) becomes `/dev/null`.

    Otherwise `sys.stdin` and its like are None, and the next socket or file gets the free descriptor: what is meant
    for standard output would be written into it.
    """
    for descriptor, (name, flags, mode) in enumerate(_STANDARD):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, flags)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
        stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 -- open as long as the process
        setattr(sys, name, stream)


def open_input(file: str, say: Callable[[str], None], what: str) -> IO[bytes]:
    """A file, or standard input for `-`. It is unbuffered, so a read returns the bytes that have arrived."""
    if file == "-":
        if sys.stdin.isatty():
            say(f"reading {what} from the keyboard, one JSON object a line; Ctrl-D ends")
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    return open(file, "rb", buffering=0)  # noqa: PTH123 -- closed by the caller


def foreign(text: str) -> str:
    """A program's output for our standard output: unchanged in a pipe, without control bytes on a terminal."""
    return sanitize_output(text) if sys.stdout.isatty() else text


def leave_quietly() -> None:
    """Points standard output at /dev/null: its reader has gone (`head`), and the interpreter must not fail to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
