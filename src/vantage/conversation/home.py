"""Where Vantage keeps what it keeps: one directory per user, or wherever they say."""

from collections.abc import Mapping
from pathlib import Path


def home(environment: Mapping[str, str]) -> Path:
    """`$VANTAGE_HOME`, else `$XDG_STATE_HOME/vantage`, else `~/.local/state/vantage`."""
    if stated := environment.get("VANTAGE_HOME"):
        return Path(stated).expanduser()
    state = Path(environment.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # the XDG specification has relative ones ignored
        user = environment.get("HOME")
        state = (Path(user) if user else Path.home()) / ".local" / "state"
    return state / "vantage"


def specs_folder(environment: Mapping[str, str]) -> Path:
    """The folder whose render specs all conversations know."""
    return home(environment) / "specs"
