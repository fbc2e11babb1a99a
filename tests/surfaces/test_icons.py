"""The icon vocabulary: one table, whole, and safe for every surface."""

import re

import pytest
from wcwidth import iter_graphemes, wcswidth, wcwidth

from vantage.surfaces.icons import _SYMBOLS, DOT, ICONS, icon

NAMES = """
    dot brain globe weather search file folder terminal edit trash check cross warning info clock calendar image
    database rocket bug test chart mail person people gear link lock key download upload play stop list tag star chat
    code branch merge map book bell cloud cart heart tool
"""


@pytest.mark.parametrize("name", ICONS)
def test_every_surface_has_something_to_draw(name):
    found = icon(name)
    assert found.name == name
    assert wcwidth(found.glyph) == 1
    assert wcswidth(found.glyph + "\ufe0f") == 1, "a terminal might draw it as an emoji, two cells wide"
    assert re.fullmatch("[!-~]", found.ascii)
    assert len(list(iter_graphemes(found.emoji))) == 1
    assert wcswidth(found.emoji) == 2
    assert re.fullmatch(r"M[MLHVCSAZmlhvcsaz0-9 .-]+", found.svg)


def test_pictures_are_told_apart():
    for field in ("glyph", "emoji", "svg"):
        assert len({getattr(each, field) for each in ICONS.values()}) == len(ICONS)


def test_the_vocabulary_is_whole():
    assert set(NAMES.split()) <= set(ICONS)
    assert set(_SYMBOLS.values()) <= set(ICONS)
    assert not set(_SYMBOLS) & set(ICONS), "a symbol with the name of an icon is that icon"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("brain.head.profile", "brain"),
        ("cloud.sun", "weather"),
        ("cloud.sun.rain.fill", "weather"),
        ("cloud.fill", "cloud"),
        ("magnifyingglass", "search"),
        ("magnifyingglass.circle.fill", "search"),
        ("doc.text", "file"),
        ("doc.text.magnifyingglass", "search"),
        ("folder.badge.plus", "folder"),
        ("terminal.fill", "terminal"),
        ("globe.europe.africa", "globe"),
        ("checkmark.circle", "check"),
        ("xmark.octagon", "cross"),
        ("exclamationmark.triangle", "warning"),
        ("clock.arrow.circlepath", "clock"),
        ("calendar", "calendar"),
        ("photo.on.rectangle", "image"),
        ("cylinder.split.1x2", "database"),
        ("paperplane", "send"),
        ("ladybug", "bug"),
        ("ant", "bug"),
        ("chart.bar.xaxis", "chart"),
        ("envelope", "mail"),
        ("person.crop.circle", "person"),
        ("person.2.fill", "people"),
        ("gearshape.2", "gear"),
        ("arrow.down.circle", "download"),
        ("arrow.up.circle", "upload"),
        ("play.circle", "play"),
        ("list.bullet", "list"),
        ("bubble.left.and.bubble.right", "chat"),
        ("chevron.left.forwardslash.chevron.right", "code"),
        ("arrow.triangle.branch", "branch"),
        ("wrench.and.screwdriver", "tool"),
        ("Folder", "folder"),
    ],
)
def test_sf_symbols_lead_to_it(symbol, name):
    assert icon(symbol).name == name


@pytest.mark.parametrize("name", ["", "no.such.icon", "clouds", "\x1b[2J", "<script>", "\u202e", "." * 100_000, "é"])
def test_an_unknown_name_is_a_dot(name):
    assert icon(name) is DOT
