"""`vantage screen`: what is on a conversation's screen, or was, as text or as a picture."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import chosen, conversation_argument, conversation_folder, home_option, place_of
from vantage.cli.display.output_file import output_option, refuse_terminal, to_terminal, write_output
from vantage.cli.errors import WrongUsage

if TYPE_CHECKING:
    from vantage.conversation.store.conversation_folder import ConversationFolder
    from vantage.export.screen.pieces import Theme
    from vantage.terminal.screen.frames import ScreenSnapshot


def _text(snapshot: "ScreenSnapshot", _theme: "Theme", *, cursor: bool, style: bool) -> bytes:
    if not style:
        from vantage.text.sanitize import sanitize_cells

        lines = snapshot.text(cursor=cursor).split("\n")
        return "".join(f"{sanitize_cells(line)}\n" for line in lines).encode()
    from vantage.export.screen.ansi import styled_lines

    return "".join(f"{line}\n" for line in styled_lines(snapshot, cursor=cursor)).encode()


def _svg(snapshot: "ScreenSnapshot", theme: "Theme", *, cursor: bool, style: bool) -> bytes:  # noqa: ARG001
    from vantage.export.screen.svg import screen_svg

    return screen_svg(snapshot, theme=theme, cursor=cursor).encode()


def _png(snapshot: "ScreenSnapshot", theme: "Theme", *, cursor: bool, style: bool) -> bytes:  # noqa: ARG001
    from vantage.export.screen.png import svg_to_png
    from vantage.export.screen.svg import screen_svg

    return svg_to_png(screen_svg(snapshot, theme=theme, cursor=cursor))


def _html(snapshot: "ScreenSnapshot", theme: "Theme", *, cursor: bool, style: bool) -> bytes:  # noqa: ARG001
    from vantage.export.screen.html import screen_html

    return screen_html(snapshot, theme=theme, cursor=cursor, page=True).encode()


def _json(snapshot: "ScreenSnapshot", _theme: "Theme", *, cursor: bool, style: bool) -> bytes:
    import msgspec

    read = {"ok": True, **snapshot.to_dict(), "text": snapshot.text(cursor=cursor)}
    if not style:
        del read["runs"]
    return msgspec.json.encode(read) + b"\n"


_FORMATS: dict[str, Callable[..., bytes]] = {"text": _text, "svg": _svg, "png": _png, "html": _html, "json": _json}


@click.command(cls=OneLineCommand)
@conversation_argument
@click.option("--at", type=click.IntRange(min=0), metavar="OFFSET", help="When the raw output had this length.")
@click.option("--svg", "kind", flag_value="svg", help="A picture.")
@click.option("--png", "kind", flag_value="png", help="A picture in pixels, if a converter is installed.")
@click.option("--html", "kind", flag_value="html", help="A page.")
@click.option("--json", "kind", flag_value="json", help="Rows, cursor, title and size, for programs.")
@click.option("--style", is_flag=True, help="Text in colour, as on a terminal; styles in JSON.")
@click.option("--cursor", is_flag=True, help="Show where the cursor is.")
@click.option("--theme", type=click.Choice(["dark", "light"]), default="dark", help="Of a picture.")
@output_option
@home_option
def screen(
    conversation: str | None,
    at: int | None,
    kind: str | None,
    style: bool,
    cursor: bool,
    theme: str,
    output: str | None,
    home: str | None,
) -> None:
    """Print what is on the screen of CONVERSATION now, or was at any moment of its past.

    Needs no server: it is drawn from the conversation's files.
    """
    from vantage.export.screen.pieces import THEMES

    folder = conversation_folder(chosen(conversation, place_of(home)), home)
    if kind == "png":
        refuse_terminal(output, "a PNG")
    if kind is None and to_terminal(output) and not os.environ.get("NO_COLOR"):
        style = True
    drawn = _FORMATS[kind or "text"](_seen(folder, at), THEMES[theme], cursor=cursor, style=style)
    write_output(output, [drawn])


def _seen(folder: "ConversationFolder", at: int | None) -> "ScreenSnapshot":
    from vantage.conversation.store.derived.past_screen import output_length, past_screen

    end = output_length(folder)
    if at is not None and at > end:
        raise WrongUsage(f"--at {at} is past the end: the output of this conversation has {end} bytes")
    return past_screen(folder, end if at is None else at, styled=True)
