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


def directory(cwd: str) -> None:
    if not os.path.isdir(cwd):  # noqa: PTH112 -- asked for every command
        raise InputError(f"cwd {cwd!r} is no directory", hint="create it first, or leave cwd out")
