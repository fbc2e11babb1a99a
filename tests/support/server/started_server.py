"""The server that a command has started for itself: asked through its socket, since its port may be out of reach."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from server_home import Answer, Server
from terminal_home import host_pid, wait_until_gone


class StartedServer(Server):
    def start(self) -> None:
        self._look()

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Answer:
        return super().ask(method, path, body, **{"unix": True, **how})

    @property
    def conversations(self) -> list[str]:
        return [one["id"] for one in self.get("/v1/conversations").json["conversations"]]

    def rows(self, conversation: str) -> list[dict[str, Any]]:
        path = f"/v1/conversations/{conversation}/rows?surface=plain&width=100&limit=500"
        return self.get(path).json["rows"]

    def texts(self, conversation: str) -> dict[str, str]:
        """Title of each row → its text."""
        return {one["row"]["title"]: one["text"] for one in self.rows(conversation)}

    def end(self) -> None:
        for pid in (self.address["pid"], host_pid(self.home)):
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
                wait_until_gone(pid)


@contextmanager
def nothing_runs_afterwards(user: Path) -> Iterator[Path]:
    """The home that Vantage has in a user's home; what was started there is ended."""
    home = user / ".local/state/vantage"
    try:
        yield home
    finally:
        if (home / "server.json").exists():
            StartedServer(home).end()
