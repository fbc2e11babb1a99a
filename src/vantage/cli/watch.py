"""`vantage watch`: a conversation's timeline, live, on this terminal."""

import os
import select
import signal
import sys
from typing import TYPE_CHECKING, Any, Protocol

import click

from vantage.cli.client import Client, Refused
from vantage.cli.homes import CONVERSATION, chosen, conversation_argument, home_option, known_conversations, place_of
from vantage.cli.link import Link
from vantage.cli.signals import HasFileno, woken_by
from vantage.cli.verb import INTERRUPTED, Verb, note

if TYPE_CHECKING:
    from vantage.presentation import PresentationContext

_TERMINATED = 128 + signal.SIGTERM
SNAPSHOT_ROWS = 200
"""As many as a snapshot has: earlier ones come by HTTP."""
_WIDEST = 1000
_GONE = "the server has gone: waiting for it"


@click.command(cls=Verb)
@conversation_argument
@click.option(
    "--last", type=click.IntRange(0, 200), metavar="N", help="Rows of the past to begin with.  [default: 200]"
)
@home_option
def watch(conversation: str | None, last: int | None, home: str | None) -> None:
    """Show the timeline of CONVERSATION, live; without one, of the one that was used last.

    Finished rows are printed and scroll away, those that run are drawn below. In a pipe each row is printed once, when
    it is complete. The agent learns how wide this terminal is and what it can show. Ctrl-C leaves.
    """
    place = place_of(home)
    if conversation is None and not os.environ.get(CONVERSATION):
        known = known_conversations(place)
        if len(known) > 1:
            conversation = known[0]
            note(f"watching {conversation}, which was used last")
    sys.exit(Watch(place, chosen(conversation, place), last).run())


class Page(Protocol):
    """Where rows go."""

    def finished(self, text: str) -> None:
        """A row that will not change."""

    def running(self, texts: list[str]) -> None:
        """The rows that still do."""

    def said(self, message: str) -> None:
        """How it stands with the server; empty when all is well."""

    def close(self) -> None: ...


