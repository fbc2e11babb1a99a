"""Terminals that never ran: their two files written by hand, so that every time in them is known."""

import json
from pathlib import Path

from vantage.conversation.store.conversation_folder import ConversationFolder, Settings

SECRET = "s3cr3t-of-the-shell"
START = 1_700_000_000_000


class WrittenTerminal:
    """Appends to `output.raw` and `output.index` as a host would. `after` is ms since what came before."""

    def __init__(self, home: Path, name: str = "c", *, cols: int = 40, rows: int = 8, title: str = "") -> None:
        self.id = name
        self.folder = ConversationFolder(home / "conversations" / name)
        self.folder.create()
        self.folder.write_settings(Settings(id=name, epoch="e", created=START, name=title, cols=cols, rows=rows))
        self.ms = START
        self.raw = b""
        self.moments: list[tuple[int, int]] = []
        """`(ms since the start, length of the output)` after each output that no change of size follows."""
        self._cycle = 0
        self.record("shell", shell_id="sh1", pid=1, cols=cols, rows=rows, cwd="/tmp", kind="bash", secret=SECRET)

    def record(self, t: str, after: int = 0, **fields) -> None:
        self.ms += after
        with self.folder.journal.open("a") as file:
            file.write(json.dumps({"t": t, "at": len(self.raw), "ts": self.ms, **fields}) + "\n")

    def out(self, data: bytes | str, after: int = 1000) -> None:
        self.record("out", after)
        self.raw += data if isinstance(data, bytes) else data.encode()
        self.folder.raw.write_bytes(self.raw)
        self.moments.append((self.ms - START, len(self.raw)))

    def mark(self, kind: str, status: int | None = None) -> bytes:
        parts = [kind, *([str(status)] if status is not None else []), f"aid={SECRET}", f"n={self._cycle}", "cwd=/tmp"]
        return f"\x1b]133;{';'.join(parts)}\x1b\\".encode()

    def prompt(self, status: int | None = None, after: int = 1000) -> None:
        self._cycle += 1
        self.out(self.mark("D", status or 0) + self.mark("A") + b"$ " + self.mark("B"), after)

    def command(self, cmd: str, output: bytes | str, status: int = 0, took: int = 1000) -> None:
        """A command that was run: its echo, its beginning, its output, and the next prompt."""
        self.record("exec", 1000, id=f"r{self.ms}", cmd=cmd, origin="exec")
        self.out(cmd.encode() + b"\r\n" + self.mark("C"), 0)
        self.out(output, 500)
        self.prompt(status, took)

    def size(self, cols: int, rows: int, after: int = 1000) -> None:
        self.record("size", after, cols=cols, rows=rows)
        self.moments.pop()  # the screen at that offset is now the resized one
