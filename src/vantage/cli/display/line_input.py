"""A line of input that is edited: text with a caret, several lines, pastes, and the lines before it as history.

No IO: keys come as `Typed`, what is to be drawn is asked for. Enter submits; Alt-Enter and Ctrl-J begin another line; a
paste is text, whatever is in it.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from vantage.cli.display.local_keys import Typed

MAX_HISTORY = 500
_WORD = re.compile(r"\S+\s*\Z")
_PIECES = re.compile(r"\x1b?\r|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")


class Submitted(NamedTuple):
    text: str


class Pressed(NamedTuple):
    """A key that edits nothing: `Escape`, `C-c`, `C-d` on an empty line …"""

    key: str


Action = Submitted | Pressed


class LineInput:
    def __init__(self) -> None:
        self.text = ""
        self.caret = 0
        self._history: list[str] = []
        self._place = 0
        """Which line of the history is shown; its length: the one that is being written."""
        self._draft = ""
        self._controls: dict[str, Callable[[], None]] = {
            "\n": lambda: self._insert("\n"),
            "\x1b\r": lambda: self._insert("\n"),
            "\x7f": lambda: self._remove(self.caret - 1, self.caret),
            "\x08": lambda: self._remove(self.caret - 1, self.caret),
            "\x01": lambda: self._move(self._line_start()),
            "\x05": lambda: self._move(self._line_end()),
            "\x0b": lambda: self._remove(self.caret, self._line_end()),
            "\x15": lambda: self._remove(self._line_start(), self.caret),
            "\x17": self._remove_word,
        }
        self._keys: dict[str, Callable[[], None]] = {
            "Left": lambda: self._move(self.caret - 1),
            "Right": lambda: self._move(self.caret + 1),
            "Home": lambda: self._move(self._line_start()),
            "End": lambda: self._move(self._line_end()),
            "Delete": lambda: self._remove(self.caret, self.caret + 1),
            "Up": lambda: self._up_or_down(-1),
            "Down": lambda: self._up_or_down(1),
        }

    def take(self, typed: Typed) -> list[Action]:
        """What was typed, and what that means besides editing."""
        if typed.paste:
            self._insert(typed.data.replace("\r\n", "\n").replace("\r", "\n"))
            return []
        actions: list[Action] = []
        for key in typed.keys:
            if key in self._keys:
                self._keys[key]()
            else:
                actions.append(Pressed(key))
        for piece in _PIECES.findall(typed.data):
            actions += self._piece(piece)
        return actions

    def _piece(self, piece: str) -> list[Action]:
        if piece == "\r":
            return [Submitted(self._submit())]
        if piece in self._controls:
            self._controls[piece]()
        elif piece >= " " and piece != "\x7f":
            self._insert(piece)
        else:
            return [Pressed(f"C-{chr(ord(piece[0]) | 0x40).lower()}")]
        return []

    def clear(self) -> None:
        self.text, self.caret, self._place, self._draft = "", 0, len(self._history), ""

    def _submit(self) -> str:
        text = self.text
        if text.strip() and self._history[-1:] != [text]:
            self._history = [*self._history, text][-MAX_HISTORY:]
        self.clear()
        return text

    # editing

    def _insert(self, text: str) -> None:
        self.text = self.text[: self.caret] + text + self.text[self.caret :]
        self.caret += len(text)

    def _remove(self, start: int, end: int) -> None:
        start, end = max(start, 0), min(end, len(self.text))
        self.text = self.text[:start] + self.text[end:]
        self.caret = start

    def _remove_word(self) -> None:
        word = _WORD.search(self.text[: self.caret])
        self._remove(word.start() if word else self._line_start(), self.caret)

    def _move(self, place: int) -> None:
        self.caret = min(max(place, 0), len(self.text))

    def _line_start(self) -> int:
        return self.text.rfind("\n", 0, self.caret) + 1

    def _line_end(self) -> int:
        end = self.text.find("\n", self.caret)
        return len(self.text) if end < 0 else end

    def _up_or_down(self, step: int) -> None:
        """To the line above or below; from the first or last one, to the history."""
        start, column = self._line_start(), self.caret - self._line_start()
        if step < 0 and start > 0:
            above = self.text.rfind("\n", 0, start - 1) + 1
            self._move(min(above + column, start - 1))
        elif step > 0 and self._line_end() < len(self.text):
            below = self._line_end() + 1
            end = self.text.find("\n", below)
            self._move(min(below + column, len(self.text) if end < 0 else end))
        else:
            self._recall(self._place + step)

    def _recall(self, place: int) -> None:
        if not 0 <= place <= len(self._history):
            return
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        self.text = self._draft if place == len(self._history) else self._history[place]
        self.caret = len(self.text)
