"""How `vantage format` reads events, folds them into rows and prints those."""

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Protocol

import click
import msgspec

from vantage import extensions, own_terminal
from vantage.agents import StrayLine, StreamReader
from vantage.cli.arguments.values import PROFILES
from vantage.cli.display.live import LiveRegion
from vantage.cli.display.signals import HasFileno, Wakeups, woken_by
from vantage.cli.display.streams import leave_quietly, open_input
from vantage.conversation.store.home import specs_folder
from vantage.events import Event, Request, UnknownEvent
from vantage.formatter import Formatter, FormatterConfig
from vantage.text.sanitize import sanitize
from vantage.timeline.fold import Timeline
from vantage.timeline.row import Row

if TYPE_CHECKING:
    from vantage.timeline.tools.registry import ToolRegistry

_REDRAW = 0.05
"""Seconds between two redraws of running rows."""


class _Printer(Protocol):
    """Where formatted text goes."""

    def raw(self, text: str) -> None:
        """Prints a line that was no event."""

    def event(self, event: Event) -> None: ...

    def pause(self) -> None:
        """No input has arrived for a moment: draws what is known so far."""

    def finish(self) -> None: ...


class _Text:
    """Rows as text, printed in the order in which they complete. On a terminal, open ones are drawn below."""

    def __init__(self, formatter: Formatter, width: int | None, live: LiveRegion | None, tools: "ToolRegistry") -> None:
        self._formatter = formatter
        self._fixed_width = width
        self._live = live
        self._timeline = Timeline(tools)
        self._open: dict[str, None] = {}
        self._printed: dict[str, Row] = {}
        self._began = False
        self._drawn_at = 0.0

    @property
    def _width(self) -> int:
        if self._fixed_width is not None:
            return self._fixed_width
        return shutil.get_terminal_size().columns if self._live else 0

    def raw(self, text: str) -> None:
        self._print(text)

    def event(self, event: Event) -> None:
        changed = self._timeline.add(event)
        if changed is not None:
            self._open[changed] = None
        for row_id in [row_id for row_id in self._open if not self._timeline.is_open(row_id)]:
            del self._open[row_id]
            self._commit(row_id)
        if isinstance(event, Request) and changed is not None and not self._live:
            self._commit(changed)  # a person waits for nothing else
        if self._live and time.monotonic() - self._drawn_at > _REDRAW:
            self.pause()

    def _commit(self, row_id: str) -> None:
        row = self._timeline.row(row_id)
        shown = msgspec.structs.replace(row, seq=None, ts=None)
        if self._printed.get(row_id) == shown:
            return
        if row.kind in ("message", "reasoning", "request"):
            self._printed[row_id] = shown  # more may come: the whole after its deltas, an answer
        else:
            self._timeline.forget(row_id)
        self._print(self._formatter.format_row(row, self._width))

    def _print(self, text: str) -> None:
        if self._began:
            text = f"\n{text}"
        self._began = True
        if self._live:
            self._live.print(text)
            return
        _write(text + "\n")

    def pause(self) -> None:
        if self._live:
            self._drawn_at = time.monotonic()
            width = self._width
            rows = [self._formatter.format_row(self._timeline.row(row_id), width) for row_id in self._open]
            self._live.draw("\n\n".join(rows), gap=self._began)
        else:
            _flush()

    def finish(self) -> None:
        self._timeline.finish()
        for row_id in self._open:
            self._commit(row_id)
        if self._live:
            self._live.close()
        _flush()


class _Each:
    """Prints every event as `Formatter.format_event` words it."""

    def __init__(self, formatter: Formatter, width: int) -> None:
        self._formatter = formatter
        self._width = width

    def raw(self, text: str) -> None:
        _write(text + "\n")

    def event(self, event: Event) -> None:
        if text := self._formatter.format_event(event, self._width):
            _write(text + "\n")

    def pause(self) -> None:
        _flush()

    def finish(self) -> None:
        _flush()


class _Whole:
    """A surface that is drawn once, at the end of the input."""

    def __init__(self, surface: str, width: int | None, tools: "ToolRegistry") -> None:
        self._surface = surface
        self._overrides = {"content_width": width} if width else {}
        self._timeline = Timeline(tools)

    def raw(self, text: str) -> None:
        self._timeline.add({"type": "assistant_text", "text": text})

    def event(self, event: Event) -> None:
        self._timeline.add(event)

    def pause(self) -> None:
        pass

    def finish(self) -> None:
        from vantage.presentation import profile
        from vantage.surfaces import draw

        self._timeline.finish()
        name = PROFILES.get(self._surface, self._surface)
        output = draw(self._timeline.rows, profile(name, **self._overrides), self._surface).output
        text = output if isinstance(output, str) else msgspec.json.format(msgspec.json.encode(output)).decode()
        _write(text + "\n")
        _flush()


