"""What we are compared with, driven kindly. As in `ours`, a function prepares and returns what is timed."""

import asyncio
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.data.corpus import first_chunks

Run = Callable[[], object]

WIDTH = 100
NARROW = 60
REDRAW = 20
"""Chunks after which a live display is given the time to draw itself."""


def _console(width: int):
    from rich.console import Console

    return Console(file=io.StringIO(), width=width, force_terminal=True, color_system="256", legacy_windows=False)


def rich_events(corpus: Path) -> Run:
    """The rows of the conversation, ready made: markdown for messages, styled text for the others."""
    from rich.markdown import Markdown
    from rich.text import Text

    rows = json.loads((corpus / "rows.json").read_text())

    def run() -> str:
        console = _console(WIDTH)
        for row in rows:
            if "markdown" in row:
                console.print(Markdown(row["markdown"], style="italic" if row["italic"] else "none"))
            else:
                console.print(Text.assemble(*[(text, style) for text, style in row["spans"]]))
        return console.file.getvalue()

    return run


def rich_markdown(corpus: Path) -> Run:
    from rich.markdown import Markdown

    text = (corpus / "small.md").read_text()

    def run() -> str:
        console = _console(WIDTH)
        console.print(Markdown(text))
        return console.file.getvalue()

    return run


def markdown_it_parse(corpus: Path) -> Run:
    """Tokens, with tables: nothing is highlighted, wrapped or drawn."""
    from markdown_it import MarkdownIt

    text = (corpus / "small.md").read_text()
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return lambda: parser.parse(text)


def rich_tables(corpus: Path) -> Run:
    """Rich's own tables, made of cells that are already apart."""
    from rich.table import Table

    tables = json.loads((corpus / "tables.json").read_text())

    def run() -> str:
        console = _console(NARROW)
        for header, *rows in tables:
            table = Table(*header)
            for row in rows:
                table.add_row(*row)
            console.print(table)
        return console.file.getvalue()

    return run


def rich_calls(corpus: Path) -> Run:
    """The same rows, built of Rich's tables and panels as one would by hand."""
    from rich.console import Group
    from rich.markdown import Markdown
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    calls = json.loads((corpus / "calls.json").read_text())

    def head(icon: str, color: str, title: str, trailing: str):
        line = Table.grid(expand=True)
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_column(justify="right")
        line.add_row(Text.assemble((icon, color), f" {title}"), Text(trailing, "bright_black"))
        return line

    def body(call: dict):
        output = call["output"]
        if call["tool"] == "sky":
            pairs = Table.grid(padding=(0, 1))
            for name in ("location", "temperature", "conditions", "wind"):
                pairs.add_row(Text(f"{name.title()}:", "bright_black"), output[name])
            badges = Text(" ").join(Text(f"‹{tag}›", "blue") for tag in call["args"]["tags"])
            return head("☁", "cyan", "Seattle", output["temperature"]), Group(
                pairs, Markdown(output["forecast"]), badges
            )
        items = Table.grid()
        for item in output["results"][:10]:
            items.add_row(f"- {item['title']}")
            items.add_row(Text(f"  {item['url']}", "bright_black"))
        title = f'"{call["args"]["query"][:60]}"'
        return head("⌕", "green", title, f"{len(output['results'])} results"), items

    def run() -> str:
        console = _console(WIDTH)
        for call in calls:
            first, rest = body(call)
            console.print(first)
            console.print(Panel(rest))
        return console.file.getvalue()

    return run


def streamdown(corpus: Path) -> Run:
    """The text as a file in memory: the quickest input it has, without the system calls per byte of its standard input.

    What reaches outside is off: no network, no images, no copy of the code to a file.
    """
    os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="bench-", dir=corpus)
    from streamdown import Streamdown

    text = (corpus / "small.md").read_text()
    quiet = "state.Network=false:state.Images=false:state.Savebrace=false:state.Clipboard=false:state.Logging=false"

    def run() -> str:
        screen = io.StringIO()
        with contextlib.redirect_stdout(screen):
            renderer = Streamdown()
            renderer.setup(config_string=quiet, width=WIDTH)
            renderer.render(text)
        return screen.getvalue()

    return run


def textual_stream(corpus: Path) -> Run:
    """Textual's `Markdown` in an app without a terminal, fed through the stream that it has for this."""
    from textual.app import App, ComposeResult
    from textual.containers import VerticalScroll
    from textual.widgets import Markdown

    pieces = first_chunks(corpus)

    class Viewer(App):
        def compose(self) -> ComposeResult:
            with VerticalScroll():
                yield Markdown()

    async def show() -> None:
        app = Viewer()
        async with app.run_test(size=(WIDTH, 50)) as pilot:
            app.query_one(VerticalScroll).anchor()
            stream = Markdown.get_stream(app.query_one(Markdown))
            for number, piece in enumerate(pieces, 1):
                await stream.write(piece)
                if not number % REDRAW:
                    await pilot.pause()
            await stream.stop()
            await pilot.pause()

    return lambda: asyncio.run(show())
