"""A PTY host of another version: answers as one does that speaks only some protocols."""

import json
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

TERMINAL_OPERATIONS = ("hello", "open", "attach", "detach", "input", "window", "remember", "state", "kill", "list")


class OldHost:
    """Listens in a home. What it was asked is in `asked`."""

    def __init__(self, home: Path, speaks: Sequence[int], operations: Sequence[str] | None = TERMINAL_OPERATIONS):
        self.asked: list[tuple[str, object]] = []
        self._speaks = list(speaks)
        self._operations = operations
        """What its answer to a hello lists; None for the first hosts, which listed nothing."""
        self._listener = socket.socket(socket.AF_UNIX)
        path = str(home / "host.sock")
        self._listener.bind(path)
        self._listener.listen()
        (home / "host.json").write_text(json.dumps({"pid": 1, "socket": path, "protocol": max(speaks)}))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client, client.makefile("rb") as lines:
                for line in lines:
                    answer = self._answer(json.loads(line))
                    client.sendall(json.dumps(answer).encode() + b"\n")
                    if answer.get("error") == "protocol":
                        break

    def _answer(self, request: dict) -> dict:
        self.asked.append((request["op"], request.get("protocol")))
        said = {"id": request["id"], "ok": True}
        if request["op"] == "hello":
            if request["protocol"] not in self._speaks:
                why = {"error": "protocol", "message": "another version", "speaks": self._speaks}
                return {**said, "ok": False, **why}
            listed = {} if self._operations is None else {"operations": list(self._operations)}
            return {**said, "protocol": request["protocol"], "version": "0.1", "pid": 4711, **listed}
        if request["op"] == "list":
            return {**said, "terminals": []}
        return {**said, "ok": False, "error": "unknown_op", "message": "no such operation"}
