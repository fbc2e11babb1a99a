"""A terminal's recording as one web page without other files: the screen at every moment, and the commands.

The page stores each row once (a line that scrolls is the same row in another place), frames as numbers of rows, and a
whole frame every hundred frames. Its size is bounded: when there are too many frames, every two become one, and the
page says so.
"""

import json
from typing import Any

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.export.pages.frames import Film, Frame, film_of
from vantage.export.pages.parts import escape, hash_of, holes, in_a_script, part
from vantage.export.recording import Progress
from vantage.export.screen.pieces import pieces, style_of
from vantage.export.screen.themes import DAY, NIGHT, variables
from vantage.terminal.engines.values import Cursor, Run
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.text.sanitize import one_line

FORMAT = 1
KEYFRAME_EVERY = 100
MAX_COMMAND = 2000
_MODULES = ("terminal/command_text.js", "terminal/time_scale.js", "terminal/cells.js", "parts/colors.js")
"""Modules of the live page with which the player draws cells and words times."""
_SHAPES = ("", "block", "underline", "bar")
_ATTRS = ("bold", "dim", "italic", "underline", "double", "curly", "dotted", "dashed", "reverse", "hidden", "strike",
          "overline")  # fmt: skip


def player(folder: ConversationFolder, progress: Progress = lambda _done, _all: None) -> str:
    """The page."""
    settings = folder.read_settings()
    film = film_of(folder, progress)
    title = one_line(settings.name) or settings.id
    data = json.dumps({"title": title, **film_data(film)}, ensure_ascii=False, separators=(",", ":"))
    style, script = player_style(), player_script()
    values = {
        "title": escape(title),
        "policy": f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)}; base-uri 'none'; "
        "form-action 'none'",
        "style": style,
        "script": script,
        "data": data.replace("<", "\\u003c"),
        "": "",
    }
    return "".join(text + values[hole] for text, hole in holes(part("player.html")))


def player_style() -> str:
    return f"{variables(NIGHT, DAY)}\n{part('player.css')}"


def player_script() -> str:
    """The player, with the modules of the live page that it calls."""
    return "\n".join([*(in_a_script(part(name, "web")) for name in _MODULES), part("player.js")])


def film_data(film: Film) -> dict[str, Any]:
    """A film as values of JSON. Times are ms since its start; those of frames, since the frame before.

    - `rows`: a text, or pieces: a text, `[text, style]`, or `[text, style, cells]` where characters are not cells
    - `frames`: `[ms, changes, cursor, more]`. Where `more` has `cols`, the frame is whole and `changes` are the numbers
      of all its rows; else they are pairs of a place and a number. Style 0 and row 0 are blank.
    """
    book = _Book(film)
    frames = book.frames()
    return {
        "format": FORMAT,
        "start": film.start,
        "duration": film.duration,
        "notes": film.notes,
        "styles": list(book.styles),
        "rows": book.rows,
        "frames": frames,
        "blocks": [
            {
                "id": timed.block.block_id,
                "cmd": timed.block.cmd[:MAX_COMMAND],
                "begin": timed.begin,
                "end": timed.end,
                "exit": timed.block.exit_code,
                "because": timed.block.done_because,
                "ms": timed.block.duration_ms,
                "cwd": timed.block.cwd,
                "origin": timed.block.origin,
            }
            for timed in film.blocks
        ],
        "events": [{"at": event.at, "text": event.text} for event in film.events],
    }


class _Book:
    """Rows and styles with their numbers, given when they are first used."""

    def __init__(self, film: Film) -> None:
        self._film = film
        self.rows: list[Any] = [""]
        self._numbers: dict[int, int] = {}
        self.styles: list[list[Any]] = [[None, None, "", None]]
        self._styles: dict[tuple[Any, ...], int] = {(None, None, "", None): 0}

    def frames(self) -> list[list[Any]]:
        made: list[list[Any]] = []
        shown: list[int] = []
        last: Frame | None = None
        for number, frame in enumerate(self._film.frames):
            changes = {row: self._row(index) for row, index in frame.rows.items()}
            resized = last is None or (last.cols, last.rows_count) != (frame.cols, frame.rows_count)
            if resized:
                shown = [0] * frame.rows_count
            for row, index in changes.items():
                shown[row] = index
            entry: list[Any] = [frame.at - (last.at if last else 0)]
            whole = resized or number % KEYFRAME_EVERY == 0
            entry.append(list(shown) if whole else [part for pair in changes.items() for part in pair])
            entry.append(_cursor(frame.cursor))
            more: dict[str, Any] = {"cols": frame.cols, "rows": frame.rows_count} if whole else {}
            if whole or last is None or last.title != frame.title:
                more["title"] = frame.title
            if whole or last is None or last.alt_screen != frame.alt_screen:
                more["alt"] = frame.alt_screen
            if more:
                entry.append(more)
            made.append(entry)
            last = frame
        return made

    def _row(self, index: int) -> int:
        if index not in self._numbers:
            row = self._film.rows[index]
            self._numbers[index] = len(self.rows) if row.text or row.runs else 0
            if row.text or row.runs:
                self.rows.append(self._pieces(row.text, row.runs))
        return self._numbers[index]

    def _pieces(self, text: str, runs: tuple[Run, ...]) -> Any:
        if text.isascii() and not runs:
            return text
        line = ScreenSnapshot(
            rows=(text,), runs=(runs,), cursor=Cursor(), title="", alt_screen=False, cols=0, rows_count=1, ts=0
        )
        made: list[Any] = []
        at = 0
        for piece in pieces(line, 0):
            if piece.start > at:
                made.append(" " * (piece.start - at))
            at = piece.start + piece.cells
            style = self._style(piece.run)
            if len(piece.text) != piece.cells:
                made.append([piece.text, style, piece.cells])
            else:
                made.append([piece.text, style] if style else piece.text)
        return made

    def _style(self, run: Run) -> int:
        link = style_of(run, NIGHT).link
        key = (run.fg, run.bg, " ".join(name for name in _ATTRS if name in run.attrs), link)
        if key not in self._styles:
            self._styles[key] = len(self.styles)
            self.styles.append(list(key))
        return self._styles[key]


def _cursor(cursor: Cursor) -> list[int]:
    return [cursor.row, cursor.col, _SHAPES.index(cursor.shape) if cursor.visible else 0]
