"""Checks of values that no type can express: limits of the moment, directories, shells."""

import os.path
from collections.abc import Mapping
from typing import Any

from vantage.errors import Gone, InputError
from vantage.ptyhost import shells
from vantage.terminal.limits import MAX_COLS, MAX_ROWS, MIN_COLS, MIN_ROWS


def within(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(
            f"{name} is a whole number from {least} to {most}, not {value!r}",
            facts={"field": name, "least": least, "most": most},
        )


def not_dropped(offset: int, first: int) -> None:
    """Raises Gone for an offset before `first`, where the output begins that retention has kept."""
    if offset < first:
        raise Gone(f"the output at {offset} was dropped by retention", next=first, hint=f"go on at {first}")


def terminal_size(cols: Any, rows: Any) -> None:
    within("cols", cols, MIN_COLS, MAX_COLS)
    within("rows", rows, MIN_ROWS, MAX_ROWS)


def directory(cwd: str, base: str, home: str) -> str:
    """The path of a directory as `cd` would read it in `base`."""
    path = home + cwd[1:] if cwd == "~" or cwd.startswith("~/") else cwd
    path = os.path.join(base, path)  # noqa: PTH118 -- called for every command
    if "\0" in path or not os.path.isdir(path):  # noqa: PTH112
        raise InputError(f"cwd {cwd!r} is no directory", hint="create it first, or leave cwd out", facts={"cwd": cwd})
    return path


def installed_shell(shell: str, environment: Mapping[str, str]) -> shells.Shell:
    """The shell of that name or path, found with the environment's PATH."""
    try:
        return shells.find(shell, environment.get("PATH", shells.SEARCH_PATH))
    except shells.UnknownShell as error:
        raise InputError(str(error)) from None
