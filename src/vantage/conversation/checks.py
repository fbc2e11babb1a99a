"""What callers give: numbers, sizes, directories, shells."""

import os.path
from collections.abc import Mapping
from typing import Any

from vantage.errors import InputError
from vantage.ptyhost import shells


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


def installed_shell(shell: str, environment: Mapping[str, str]) -> shells.Shell:
    """The shell of that name or path which an environment finds."""
    try:
        return shells.find(shell, environment.get("PATH", shells.SEARCH_PATH))
    except shells.UnknownShell as error:
        raise InputError(str(error)) from None
