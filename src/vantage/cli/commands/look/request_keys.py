"""The keys that answer open requests in `vantage watch`: a digit for each option, Esc to leave the request open.

One request is asked about at a time, the oldest. A press answers what the person has read: the keys are shown a moment
after the request, and what was typed before is dropped. So a second press never answers the next request.
"""

import os
import sys
import termios
import time
import tty
from collections.abc import Callable
from typing import Any

from vantage.cli.display.signals import HasFileno
from vantage.errors import VantageError
from vantage.text.sanitize import one_line
from vantage.text.width import take

_ESCAPE = b"\x1b"
_READING_S = 0.3
"""From the request to its keys: a press in between was meant for something else."""
_MOST = 9
"""Options that have a digit."""


class RequestKeys:
    def __init__(self, answer: Callable[[dict[str, Any], str], None]) -> None:
        """`answer` sends the option of a request, and raises VantageError."""
        self._answer = answer
        self._before: list[Any] | None = None
        """The terminal's settings, while single keys are read."""
        self._open: dict[str, dict[str, Any]] = {}
        """Row → its request, where that has options to press for; the oldest first."""
        self._done: set[str] = set()
        """Requests that were answered or left here."""
        self._asked = ""
        """The request that the keys are for."""
        self._due = 0.0
        """When they are shown."""
        self._shown = False
        self._said = ""

    def sources(self) -> list[HasFileno]:
        """The keyboard, while a press would be taken."""
        return [sys.stdin] if self._before is not None else []

    def timeout(self) -> float | None:
        """Seconds until the keys are shown; None: nothing is due."""
        return max(self._due - time.monotonic(), 0) if self._asked and not self._shown else None

    def saw(self, row: dict[str, Any]) -> None:
        """Takes a row as it is now."""
        request = row.get("request")
        if request and request["state"] == "open" and _choices(request):
            self._open[row["id"]] = request
        else:
            self._open.pop(row["id"], None)

    def clear(self) -> None:
        self._open.clear()

    def prompt(self) -> str:
        """What can be pressed now; "" while nothing can."""
        request = self._current()
        name = request["request_id"] if request else ""
        if name != self._asked:
            self._asked, self._shown = name, False
            self._due = time.monotonic() + _READING_S
            self._read_keys(name != "")
        if request is not None and not self._shown and time.monotonic() >= self._due:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
            self._shown = True
        said = [self._said] if self._said else []
        if request is None or not self._shown:
            return "\n".join(said)
        keys = ", ".join([f"{n} {one_line(option['id'])}" for n, option in enumerate(_choices(request), 1)])
        asks = f"{one_line(name)}: press {keys}; Esc leaves it open"
        return "\n".join([*said, take(asks, os.get_terminal_size(sys.stdout.fileno()).columns - 1)])

    def press(self) -> None:
        """Reads what was pressed: one key answers, more at once are no key."""
        pressed = os.read(sys.stdin.fileno(), 1024)
        request = self._current()
        if request is None or not self._shown:
            return
        if pressed == _ESCAPE:
            self._done.add(request["request_id"])
        elif len(set(pressed)) == 1 and pressed[:1].isdigit() and 0 < int(pressed[:1]) <= len(_choices(request)):
            self._send(request, _choices(request)[int(pressed[:1]) - 1]["id"])

    def close(self) -> None:
        self._read_keys(on=False)

    def _current(self) -> dict[str, Any] | None:
        if not _is_in_front():
            return None
        return next((each for each in self._open.values() if each["request_id"] not in self._done), None)

    def _send(self, request: dict[str, Any], option: str) -> None:
        self._done.add(request["request_id"])
        try:
            self._answer(request, option)
            self._said = ""
        except VantageError as error:
            self._said = f"• {one_line(str(error))}"

    def _read_keys(self, on: bool) -> None:
        """Single keys without echo, or the terminal as it was. What was typed until now is dropped."""
        fd = sys.stdin.fileno()
        if on:
            self._before = self._before or termios.tcgetattr(fd)
            tty.setcbreak(fd, termios.TCSAFLUSH)
        elif self._before is not None:
            termios.tcsetattr(fd, termios.TCSAFLUSH, self._before)
            self._before = None


def _choices(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The options that one key can answer with: no words and no form go with them."""
    if "schema" in request or request["kind"] == "secret":
        return []
    return [option for option in request.get("options", []) if not option.get("needs_text")][:_MOST]


def _is_in_front() -> bool:
    """Whether this process may read the keyboard: a terminal stops one in the background."""
    try:
        return sys.stdin is not None and sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False
