"""The environment for a shell that this process asks for. Standard library only."""

import os

from vantage.client.home_files import TOKEN

_OURS = frozenset({TOKEN})
"""Variables that are for Vantage's clients, not for a shell."""


def shell_environment() -> dict[str, str]:
    """The variables of this process, without our secrets and without values that are no text."""
    return {name: value for name, value in os.environ.items() if name not in _OURS and _is_text(name + value)}


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