class _Pipe:
    """Each row once, a blank line between them."""

    def __init__(self) -> None:
        self._began = False

    def finished(self, text: str) -> None:
        data = ("\n" if self._began else "") + text + "\n"
        self._began = True
        sys.stdout.buffer.write(data.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()

    def running(self, texts: list[str]) -> None:
        pass

    def said(self, message: str) -> None:
        if message:
            note(message)

    def close(self) -> None:
        pass


class _Window:
    """Finished rows scroll away, running ones are drawn over and over below them."""

    def __init__(self) -> None:
        from vantage.cli.live import LiveRegion

        self._region = LiveRegion(sys.stdout)
        self._began = False
        self._running: list[str] = []
        self._said = ""

    def finished(self, text: str) -> None:
        self._region.print(f"\n{text}" if self._began else text)
        self._began = True

    def running(self, texts: list[str]) -> None:
        self._running = texts
        self._draw()

    def said(self, message: str) -> None:
        self._said = message
        self._draw()

    def _draw(self) -> None:
        said = [f"• {self._said}"] if self._said else []
        self._region.draw("\n\n".join([*self._running, *said]), gap=self._began)

    def close(self) -> None:
        self._region.close()


class Watch:
    """What is printed stays: a row is printed once, whatever is sent again after a resize or a new connection."""

    def __init__(self, home: str, conversation: str, last: int | None, *, to_the_end: bool = False) -> None:
        self._home = home
        self._conversation = conversation
        self._to_the_end = to_the_end
        """Leave when the turn is complete."""
        self._over = False
        self._last = last
        self._on_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._page: Page = _Window() if self._on_terminal else _Pipe()
        self._link = Link(home, f"watch-{os.getpid()}", hello=self._display, subscribe=self._subscription)
        self._epoch: str | None = None
        self._seq: int | None = None
        self._open: dict[str, str] = {}
        """Rows that run, as they are drawn now."""
        self._printed: dict[str, tuple[int, str]] = {}
        """Rows that were printed: as of which event, and how."""

    def _display(self) -> dict[str, Any]:
        return {"presentation": self._context().to_dict()}

    def _context(self) -> "PresentationContext":
        """What this terminal can show; a pipe wraps nothing."""
        import msgspec

        from vantage import live_terminal
        from vantage.presentation import terminal_context

        context = terminal_context(live_terminal.read((1,)))
        if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
            context = msgspec.structs.replace(context, wrap_mode="soft")
        return context

    def _subscription(self) -> dict[str, Any]:
        about = {"conversation_id": self._conversation, "channels": ["rows"], "surface": "terminal"}
        return about if self._epoch is None else {**about, "epoch": self._epoch, "after": self._seq}

    def run(self) -> int:
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGWINCH)
        self._link.open()
        try:
            with woken_by(*signals) as wakeups:
                while True:
                    sources: list[HasFileno] = [*self._link.sources(), wakeups]
                    ready = select.select(sources, [], [], self._link.patience())[0]
                    if wakeups in ready:
                        came = wakeups.take()
                        if signal.SIGINT in came or signal.SIGTERM in came:
                            return INTERRUPTED if signal.SIGINT in came else _TERMINATED
                        if signal.SIGWINCH in came:
                            self._link.send("client_config", **self._display())
                    if any(source is not wakeups for source in ready):
                        self._listen()
                    if self._over:
                        return 0
                    if self._link.due() and self._link.retry():
                        self._page.said("")
        finally:
            self._leave()

    def _listen(self) -> None:
        for message in self._link.take():
            handler = _HANDLERS.get(message["type"])
            if handler is not None:
                handler(self, message)
        if self._link.connected:
            self._page.running(list(self._open.values()))
        else:
            self._page.said(_GONE)

    def _leave(self) -> None:
        """What was still running stays on the screen as it was."""
        if self._on_terminal:
            for text in self._open.values():
                self._page.finished(text)
        self._page.close()
        self._link.close()

    def _state(self, state: dict[str, Any]) -> None:
        """It comes behind the rows of its moment: those of a turn that is done are all here."""
        self._over = self._to_the_end and state["turn"] == "done" and bool(self._printed)

    def _snapshot(self, message: dict[str, Any]) -> None:
        if self._epoch not in (None, message["epoch"]):
            note(f"'{self._conversation}' was made anew")
            self._open.clear()
            self._printed.clear()
        rows = message["rows"]
        if self._epoch is None and self._last is not None:
            past = [each for each in rows if each["row"]["status"] != "running"]
            for each in past[: len(past) - self._last]:
                self._printed[each["row"]["id"]] = (each["seq"], each["text"])
        if self._epoch == message["epoch"] and len(rows) >= SNAPSHOT_ROWS:
            self._fill(self._seq or 0, {each["row"]["id"] for each in rows})
        self._epoch, self._seq = message["epoch"], message["seq"]
        self._open.clear()
        for each in rows:
            self._row(each)
        self._state(message["state"])

    def _fill(self, after: int, known: set[str]) -> None:
        """Rows that changed since we last heard, and are too long ago for the snapshot."""
        context = self._context()
        width = context.content_width if context.wrap_mode == "hard" else _WIDEST
        asked = f"surface={'terminal' if context.color_depth else 'plain'}&width={width}&limit=500"
        with Client(self._home, start=False) as client:
            following: int | None = after
            while following is not None:
                answer = client.conversation("GET", self._conversation, f"/rows?{asked}&after={following}")
                for each in answer["rows"]:
                    if each["row"]["id"] not in known:
                        self._row(each)
                following = answer["next"]

    def _resumed(self, message: dict[str, Any]) -> None:
        self._epoch = message["epoch"]

    def _row(self, message: dict[str, Any]) -> None:
        row, seq, text = message["row"], message["seq"], message["text"]
        self._seq = max(self._seq or 0, seq)
        if row["status"] == "running":
            self._open[row["id"]] = text
            return
        self._open.pop(row["id"], None)
        known = self._printed.get(row["id"])
        self._printed[row["id"]] = (seq, text)
        # Drawn again for another width it is still the same row; and the whole of a message may say what its parts did.
        if known is None or (known[0] != seq and known[1] != text):
            self._page.finished(text)

    def _error(self, message: dict[str, Any]) -> None:
        raise Refused({"error": message})


_HANDLERS = {
    "snapshot": Watch._snapshot,  # noqa: SLF001 -- the table is part of the class
    "resumed": Watch._resumed,  # noqa: SLF001
    "row": Watch._row,  # noqa: SLF001
    "pty_state": Watch._state,  # noqa: SLF001
    "error": Watch._error,  # noqa: SLF001
}
