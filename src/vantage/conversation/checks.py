"""What callers give: numbers, sizes, directories."""

import os.path
from typing import Any

from vantage.errors import InputError


def at_least(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is a whole number from {least} on, not {value!r}")


def within(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{name} is a whole number from {least} to {most}, not {value!r}")


def terminal_size(cols: Any, rows: Any) -> None:
    within("cols", cols, 2, 1000)
    within("rows", rows, 1, 500)


def directory(cwd: str, base: str, home: str) -> str:
    """The path of a directory as somebody would type it behind `cd` who is in `base`."""
    path = home + cwd[1:] if cwd == "~" or cwd.startswith("~/") else cwd
    path = os.path.join(base, path)  # noqa: PTH118 -- asked for every command
    if "\0" in path or not os.path.isdir(path):  # noqa: PTH112
        raise InputError(f"cwd {cwd!r} is no directory", hint="create it first, or leave cwd out")
    return path
