"""Cells, cuts, wraps and colours: the public functions of `vantage.text`."""

import re
from unicodedata import category

import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st

from strategies import TEXT
from vantage.text.ansi import Encoder
from vantage.text.palette import Palette, nearest, number_of, rgb_of
from vantage.text.sanitize import decode, one_line, sanitize
from vantage.text.sgr import parse_ansi
from vantage.text.spans import Span, text_of, width_of
from vantage.text.style import Style
from vantage.text.width import cells, graphemes, one_cell_each, pad, take, take_end, truncate, width
from vantage.text.wrap import breaks, wrap

CLEAN = TEXT.map(sanitize).map(lambda text: text.replace("\n", " "))


def test_the_fast_path_holds_only_characters_of_one_cell():
    for code in range(0x20, 0x11000):
        char = chr(code)
        if one_cell_each(char):
            assert wcwidth.width(char) == 1, hex(code)
            assert len(list(wcwidth.iter_graphemes(f"a{char}b"))) == 3, hex(code)


@given(CLEAN)
def test_cells_add_up(text):
    """They never come to less than the text takes. A virama before a symbol may make them one more."""
    together = sum(count for _, count in cells(text))
    before = "a" if category(text[:1] or " ").startswith("M") else ""  # a mark takes its cells behind a letter
    assert width(text) == wcwidth.width(before + text) - len(before)
    assert together == width(text) or (together > width(text) and re.search("[\u0900-\u1cff]", text))
    assert "".join(graphemes(text)) == text


@given(CLEAN, st.integers(0, 40))
def test_cuts_fit_and_fall_between_graphemes(text, limit):
    clusters = list(graphemes(text))
    for cut, part in (
        (take(text, limit), clusters),
        (take_end(text, limit)[::-1], [c[::-1] for c in reversed(clusters)]),
    ):
        assert width(cut) <= max(limit, 0) or cut == ""
        whole = ""
        for cluster in part:
            if len(whole) >= len(cut):
                break
            whole += cluster
        assert whole == cut


@given(CLEAN, st.integers(1, 40), st.booleans())
def test_truncation_counts_its_ellipsis(text, limit, middle):
    cut = truncate(text, limit, middle=middle)
    assert width(cut) <= limit
    assert cut == text if width(text) <= limit else "…" in cut


@pytest.mark.parametrize(
    ("text", "limit", "middle", "cut"),
    [
        ("abcdef", 4, False, "abc…"),
        ("abcdef", 4, True, "ab…f"),
        ("漢字漢字", 5, False, "漢字…"),
        ("👨‍👩‍👧👨‍👩‍👧", 3, False, "👨‍👩‍👧…"),
        ("abc", 0, False, ""),
        ("abc", 3, False, "abc"),
    ],
)
def test_truncate(text, limit, middle, cut):
    assert truncate(text, limit, middle=middle) == cut


def test_pad():
    assert pad("漢", 4) == "漢  "
    assert pad("long", 2) == "long"


@given(CLEAN, st.integers(2, 60), st.integers(2, 60), st.booleans())
def test_breaks_fit_and_lose_only_spaces(text, first, rest, hard):
    pieces = [text[start:end] for start, end in breaks(text, first, rest, hard=hard)]
    for index, piece in enumerate(pieces):
        assert width(piece) <= (rest if index else first)
    joined = "".join(pieces)
    assert joined == text if hard else joined.replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "size", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("codex-rs/tui/src/markdown.rs", 12, ["codex-rs/", "tui/src/", "markdown.rs"]),
        ("run --flag -v now", 8, ["run", "--flag", "-v now"]),
        ("0.0.0.0:8080->80/tcp", 14, ["0.0.0.0:8080->", "80/tcp"]),
        ("see https://x.io/a", 13, ["see", "https://x.io/", "a"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a   b", 3, ["a", "b"]),
        ("漢字、かな交じり文。", 8, ["漢字、か", "な交じり", "文。"]),
        ("日本語。次", 6, ["日本", "語。次"]),
        ("no\u00a0break here", 8, ["no\u00a0break", "here"]),
        ("    deep indent", 12, ["    deep", "indent"]),
        ("", 5, []),
    ],
)
def test_where_lines_break(text, size, lines):
    assert [text[start:end] for start, end in breaks(text, size, size)] == lines


def test_wrapping_keeps_styles_and_prefixes():
    bold = Style(bold=True)
    lines = wrap([Span("plain and "), Span("bold words", bold), Span("\nnew")], 14, [Span("* ")], [Span("  ")])
    assert [text_of(line) for line in lines] == ["* plain and", "  bold words", "  new"]
    assert [span for span in lines[1] if span.style == bold] == [Span("bold words", bold)]
    assert [text_of(line) for line in wrap([Span("a b"), Span("\nc")], None, [Span("- ")], [Span("  ")])] == [
        "- a b",
        "  c",
    ]


