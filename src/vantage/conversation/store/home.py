"""Where Vantage keeps its files: one directory per user, or a given one; and whether it may be trusted.

Paths are plain strings: every command calls this when it starts, and `pathlib` costs more than the call.
"""

import os.path
from collections.abc import Mapping


def home(environment: Mapping[str, str]) -> str:
    """`$VANTAGE_HOME`, else `$XDG_STATE_HOME/vantage`, else `~/.local/state/vantage`."""
    if stated := environment.get("VANTAGE_HOME"):
        return os.path.expanduser(stated)  # noqa: PTH111
    state = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # noqa: PTH117 -- the XDG specification says to ignore relative ones
        user = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
        state = os.path.join(user, ".local", "state")  # noqa: PTH118
    return os.path.join(state, "vantage")  # noqa: PTH118


def specs_folder(environment: Mapping[str, str]) -> str:
    """The folder of the render specs that all conversations know."""
    return os.path.join(home(environment), "specs")  # noqa: PTH118


def check_home(home: str) -> None:
    """Raises UnsafeHome if another user could change the home."""
    from vantage.errors import UnsafeHome  # noqa: PLC0415 -- most commands begin here
    from vantage.ptyhost import ownership  # noqa: PLC0415

    try:
        ownership.check_home(home)
    except ownership.NotPrivate as error:
        raise UnsafeHome(error.message, hint=error.hint) from None
