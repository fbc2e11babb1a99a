"""What people use instead of an agent's terminal: tmux, driven from outside by its own commands."""

import itertools
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.data.corpus import flood_file
from bench.run.answers import AT_END, Milliseconds

COMMANDS = 50


class _Tmux:
    """A server of its own, with one session that runs a bash without rc files."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="vantage-bench-tmux-")
        self._command = ["tmux", "-S", f"{folder}/socket", "-f", "/dev/null"]
        self("new-session", "-d", "-s", "it", "-x", "120", "-y", "40", "bash --norc --noprofile")
        AT_END.append(lambda: self("kill-server"))

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run([*self._command, *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    def type(self, line: str) -> None:
        self("send-keys", "-t", "it", line, "Enter")

    def until(self, text: str) -> None:
        """Looks at the screen again and again."""
        while text not in self("capture-pane", "-p", "-t", "it").splitlines():
            pass


def cat_through(corpus: Path) -> Callable[[], object]:
    """A log of 200 MB printed in a pane whose output is kept in a file, as scripts do it."""
    path, tmux = flood_file(corpus), _Tmux()
    kept = corpus / "tmux.log"
    numbers = itertools.count()

    def run() -> Milliseconds:
        number = next(numbers)
        tmux("pipe-pane", "-t", "it", f"cat > {kept}")
        start = time.perf_counter()
        tmux.type(f"cat {path}; echo; echo over-$(({number}))-done")
        tmux.until(f"over-{number}-done")
        took = Milliseconds((time.perf_counter() - start) * 1000)
        tmux("pipe-pane", "-t", "it")
        return took

    return run


def exec_true(_corpus: Path) -> Callable[[], object]:
    """A command and its exit code: typed, and looked for on the screen."""
    tmux = _Tmux()
    numbers = itertools.count()

    def run() -> Milliseconds:
        times = []
        for _ in range(COMMANDS):
            number = next(numbers)
            start = time.perf_counter()
            tmux.type(f"true; echo over-$(({number}))-$?")
            tmux.until(f"over-{number}-0")
            times.append(time.perf_counter() - start)
        return Milliseconds(median(times) * 1000)

    return run
