"""A whole conversation as one file, from its folder: needs no server, and may be done while one writes there."""

from collections.abc import Callable, Iterator

import msgspec

from vantage.conversation.files import ConversationFolder, Settings
from vantage.errors import InputError, nearest_word
from vantage.export.asciicast import asciicast
from vantage.export.markdown import markdown
from vantage.export.page import page
from vantage.export.player import player
from vantage.export.recording import Progress
from vantage.export.rows import exported_rows
from vantage.export.text import text

Maker = Callable[[ConversationFolder, Settings, Progress], Iterator[str]]


class Format(msgspec.Struct, frozen=True):
    """What a file is, and what writes it piece by piece."""

    summary: str
    content_type: str
    suffix: str
    make: Maker


FORMATS = {
    "html": Format(
        "a page with the timeline and, below it, the terminal to be played; needs nothing but itself",
        "text/html; charset=utf-8",
        "html",
        lambda folder, settings, progress: page(folder, settings, exported_rows(folder, progress), progress),
    ),
    "markdown": Format(
        "the timeline as a document",
        "text/markdown; charset=utf-8",
        "md",
        lambda folder, settings, progress: markdown(settings, exported_rows(folder, progress)),
    ),
    "text": Format(
        "the timeline as plain text",
        "text/plain; charset=utf-8",
        "txt",
        lambda folder, settings, progress: text(settings, exported_rows(folder, progress)),
    ),
    "asciicast": Format(
        "the terminal as a recording for asciinema and its players (version 3)",
        "application/x-asciicast",
        "cast",
        lambda folder, _, progress: asciicast(folder, progress),
    ),
    "player": Format(
        "a page that plays the terminal by itself",
        "text/html; charset=utf-8",
        "player.html",
        lambda folder, _, progress: iter((player(folder, progress),)),
    ),
}


def export(folder: ConversationFolder, format: str, progress: Progress = lambda _done, _all: None) -> Iterator[str]:
    """The file, piece by piece. What is wrong with the request is said before the first one."""
    return known(format).make(folder, folder.read_settings(), progress)


def known(format: str) -> Format:
    """A format by its name."""
    if format not in FORMATS:
        near = nearest_word(format, FORMATS)
        hint = f"did you mean {near!r}?" if near else f"one of {', '.join(FORMATS)}"
        raise InputError(f"a conversation cannot be exported as {format!r}", hint=hint)
    return FORMATS[format]


def content_type(format: str) -> str:
    return known(format).content_type


def file_name(conversation_id: str, format: str) -> str:
    return f"{conversation_id}.{known(format).suffix}"
