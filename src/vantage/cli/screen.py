"""`vantage screen`: what is on a conversation's screen, or was, as text or as a picture."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from vantage.cli.homes import chosen, conversation_argument, conversation_folder, home_option, place_of
from vantage.cli.output import output_option, refuse_terminal, to_terminal, write_output
from vantage.cli.shared import OneLineCommand, WrongUsage

if TYPE_CHECKING:
    from vantage.conversation.files import ConversationFolder
    from vantage.export.pieces import Theme
    from vantage.terminal.frames import ScreenSnapshot


def _text(snapshot: "ScreenSnapshot", _theme: "Theme", *, cursor: bool, style: bool) -> bytes:
    if not style:
        return (snapshot.text(cursor=cursor) + "\n").encode()
    from vantage.export.ansi import styled_lines

    return "".join(f"{line}\n" for line in styled_lines(snapshot, cursor=cursor)).encode()


def _svg(snapshot: "ScreenSnapshot", theme: "Theme", *, cursor: bool, style: bool) -> bytes:  # noqa: ARG001
    from vantage.export.svg import screen_svg

    return screen_svg(snapshot, theme=theme, cursor=cursor).encode()


def _png(snapshot: "ScreenSnapshot", theme: "Theme", *, cursor: bool, style: bool) -> bytes:  # noqa: ARG001
    from vantage.export.png import svg_to_png
    from vantage.export.svg import screen_svg

    return svg_to_png(screen_svg(snapshot, theme=theme, cursor=cursor))


def _html(snapshot: "ScreenSnapshot", theme: "Theme", *, cursor: bool, style: bool) -> bytes:  # noqa: ARG001
    from vantage.export.screen_html import screen_html

    return screen_html(snapshot, theme=theme, cursor=cursor, page=True).encode()


def _json(snapshot: "ScreenSnapshot", _theme: "Theme", *, cursor: bool, style: bool) -> bytes:
    import msgspec

    rows = list(snapshot.rows)
    while rows and not rows[-1]:
        rows.pop()
    read = {"ok": True, **snapshot.to_dict(), "rows": rows, "text": snapshot.text(cursor=cursor)}
    read["runs"] = read["runs"][: len(rows)]
    if not style:
        del read["runs"]
    return msgspec.json.encode(read) + b"\n"


_FORMATS: dict[str, Callable[..., bytes]] = {"text": _text, "svg": _svg, "png": _png, "html": _html, "json": _json}


@click.command(cls=OneLineCommand)
@conversation_argument
@click.option("--at", type=click.IntRange(min=0), metavar="OFFSET", help="When the raw output had this length.")
@click.option("--svg", "kind", flag_value="svg", help="A picture.")
@click.option("--png", "kind", flag_value="png", help="A picture in pixels, where a converter is at hand.")
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
    from vantage.errors import VantageError
    from vantage.export.pieces import THEMES

    folder = conversation_folder(chosen(conversation, place_of(home)), home)
    if kind == "png":
        refuse_terminal(output, "a PNG")
    if kind is None and to_terminal(output) and not os.environ.get("NO_COLOR"):
        style = True
    try:
        snapshot = _seen(folder, at)
        drawn = _FORMATS[kind or "text"](snapshot, THEMES[theme], cursor=cursor, style=style)
    except VantageError as error:
        raise click.ClickException(str(error)) from error
    write_output(output, [drawn])


def _seen(folder: "ConversationFolder", at: int | None) -> "ScreenSnapshot":
    from vantage.conversation.files import GrowingFile
    from vantage.conversation.replay import Replay, dropped_bytes
    from vantage.terminal.frames import ScreenSnapshot

    raw = GrowingFile(folder.raw)
    end = raw.size
    raw.close()
    if at is not None and at > end:
        raise WrongUsage(f"--at {at} is behind the end: the output of this conversation has {end} bytes")
    first = dropped_bytes(folder)
    if at is not None and at < first:
        raise click.ClickException(
            f"the output at {at} was dropped to save room: the first that is there is at {first}"
        )
    place = end if at is None else at
    with Replay(folder, start=place, first=first) as replay:
        past = replay.to(place)
        assert past.screen is not None
        block = past.state.block.block_id if past.state.block else None
        return ScreenSnapshot.of(past.screen, past.state.now, raw_offset=past.raw, block_id=block, styled=True)
