"""The environment that a shell gets which this process asks for. Standard library only."""

import os

from vantage.client.home_files import TOKEN

_OURS = frozenset({TOKEN})
"""Variables for Vantage's clients, not for a shell."""


def shell_environment() -> dict[str, str]:
    """The variables of this process, without our secrets and without what is no text."""
    return {name: value for name, value in os.environ.items() if name not in _OURS and _is_text(name + value)}


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
