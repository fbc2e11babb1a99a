"""The input line of `vantage agent`: keys in, text and actions out."""

import pytest

from vantage.cli.display.line_input import LineInput, Pressed, Submitted
from vantage.cli.display.local_keys import LocalKeys


class Line:
    """An input line at a keyboard."""

    def __init__(self):
        self.keys = LocalKeys()
        self.line = LineInput()

    def type(self, data):
        typed = self.keys.feed(data.encode())
        typed += self.keys.flush() if self.keys.waiting else []
        return [action for each in typed for action in self.line.take(each)]

    @property
    def shown(self):
        """The text with the caret as a bar."""
        return self.line.text[: self.line.caret] + "|" + self.line.text[self.line.caret :]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("hello", "hello|"),
        ("hello\x1b[D\x1b[Dy", "helylo|".replace("ylo|", "y|lo")),
        ("hello\x7f\x7f", "hel|"),
        ("hello\x01X", "X|hello"),
        ("hello\x01\x1b[3~", "|ello"),
        ("one two\x17", "one |"),
        ("one two\x15", "|"),
        ("one\ntwo", "one\ntwo|"),
        ("one\x1b\rtwo", "one\ntwo|"),
        ("one\ntwo\x1b[A", "one|\ntwo"),
        ("one\ntwo\x1b[A\x1b[B!", "one\ntwo!|"),
        ("one\ntwo\x01\x0b", "one\n|"),
        ("\x1b[200~a\r\nb\x1b[201~", "a\nb|"),
        ("é漢\x7f", "é|"),
    ],
)
def test_what_is_typed_is_edited(typed, shown):
    line = Line()
    assert line.type(typed) == []
    assert line.shown == shown


def test_enter_submits_and_the_history_has_it():
    line = Line()
    assert line.type("first\r") == [Submitted("first")]
    assert line.type("second\r") == [Submitted("second")]
    line.type("draft\x1b[A")
    assert line.shown == "second|"
    line.type("\x1b[A\x1b[A")
    assert line.shown == "first|"
    line.type("\x1b[B\x1b[B")
    assert line.shown == "draft|"


def test_keys_that_edit_nothing_are_told():
    assert Line().type("\x03") == [Pressed("C-c")]
    assert Line().type("\x04") == [Pressed("C-d")]
    assert Line().type("\x0f") == [Pressed("C-o")]
    assert Line().type("\x1b") == [Pressed("Escape")]


def test_a_paste_with_control_bytes_is_text():
    line = Line()
    assert line.type("\x1b[200~make\r\x03\x1b[201~") == []
    assert line.line.text == "make\n\x03"
