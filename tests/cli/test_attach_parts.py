"""The parts of `vantage attach`: typed bytes become keys and pastes, and a window shows a part of the screen."""

import pytest

from vantage.cli.display.local_keys import LocalKeys
from vantage.cli.display.viewport import Viewport


def read(*pieces: bytes) -> list:
    keys = LocalKeys()
    found = [each for piece in pieces for each in keys.feed(piece)]
    return [each.keys[0] if each.keys else f"paste {each.data!r}" if each.paste else each.data for each in found]


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        (b"text", ["text"]),
        (b"a\rb\x7f\x03\t", ["a\rb\x7f\x03\t"]),
        ("é€😀".encode(), ["é€😀"]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["Up", "Down", "Right", "Left"]),
        (b"\x1bOA\x1bOH\x1bOF\x1bOP", ["Up", "Home", "End", "F1"]),
        (b"\x1b[H\x1b[F\x1b[1~\x1b[4~", ["Home", "End", "Home", "End"]),
        (b"\x1b[2~\x1b[3~\x1b[5~\x1b[6~", ["Insert", "Delete", "PageUp", "PageDown"]),
        (b"\x1b[15~\x1b[24~\x1b[15;2~", ["F5", "F12", "S-F5"]),
        (b"\x1b[1;5C\x1b[1;3A\x1b[1;2P\x1b[3;5~\x1b[1;8D", ["C-Right", "Alt-Up", "S-F1", "C-Delete", "C-Alt-S-Left"]),
        (b"\x1b[Z", ["S-Tab"]),
        (b"\x1bx\x1b\x7f", ["\x1bx", "\x1b\x7f"]),
        (b"x\x1b[200~a\x1b[Ab\nc\x1b[201~y", ["x", "paste 'a\\x1b[Ab\\nc'", "y"]),
        (b"\x1b[?62;1c\x1b[<0;1;1M", ["\x1b[?62;1c", "\x1b[<0;1;1M"]),
    ],
)
def test_typed_bytes_mean_the_same_however_they_are_cut(typed, means):
    assert read(typed) == means
    assert "".join(read(*(bytes([byte]) for byte in typed))) == "".join(means)
    for cut in range(1, len(typed)):
        assert "".join(read(typed[:cut], typed[cut:])) == "".join(means)


def test_an_escape_is_a_key_when_nothing_follows():
    keys = LocalKeys()
    assert keys.feed(b"\x1b") == []
    assert keys.waiting
    assert [each.keys for each in keys.flush()] == [("Escape",)]
    assert not keys.waiting
    assert keys.feed(b"a")[0].data == "a"


def test_leaving_ends_everything_but_not_inside_a_paste():
    keys = LocalKeys()
    assert [each.data for each in keys.feed(b"ab\x1ccd")] == ["ab"]
    assert keys.left
    pasting = LocalKeys()
    pasting.feed(b"\x1b[200~a\x1cb\x1b[201~")
    assert not pasting.left


def screen(*texts: str, row: int = 0, col: int = 0, visible: bool = True, cols: int = 20) -> dict:
    return {
        "type": "screen_delta",
        "rows": [{"row": number, "text": text, "runs": []} for number, text in enumerate(texts)],
        "cursor": {"row": row, "col": col, "visible": visible, "shape": "bar"},
        "title": "a \x1b]2;title",
        "alt_screen": False,
        "cols": cols,
        "rows_count": len(texts),
        "ts": 0,
    }


def shown(view: Viewport, columns: int, lines: int, bar: str = "bar") -> list[str]:
    from vantage import Screen

    window = Screen(columns, lines)
    window.feed(view.frame(bar).encode())
    return window.lines()


def test_a_window_moves_no_more_than_it_must():
    view = Viewport(8, 4)
    texts = [f"row {number} is long" for number in range(6)]
    view.apply(screen(*texts, row=4, col=2))
    assert shown(view, 8, 4) == ["row 2 is", "row 3 is", "row 4 is", " bar"]
    assert view.part == "rows 3-5, columns 1-8"
    view.resize(8, 4)
    view.apply(screen(*texts, row=3, col=10))
    assert shown(view, 8, 4) == [" 2 is lo", " 3 is lo", " 4 is lo", " bar"]
    view.resize(8, 4)
    view.apply(screen(*texts, row=0, col=0, visible=False))
    assert shown(view, 8, 4) == [" 2 is lo", " 3 is lo", " 4 is lo", " bar"], "a hidden cursor moves nothing"
    view.resize(30, 10)
    assert shown(view, 30, 10) == [*texts, "", "", "", " bar"]
    assert view.part == ""


def test_only_what_changed_is_written_and_nothing_that_acts():
    view = Viewport(20, 4)
    view.apply(screen("one", "two", "three"))
    first = view.frame("bar")
    assert "title" not in first, "a program must not name the viewer's window"
    view.apply({**screen("one", "TWO", "three"), "rows": [{"row": 1, "text": "TWO", "runs": []}]})
    second = view.frame("bar")
    assert "TWO" in second
    assert "one" not in second
    assert "bar" not in second


def test_wide_characters_at_the_edge_do_not_wrap():
    view = Viewport(5, 3)
    view.apply(screen("ab世界世界", "x", row=0, col=0))
    assert shown(view, 5, 3)[1] == "x"


def test_what_a_terminal_would_act_upon_is_not_drawn():
    view = Viewport(20, 4)
    view.apply(screen("a\u2028b\u2029c", "d\ufff9e\ufffbf", "g\U000e0041h"))
    assert shown(view, 20, 4)[:3] == ["abc", "d\ufffde\ufffdf", "gh"]
    assert not set("\u2028\u2029\ufff9\ufffb\U000e0041") & set(view.frame("a\u2028\U000e0041"))
