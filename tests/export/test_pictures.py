"""Screens as SVG, HTML and PNG."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linked_texts import HONEST, MISLEADING
from vantage.errors import Unavailable
from vantage.export.screen import png
from vantage.export.screen.html import screen_html
from vantage.export.screen.pieces import LIGHT
from vantage.export.screen.svg import CELL_HEIGHT, CELL_WIDTH, screen_svg
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.screen import Screen

SVG = "{http://www.w3.org/2000/svg}"


def shown(data, cols=20, rows=3):
    screen = Screen(cols, rows)
    screen.feed(data)
    return ScreenSnapshot.of(screen, 0, styled=True)


def texts(svg):
    return {node.text: node.attrib for node in ET.fromstring(svg).iter(f"{SVG}text") if node.text}


def test_every_word_stands_in_its_cells():
    found = texts(screen_svg(shown("ab  cd\r\n  日x".encode()), bar=False))
    assert float(found["cd"]["x"]) == pytest.approx(4 * CELL_WIDTH, abs=0.1)
    assert float(found["cd"]["textLength"]) == pytest.approx(2 * CELL_WIDTH, abs=0.1)
    assert float(found["日"]["textLength"]) == pytest.approx(2 * CELL_WIDTH, abs=0.1)
    assert float(found["x"]["x"]) == pytest.approx(4 * CELL_WIDTH, abs=0.1)
    assert float(found["日"]["y"]) - float(found["ab"]["y"]) == CELL_HEIGHT


def test_styles_are_drawn():
    data = b"\x1b[1;31mred\x1b[m \x1b[3mit\x1b[m \x1b[4:3mcurl\x1b[m \x1b[2mdim\x1b[m \x1b[8mno\x1b[m"
    found = texts(screen_svg(shown(data, 40)))
    assert found["red"]["fill"] == "#e5656b"
    assert found["red"]["font-weight"] == "bold"
    assert found["it"]["font-style"] == "italic"
    assert found["curl"]["style"] == "text-decoration:underline wavy"
    assert found["dim"]["opacity"] == "0.6"
    assert "no" not in found


def test_reversed_text_changes_its_colours():
    svg = screen_svg(shown(b"\x1b[7mback\x1b[m"), theme=LIGHT)
    assert texts(svg)["back"]["fill"] == LIGHT.background
    assert f'fill="{LIGHT.foreground}" shape-rendering' in svg


@pytest.mark.parametrize(
    ("data", "size"),
    [(b"", (CELL_WIDTH, CELL_HEIGHT)), (b"\x1b[5 q", (2, CELL_HEIGHT)), (b"\x1b[3 q", (CELL_WIDTH, 2))],
)
def test_the_cursor(data, size):
    root = ET.fromstring(screen_svg(shown(data + b"ab")))
    (cursor,) = [node for node in root.iter(f"{SVG}rect") if node.get("class") == "cursor"]
    assert (float(cursor.get("width")), float(cursor.get("height"))) == pytest.approx(size)
    assert float(cursor.get("x")) == pytest.approx(2 * CELL_WIDTH, abs=0.1)
    assert 'class="cursor"' not in screen_svg(shown(b"\x1b[?25l"))
    assert 'class="cursor"' not in screen_svg(shown(b""), cursor=False)


def test_the_bar_has_the_title():
    data = b"\x1b]0;a <b> & c\x07"
    assert "a <b> & c" in texts(screen_svg(shown(data)))
    assert "mine" in texts(screen_svg(shown(data), title="mine"))
    assert not texts(screen_svg(shown(data), bar=False))


HOSTILE = st.text(
    st.sampled_from("a<>&\"' ]日é\u0301\u202e\ufffe\ud7ff🙂\x1b[0m"), max_size=40
).map(lambda text: text.encode("utf-8", "replace"))  # fmt: skip


@given(HOSTILE, HOSTILE)
def test_pictures_are_well_formed_whatever_is_on_the_screen(text, link):
    snapshot = shown(b"\x1b]8;;http://" + link + b"\x07" + text + b"\x1b]8;;\x07\x1b]0;" + link + b"\x07")
    ET.fromstring(screen_svg(snapshot))
    page = screen_html(snapshot, page=True)
    assert re.fullmatch(r"[^<>]*(<(!doctype html|/?[a-z]+( [a-z-]+=\"[^\"<>]*\")*)>[^<>]*)*", page)


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x"])
def test_only_harmless_links_are_links(link):
    snapshot = shown(f"\x1b]8;;{link}\x07click\x1b]8;;\x07".encode())
    assert "<a " not in screen_svg(snapshot) + screen_html(snapshot)
    harmless = shown(b"\x1b]8;;https://example.org/?a=1&b=2\x07click\x1b]8;;\x07")
    assert '<a href="https://example.org/?a=1&amp;b=2"' in screen_svg(harmless)
    assert '<a href="https://example.org/?a=1&amp;b=2" rel="noopener' in screen_html(harmless)


@pytest.mark.parametrize("text", MISLEADING.values(), ids=MISLEADING)
def test_a_link_that_shows_another_address_is_text(text):
    """It is marked, and its title says where it leads."""
    snapshot = shown(text.encode(), 20)
    svg, html = screen_svg(snapshot), screen_html(snapshot)
    assert "<a " not in svg + html
    for picture in (svg, html):
        assert "evil.example" in picture
        assert "shows another address" in picture
    ET.fromstring(svg)


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_a_link_that_shows_no_other_address_stays_one(text):
    snapshot = shown(text.encode(), 20)
    for picture in (screen_svg(snapshot), screen_html(snapshot)):
        assert "<a " in picture
        assert "another address" not in picture


def test_html_has_the_rows_as_they_are():
    snapshot = shown("a \x1b[44mb\x1b[K\x1b[m\r\n  日<".encode(), 8)
    html = screen_html(snapshot, cursor=False)
    rows = re.sub(r"<[^>]+>", "", html).split("\n")
    assert [row.rstrip() for row in rows] == ["a b", "  日&lt;", ""]
    assert "background:#6ba4e7" in html
    assert html.startswith('<pre class="screen"')


def test_the_cursor_in_html():
    html = screen_html(shown(b"abc\x1b[1;2H"))
    assert re.sub(r"<span class=\"cursor\"[^>]*>(.)</span>", r"[\1]", html).count("[b]") == 1
    beyond = re.sub(r"<span class=\"cursor\"[^>]*>(.)</span>", r"[\1]", screen_html(shown(b"a\x1b[1;4H")))
    assert "  [ ]" in beyond


def test_a_picture_in_pixels():
    svg = screen_svg(shown(b"hello"))
    if png.converter() is None:  # then this machine must say what to install
        with pytest.raises(Unavailable, match="install one of"):
            png.svg_to_png(svg)
        return
    data = png.svg_to_png(svg, scale=1)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    assert (width, height) == pytest.approx(png.size_of(svg), abs=1)


def test_without_a_converter_the_error_names_them(monkeypatch):
    monkeypatch.setattr(png, "which", lambda name: None)
    monkeypatch.setattr(png, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"rsvg-convert, resvg, inkscape, chromium.* cairosvg, or take the SVG"):
        png.svg_to_png("<svg/>")


def test_a_converter_that_fails_is_said(monkeypatch):
    monkeypatch.setattr(png, "CONVERTERS", {"false": lambda program, svg, out, scale: [program]})
    with pytest.raises(Unavailable, match="false did not make a PNG: 1"):
        png.svg_to_png("<svg/>")
