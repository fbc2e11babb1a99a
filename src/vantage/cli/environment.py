"""What a shell is started with that we ask for: the environment of this process. Standard library only."""

import os

_OURS = frozenset({"VANTAGE_TOKEN"})
"""Variables that are ours to know, not a shell's."""


def shell_environment() -> dict[str, str]:
    """Ours, but for our secrets and for what is no text."""
    return {name: value for name, value in os.environ.items() if name not in _OURS and _is_text(name + value)}


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