@given(
    CLEAN, st.integers(1, 30), st.sampled_from(["", "• ", "12345678 +"]), st.sampled_from(["", "    "]), st.booleans()
)
def test_wrapped_lines_never_exceed_the_width(text, size, first, rest, hard):
    lines = wrap([Span(text)], size, [Span(first)] if first else [], [Span(rest)] if rest else [], hard=hard)
    assert lines
    for line in lines:
        assert width_of(line) <= max(size, 2)
    assert "".join(map(text_of, lines)).replace(" ", "") == (first + text).replace(" ", "")


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("a\tb", "a    b"),
        ("\x1b[31m", "\\x1B[31m"),
        ("\x9b2J", "\\x9B2J"),
        ("\x7f\x00", "\\x7F\\x00"),
        ("\u202eabc\u2066", "\\u202Eabc\\u2066"),
        ("line\r\nnext\rback", "line\nnext\\x0Dback"),
        ("\ud800", "\ufffd"),
        ("\U000e0041", "\\U000E0041"),
        (
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        ),
        ("a\u2028b", "a\\u2028b"),
        ("naïve — “ok” 👍🏽", "naïve — “ok” 👍🏽"),
    ],
)
def test_sanitize(dirty, clean):
    assert sanitize(dirty) == clean


@given(st.text())
def test_sanitised_text_is_harmless_and_stays_so(text):
    clean = sanitize(text)
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", clean) is None
    assert sanitize(clean) == clean
    assert "\n" not in one_line(text)


def test_decode_never_fails():
    assert decode(b"caf\xe9 \xff\xfe") == "caf\ufffd \ufffd\ufffd"


@pytest.mark.parametrize(
    ("ansi", "style"),
    [
        ("\x1b[1mx", Style(bold=True)),
        ("\x1b[31mx", Style(1)),
        ("\x1b[97mx", Style(15)),
        ("\x1b[38;5;208mx", Style(208)),
        ("\x1b[38;2;255;0;0mx", Style(196)),
        ("\x1b[38:2::255:0:0mx", Style(196)),
        ("\x1b[38:5:12mx", Style(12)),
        ("\x1b[48;5;7;3mx", Style(None, 7, italic=True)),
        ("\x1b[1;31;0mx", Style()),
        ("\x1b[1m\x1b[22mx", Style()),
        ("\x1b[4:3mx", Style(underline=True)),
        ("\x1b[4:0mx", Style()),
        ("\x1b[999;38mx", Style()),
        ("\x9b7mx", Style(reverse=True)),
    ],
)
def test_sgr(ansi, style):
    assert parse_ansi(ansi) == [[Span("x", style)]]


def test_a_colour_runs_on_over_line_ends():
    red = Style(1)
    assert parse_ansi("\x1b[31ma\nb\x1b[mc") == [[Span("a", red)], [Span("b", red), Span("c")]]


@given(st.text(alphabet=st.sampled_from("\x1b[]0;:m38521J\x07\\ab\n\r\t\x9b"), max_size=60))
def test_nothing_but_sgr_gets_through(text):
    for line in parse_ansi(text):
        assert re.search("[\x00-\x1f\x7f-\x9f]", text_of(line)) is None


def test_every_line_resets_what_it_set():
    encoder = Encoder(Palette.derive(), hyperlinks=True)
    out = encoder.lines(
        [[Span("a", Style("red", bold=True)), Span("b", Style("red", bold=True))], [Span("", Style("red")), Span("c")]]
    )
    assert out == "\x1b[1;38;5;203mab\x1b[0m\nc"
    assert encoder.line([Span("x", Style(link="https://e.x"))]) == "\x1b]8;;https://e.x\x1b\\x\x1b]8;;\x1b\\"


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
        (" HTTP://example.com ", "HTTP://example.com"),
        ("mailto:a@b.c", "mailto:a@b.c"),
        ("https://de.example.org/wiki/Köln", "https://de.example.org/wiki/K%C3%B6ln"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("//example.com", None),
        ("https://example.com/\u202egpj.exe", None),
        ("https://example.com/\x1b\\", None),
        ("", None),
    ],
)
def test_addresses_that_may_be_followed(url, safe):
    from vantage.document.inline import safe_url

    assert safe_url(url) == safe


def test_palette_numbers():
    assert all(
        nearest(rgb_of(number)) == number or rgb_of(nearest(rgb_of(number))) == rgb_of(number)
        for number in range(16, 256)
    )
    assert number_of((255, 255, 255)) == 231
    assert number_of(7) == 7


def test_width_of_a_line_is_that_of_its_text():
    assert width_of([Span("❤"), Span("\ufe0f")]) == width("❤️") == 2


@pytest.mark.parametrize("sign", ["\u09c7", "\u1031", "\u093e"])
def test_a_text_that_begins_with_a_vowel_sign_fits_behind_a_bullet(sign):
    """Alone, wcwidth gives it no cell; behind a blank it takes one."""
    text = f"{sign}0000 {sign}"
    assert width(f"• {text}") == 2 + width(text)
    assert sum(size for _, size in cells(text)) == width(text)
    assert width(f"• {take(text, 3)}") <= 5
