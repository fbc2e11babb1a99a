"""Where a person talks to an agent: the lines below the timeline of `vantage agent`, and what is typed there.

It sends messages, answers and interrupts over the socket that the timeline comes from, and shows what became of them.
"""

import os
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from typing import Any

from vantage.cli.display.line_input import LineInput, Pressed, Submitted
from vantage.cli.display.local_keys import LocalKeys, Typed
from vantage.cli.display.signals import HasFileno
from vantage.cli.home_client import HomeClient
from vantage.cli.wording import hint_of
from vantage.client import requests
from vantage.client.transport.link import Link
from vantage.errors import VantageError, from_wire
from vantage.text.sanitize import sanitize

_STDIN = 0
_READING_S = 0.3
_ESCAPE_S = 0.05
"""An Escape with no byte after it for this long is the key itself."""
_PASTES, _NO_PASTES = "\x1b[?2004h", "\x1b[?2004l"
_DIM, _BOLD, _CARET, _PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[7m", "\x1b[0m"
_SENT = ("say", "interrupt")
_BECAME = {
    "queued": "it waits until the agent can take it",
    "steered": "it joins the turn",
    "refused": "the agent does not take it now",
}
_STATE_KEYS = {True: "Esc interrupts", False: "Ctrl-D leaves"}
_YES, _NO = ("y", "allow"), ("n", "deny")


class Desk:
    def __init__(self, home: str, conversation: str, link: Link) -> None:
        self.over = False
        """The person has left."""
        self._home = home
        self._conversation = conversation
        self._link = link
        self._keys = LocalKeys()
        self._line = LineInput()
        self._said = ""
        """What became of the last thing that was sent; shown until the next key."""
        self._requests: dict[str, dict[str, Any]] = {}
        """Open requests: row → card. The first one is answered first."""
        self._asked_text: tuple[str, str] | None = None
        """A request and the option of it that needs a text: the next line is that."""
        self._readable = 0.0
        """From when on the keys of a request are shown, and answer: one that was pressed before was meant otherwise."""
        self._typed = 0.0
        """When the last key came."""
        self._works = False
        self._settings: list[Any] | None = None

    # the terminal

    def open(self) -> None:
        """From now on, until `close`, the keyboard gives single keys."""
        self._settings = termios.tcgetattr(_STDIN)
        self._take_keys()

    def close(self) -> None:
        self._give_keys_back()

    def _take_keys(self) -> None:
        raw = termios.tcgetattr(_STDIN)
        raw[0] &= ~(termios.ICRNL | termios.INLCR | termios.IXON)
        raw[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
        termios.tcsetattr(_STDIN, termios.TCSANOW, raw)
        sys.stdout.write(_PASTES)
        sys.stdout.flush()

    def _give_keys_back(self) -> None:
        sys.stdout.write(_NO_PASTES)
        sys.stdout.flush()
        if self._settings is not None:
            termios.tcsetattr(_STDIN, termios.TCSADRAIN, self._settings)

    def sources(self) -> list[HasFileno]:
        return [sys.stdin]

    def timeout(self) -> float | None:
        if self._keys.waiting:
            return _ESCAPE_S
        return max(self._readable - time.monotonic(), 0.0) if self._readable > time.monotonic() else None

    def press(self) -> None:
        """Takes what was typed."""
        data = os.read(_STDIN, 1 << 16)
        self._typed = time.monotonic()
        if not data:
            self.over = True
            return
        self._take(self._keys.feed(data))
        self.over = self.over or self._keys.left

    # what is typed

    def _take(self, typed: list[Typed]) -> None:
        for each in typed:
            self._said = ""
            if not self._line.text and not each.paste and self._pick(each.data):
                continue
            for action in self._line.take(each):
                if isinstance(action, Submitted):
                    self._submit(action.text)
                else:
                    self._press(action)

    def _pick(self, key: str) -> bool:
        """Answers the first open request, where the key is one of its options."""
        card = next(iter(self._requests.values()), None)
        if card is None or self._asked_text is not None or time.monotonic() < self._readable:
            return False
        option = _option(card, key)
        if option is None:
            return False
        if option.get("needs_text"):
            self._asked_text = (card["request_id"], option["id"])
        else:
            self._answer(card, option=option["id"])
        return True

    def _submit(self, text: str) -> None:
        if not text.strip():
            return
        card = next(iter(self._requests.values()), None)
        if self._asked_text is not None:
            request_id, option = self._asked_text
            self._asked_text = None
            asked = next((each for each in self._requests.values() if each["request_id"] == request_id), None)
            if asked is not None:
                self._answer(asked, option=option, text=text)
        elif card is not None and not card.get("options") and not card.get("schema") and card.get("kind") != "secret":
            self._answer(card, text=text)
        else:
            self._send("say", text=text)

    def _answer(self, card: dict[str, Any], **answer: str) -> None:
        fields = {"hash": card.get("hash", ""), "by": f"client:{self._link.client_id}", **answer}
        try:
            with HomeClient(self._home, start=False) as client:
                client.answer(requests.answer(self._conversation, card["request_id"], fields))
        except VantageError as error:
            self._tell(error)

    def _tell(self, error: VantageError) -> None:
        hint = hint_of(error)
        self._said = f"{error.message}: {hint}" if hint else error.message

    def _press(self, pressed: Pressed) -> None:
        match pressed.key:
            case "Escape":
                self._send("interrupt")
            case "C-c" if self._line.text:
                self._line.clear()
            case "C-c" | "C-d":
                self.over = True
            case "C-o":
                self._attach()

    def _send(self, kind: str, **fields: Any) -> None:
        if not self._link.connected:
            self._said = "not connected: nothing was sent"
            return
        self._link.send(kind, conversation_id=self._conversation, **fields)

    def _attach(self) -> None:
        """Shows the agent's terminal until it is left."""
        self._give_keys_back()
        words = ("-m", "vantage", "attach", self._conversation, "--home", self._home)
        subprocess.run([sys.executable, *words], check=False)  # noqa: S603 -- ourselves
        self._take_keys()

    # what the server says

    def heard(self, message: dict[str, Any]) -> bool:
        """Takes a message that answers something that was sent here; false for any other."""
        match message["type"]:
            case "said":
                self._said = _BECAME.get(message["delivery"], "")
            case "interrupted":
                self._said = "" if message["interrupted"] else "no turn runs"
            case "error" if message.get("about") in _SENT:
                self._tell(from_wire(message))
            case _:
                return False
        return True

    def clear(self) -> None:
        """All rows are sent anew."""
        self._requests.clear()

    def saw(self, row: dict[str, Any]) -> None:
        """A row is so now: one of a request may be open or over."""
        card = row.get("request")
        if card is not None and row["id"] not in self._requests:
            self._readable = time.monotonic() + _READING_S
        if card is not None and card.get("state", "open") == "open":
            self._requests[row["id"]] = card
        else:
            self._requests.pop(row["id"], None)

    def turn(self, works: bool) -> None:
        self._works = works

    # what is drawn

    def prompt(self) -> str:
        """What stands below the timeline. An Escape that nothing has followed is taken as the key."""
        if self._keys.waiting and time.monotonic() - self._typed >= _ESCAPE_S:
            self._take(self._keys.flush())
        caret, text = self._line.caret, self._line.text
        under = text[caret : caret + 1]
        shown = sanitize(text[:caret]) + _CARET + (sanitize(under) if under not in ("", "\n") else " ") + _PLAIN
        shown += ("\n" if under == "\n" else "") + sanitize(text[caret + 1 :])
        entered = shown.replace("\n", "\n  ")
        return f"{_DIM}{sanitize(self._hint())}{_PLAIN}\n{_BOLD}›{_PLAIN} {entered}"

    def _hint(self) -> str:
        if self._said:
            return self._said
        if self._asked_text is not None:
            return "type the text of the answer · Enter sends it"
        card = next(iter(self._requests.values()), None)
        if card is not None and card.get("options") and time.monotonic() >= self._readable:
            return "answer: " + " · ".join(_labelled(card))
        return f"{_STATE_KEYS[self._works]} · Ctrl-O shows its terminal"


def _option(card: dict[str, Any], key: str) -> dict[str, Any] | None:
    """The option that a key means: its number, or y and n for the first that allows and denies."""
    options: list[dict[str, Any]] = card.get("options") or []
    if key.isdecimal() and 1 <= int(key) <= len(options):
        return options[int(key) - 1]
    kind = dict((_YES, _NO)).get(key)
    return next((each for each in options if each.get("kind") == kind), None) if kind else None


def _labelled(card: dict[str, Any]) -> Iterator[str]:
    """Each option with its key."""
    letters = {kind: key for key, kind in (_YES, _NO)}
    for number, option in enumerate(card["options"], 1):
        letter = letters.pop(option.get("kind", ""), None)
        yield f"{number}{f' or {letter}' if letter else ''} {option['label']}"
