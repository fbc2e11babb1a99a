"""What a client reads in a home: where the server listens, and the token. Standard library only, and little of it."""

import json
import os
import os.path

from vantage.errors import NoServer

TOKEN = "VANTAGE_TOKEN"  # noqa: S105 -- the variable's name
"""The variable with a token to use instead of the home's own: a read-only one, for example."""


def server_socket(home: str) -> str:
    """The path of the socket of a home's server, as `server.json` has it. Raises OSError when there is none."""
    try:
        with open(os.path.join(home, "server.json"), "rb") as file:  # noqa: PTH118, PTH123
            return str(json.load(file)["socket"])
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError):
        # The file is damaged. If a server runs all the same, it listens at the path that it would choose today.
        from vantage.ptyhost.protocol import socket_path

        return socket_path(home, "server.sock")


SCOPED = "vantage_agent_"
"""How the token of a conversation's own shells and agents begins. It is of the home in VANTAGE_HOME."""


def stated_token(home: str) -> str | None:
    """The token in the environment, if it is for this home."""
    stated = os.environ.get(TOKEN)
    if stated and stated.startswith(SCOPED) and not _same(home, os.environ.get("VANTAGE_HOME", home)):
        return None
    return stated or None


def _same(home: str, other: str) -> bool:
    one, two = (os.path.realpath(os.path.expanduser(each)) for each in (home, other))  # noqa: PTH111
    return one == two


def home_token(home: str) -> str:
    """The token in the file `token` of a home."""
    try:
        with open(os.path.join(home, "token"), encoding="ascii", errors="replace") as file:  # noqa: PTH118, PTH123
            return file.read().strip()
    except OSError as error:
        raise NoServer(f"{error.filename} cannot be read: {error.strerror}", hint=f"is {home} yours?") from error
