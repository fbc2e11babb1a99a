"""A whole conversation as one file, made from its folder without a server, even while the conversation goes on."""

from collections.abc import Callable, Iterator

import msgspec

from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.errors import InputError, did_you_mean
from vantage.export.asciicast import asciicast
from vantage.export.markdown import markdown
from vantage.export.pages.page import page
from vantage.export.pages.player import player
from vantage.export.recording import Progress
from vantage.export.rows import exported_rows
from vantage.export.text import text
from vantage.timeline.tools.registry import ToolRegistry

Maker = Callable[[ConversationFolder, Settings, Progress, ToolRegistry | None], Iterator[str]]


class Format(msgspec.Struct, frozen=True):
    """A format of exports, and the function that writes it piece by piece."""

    summary: str
    content_type: str
    suffix: str
    make: Maker


FORMATS = {
    "html": Format(
        "a page with the timeline and, below it, the terminal to be played; needs nothing but itself",
        "text/html; charset=utf-8",
        "html",
        lambda folder, settings, progress, tools: page(
            folder, settings, exported_rows(folder, progress, tools), progress
        ),
    ),
    "markdown": Format(
        "the timeline as a document",
        "text/markdown; charset=utf-8",
        "md",
        lambda folder, settings, progress, tools: markdown(settings, exported_rows(folder, progress, tools)),
    ),
    "text": Format(
        "the timeline as plain text",
        "text/plain; charset=utf-8",
        "txt",
        lambda folder, settings, progress, tools: text(settings, exported_rows(folder, progress, tools)),
    ),
    "asciicast": Format(
        "the terminal as a recording for asciinema and its players (version 3)",
        "application/x-asciicast",
        "cast",
        lambda folder, _, progress, __: asciicast(folder, progress),
    ),
    "player": Format(
        "a page that plays the terminal by itself",
        "text/html; charset=utf-8",
        "player.html",
        lambda folder, _, progress, __: iter((player(folder, progress),)),
    ),
}


def export(
    folder: ConversationFolder,
    format: str,
    progress: Progress = lambda _done, _all: None,
    tools: ToolRegistry | None = None,
) -> Iterator[str]:
    """The file, piece by piece. A refused request raises before the first piece.

    `tools` is the registry of the home; without it, only the built-in tools are known.
    """
    return known(format).make(folder, folder.read_settings(), progress, tools)


def known(format: str) -> Format:
    """A format by its name."""
    if format not in FORMATS:
        raise InputError(f"a conversation cannot be exported as {format!r}", hint=did_you_mean(format, FORMATS))
    return FORMATS[format]


def content_type(format: str) -> str:
    return known(format).content_type


def file_name(conversation_id: str, format: str) -> str:
    return f"{conversation_id}.{known(format).suffix}"