def run(
    *,
    file: str,
    source: str,
    surface: str,
    width: int | None,
    plain: bool,
    each: bool,
    specs: str | None,
    verbose: bool,
) -> None:
    """Reads the stream to its end. Lines that cannot be read are shown and reported on stderr; they do not fail it."""
    if surface not in ("terminal", "plain") and each:
        raise click.UsageError(f"--each prints text: it goes with --surface terminal or plain, not {surface}")
    known = _known_tools(specs)
    printer = _printer(surface, width, known, plain=plain or surface == "plain", each=each)
    reader = StreamReader(source)
    try:
        with open_input(file, _say, "events") as stream, woken_by(signal.SIGWINCH) as resized:
            for chunk in _chunks(stream, resized):
                if chunk is None:
                    printer.pause()
                else:
                    _show(printer, reader.feed(chunk), verbose=verbose)
        _show(printer, reader.finish(), verbose=verbose)
        printer.finish()
    except BrokenPipeError:
        leave_quietly()
    except KeyboardInterrupt:
        _show(printer, reader.finish(), verbose=verbose)
        printer.finish()
        raise SystemExit(130) from None
    if reader.unknown and not verbose:
        many = "1 message" if reader.unknown == 1 else f"{reader.unknown} messages"
        other = f", and --from {reader.resembles} may know them" if reader.resembles else ""
        _say(f"{many} of unknown type not shown: -v shows them{other}")


def _show(printer: _Printer, items: list[Event | StrayLine], *, verbose: bool) -> None:
    for item in items:
        if isinstance(item, StrayLine):
            _say(f"line {item.number}: {item.why}")
            printer.raw(sanitize(item.text))
        elif verbose or not isinstance(item, UnknownEvent):
            printer.event(item)


def _known_tools(specs: str | None) -> "ToolRegistry":
    """The render specs that are used, in this order: those given for this run, the user's, those of installed
    extensions.
    """
    installed = extensions.installed()
    folder = specs_folder(os.environ)
    if specs is None and not os.path.isdir(folder):  # noqa: PTH112 -- a Path costs more than the call
        return installed
    from pathlib import Path

    from vantage.conversation.store.specs.files import load_file, load_folder
    from vantage.conversation.store.specs.home import SpecFolder
    from vantage.timeline.tools.registry import ToolRegistry

    own = SpecFolder(Path(folder), installed.specs, _say)
    own.refresh()
    known = ToolRegistry(parent=installed, specs=own)
    if specs is not None:
        loaded = load_folder(specs) if os.path.isdir(specs) else load_file(specs)  # noqa: PTH112
        for problem in loaded.problems:
            _say(problem)
        for tool, spec in loaded.specs.items():
            known.specs.register(tool, spec)
    return known


def _printer(surface: str, width: int | None, tools: "ToolRegistry", *, plain: bool, each: bool) -> _Printer:
    if surface not in ("terminal", "plain"):
        return _Whole(surface, width, tools)
    terminal = own_terminal.read((1,))
    on_terminal = sys.stdout.isatty()
    colored = terminal.color_depth > 0 and not plain
    formatter = Formatter(
        FormatterConfig(
            plain_text=not colored,
            background_color="#ffffff" if terminal.background == "light" else "#000000",
            hyperlinks=colored and terminal.hyperlinks,
        ),
        tools,
    )
    if each:
        return _Each(formatter, width if width is not None else terminal.columns if on_terminal else 0)
    live = LiveRegion(sys.stdout) if on_terminal and os.environ.get("TERM") != "dumb" else None
    if width is None and not on_terminal and os.environ.get("COLUMNS"):
        width = terminal.columns
    return _Text(formatter, width, live, tools)


def _chunks(stream: IO[bytes], resized: Wakeups) -> Iterator[bytes | None]:
    """Yields bytes as they arrive, and `None` before each wait and when the window changes."""
    either: list[HasFileno] = [stream, resized]
    while True:
        if not select.select([stream], [], [], 0)[0]:
            yield None
            if resized in select.select(either, [], [])[0]:
                resized.take()
                continue
        chunk = stream.read(1 << 16)
        if not chunk:
            break
        yield chunk


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def _flush() -> None:
    sys.stdout.buffer.flush()


def _say(message: str) -> None:
    click.echo(f"vantage format: {sanitize(message)}", err=True)
