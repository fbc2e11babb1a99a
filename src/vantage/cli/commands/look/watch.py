"""`vantage watch`: a conversation's timeline, live, on this terminal."""

import os
import select
import signal
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

import click

from vantage.cli.arguments.command import Verb
from vantage.cli.arguments.conversation import (
    CONVERSATION,
    chosen,
    conversation_argument,
    home_option,
    known_conversations,
    place_of,
)
from vantage.cli.commands.look.request_keys import RequestKeys
from vantage.cli.display.printing import note
from vantage.cli.display.signals import HasFileno, woken_by
from vantage.cli.errors import INTERRUPTED
from vantage.cli.home_client import HomeClient
from vantage.client import requests
from vantage.client.endpoint import HomeEndpoint
from vantage.client.transport.link import Link
from vantage.errors import NoServer, from_wire

if TYPE_CHECKING:
    from vantage.presentation import PresentationContext

_TERMINATED = 128 + signal.SIGTERM
SNAPSHOT_ROWS = 200
"""Rows in a snapshot, at most. Earlier ones are read by HTTP."""
_PAGE = 500
_UNDER_WAY = ("running", "waiting")
"""States of rows that will change."""
_GONE = "the server has gone: waiting for it"


@click.command(cls=Verb)
@conversation_argument
@click.option(
    "--last", type=click.IntRange(0, 200), metavar="N", help="Rows of the past to begin with.  [default: 200]"
)
@home_option
def watch(conversation: str | None, last: int | None, home: str | None) -> None:
    """Show the timeline of CONVERSATION, live; by default of the one that was used last.

    Finished rows are printed and scroll away; running ones are drawn below them. In a pipe each row is printed once,
    when it is complete; a request also when it is made. The agent is told how wide this terminal is and what it can
    show. Where a request is open, a digit answers it and Esc leaves it open. Ctrl-C leaves.
    """
    place = place_of(home)
    if conversation is None and not os.environ.get(CONVERSATION):
        known = known_conversations(place)
        if len(known) > 1:
            conversation = known[0]
            note(f"watching {conversation}, which was used last")
    sys.exit(Watch(place, chosen(conversation, place), last).run())


class Desk(Protocol):
    """What a person uses below the rows, instead of the keys for requests: an input line, say."""

    over: bool
    """The person has left."""

    def sources(self) -> list[HasFileno]: ...

    def timeout(self) -> float | None:
        """Seconds until it is to be drawn again; None: it is not."""

    def press(self) -> None:
        """One of the sources is ready."""

    def heard(self, message: dict[str, Any]) -> bool:
        """Whether a message of the server was for the desk."""

    def saw(self, row: dict[str, Any]) -> None:
        """A row is so now."""

    def clear(self) -> None:
        """All rows are sent anew."""

    def turn(self, works: bool) -> None:
        """The agent works, or does not."""

    def prompt(self) -> str:
        """What is drawn."""

    def close(self) -> None: ...


class Page(Protocol):
    """Where rows go."""

    def finished(self, row_id: str, text: str) -> None:
        """Prints a row that will not change."""

    def refit(self, texts: dict[str, str]) -> None:
        """Draws finished rows again: the window has another width."""

    def running(self, texts: list[str]) -> None:
        """Draws the rows that may still change."""

    def said(self, message: str) -> None:
        """Shows the state of the connection; empty when connected."""

    def close(self) -> None: ...


class _Pipe:
    """Prints each row once, with a blank line between rows."""

    def __init__(self) -> None:
        self._began = False

    def finished(self, row_id: str, text: str) -> None:  # noqa: ARG002
        data = ("\n" if self._began else "") + text + "\n"
        self._began = True
        sys.stdout.buffer.write(data.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()

    def refit(self, texts: dict[str, str]) -> None:
        pass

    def running(self, texts: list[str]) -> None:
        pass

    def said(self, message: str) -> None:
        if message:
            note(message)

    def close(self) -> None:
        pass


class _Window:
    """Finished rows scroll away, running ones are redrawn below them."""

    def __init__(self) -> None:
        from vantage.cli.display.live import LiveRegion

        self._region = LiveRegion(sys.stdout)
        self._printed: deque[tuple[str, str]] = deque(maxlen=SNAPSHOT_ROWS)
        """The last rows that were printed: id, and text as it is in the window."""
        self._running: list[str] = []
        self._said = ""

    @property
    def _began(self) -> bool:
        return bool(self._printed)

    def finished(self, row_id: str, text: str) -> None:
        if self._began:
            text = f"\n{text}"
        self._region.print(text)
        self._printed.append((row_id, text))

    def refit(self, texts: dict[str, str]) -> None:
        before = list(self._printed)
        self._printed = deque(((row_id, _refitted(text, texts.get(row_id))) for row_id, text in before), SNAPSHOT_ROWS)
        self._region.reprint([text for _, text in before], [text for _, text in self._printed])
        self._draw()

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


def _refitted(text: str, drawn: str | None) -> str:
    """The new text of a printed row; the blank line before it stays."""
    if drawn is None:
        return text
    return f"\n{drawn}" if text.startswith("\n") else drawn


class Watch:
    """Prints each row once, even if it is sent again. A resize redraws the rows that are in the window."""

    def __init__(self, home: str, conversation: str, last: int | None, *, to_the_end: bool = False) -> None:
        self._home = home
        self._conversation = conversation
        self._to_the_end = to_the_end
        """Whether to leave when the turn is complete."""
        self._over = False
        self._last = last
        self._on_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._page: Page = _Window() if self._on_terminal else _Pipe()
        self.link = Link(
            HomeEndpoint(home, may_start=False),
            f"watch-{os.getpid()}",
            hello=self._display,
            subscribe=self._subscription,
        )
        self._epoch: str | None = None
        self._seq: int | None = None
        self._open: dict[str, str] = {}
        """Running rows: id and text."""
        self._printed: dict[str, tuple[int, str]] = {}
        """Printed rows: id, number of the event that changed it last, text."""
        self._drawn_for: PresentationContext | None = None
        self._keys: RequestKeys | Desk | None = RequestKeys(self._answer) if self._on_terminal else None
        self._desk: Desk | None = None
        self._resized = False
        """Whether the display has changed after the printed rows were drawn and before the connection was made."""

    def _display(self) -> dict[str, Any]:
        context = self._context()
        self._resized = self._drawn_for not in (None, context)
        self._drawn_for = context
        return {"presentation": context.to_dict()}

    def _context(self) -> "PresentationContext":
        """The display of this terminal. In a pipe, nothing is wrapped."""
        import dataclasses

        from vantage import own_terminal
        from vantage.presentation import terminal_context

        context = terminal_context(own_terminal.read((1,)))
        if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
            context = dataclasses.replace(context, wrap_mode="soft")
        return context

    def _subscription(self) -> dict[str, Any]:
        about = {"conversation_id": self._conversation, "channels": ["rows"], "surface": "terminal"}
        if self._epoch is None or self._resized:
            return about
        return {**about, "epoch": self._epoch, "after": self._seq}

    def run(self, desk: Desk | None = None) -> int:
        """Shows rows until the person leaves, and returns the exit code."""
        if desk is not None:
            self._keys = self._desk = desk
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGWINCH)
        self.link.open()
        try:
            with woken_by(*signals) as wakeups:
                while True:
                    keyboard = self._keys.sources() if self._keys else []
                    sources: list[HasFileno] = [*self.link.sources(), *keyboard, wakeups]
                    ready = select.select(sources, [], [], self._timeout())[0]
                    if wakeups in ready:
                        came = wakeups.take()
                        if signal.SIGINT in came or signal.SIGTERM in came:
                            return INTERRUPTED if signal.SIGINT in came else _TERMINATED
                        if signal.SIGWINCH in came:
                            self.link.send("client_config", **self._display())
                    if self._keys:
                        if any(source in ready for source in keyboard):
                            self._keys.press()
                        self._draw()
                    if any(source in self.link.sources() for source in ready):
                        self._listen()
                    if self._over or (self._desk is not None and self._desk.over):
                        return 0
                    if self.link.due() and self.link.retry():
                        self._page.said("")
        finally:
            self._leave()

    def _timeout(self) -> float | None:
        timeouts = [self.link.timeout(), self._keys.timeout() if self._keys else None]
        return min([each for each in timeouts if each is not None], default=None)

    def _listen(self) -> None:
        for message in self.link.take():
            if self._desk is not None and self._desk.heard(message):
                continue
            match message["type"]:
                case "snapshot":
                    self._snapshot(message)
                case "resumed":
                    self._epoch = message["epoch"]
                case "row":
                    self._row(message)
                case "pty_state":
                    self._state(message)
                case "error":
                    raise from_wire(message)
        if self.link.connected:
            self._draw()
        else:
            self._page.said(_GONE)

    def _draw(self) -> None:
        prompt = self._keys.prompt() if self._keys else ""
        self._page.running([*self._open.values(), *([prompt] if prompt else [])])

    def _answer(self, request: dict[str, Any], option: str) -> None:
        fields = {"option": option, "hash": request.get("hash", ""), "by": "cli"}
        with HomeClient(self._home, start=False) as client:
            client.answer(requests.answer(self._conversation, request["request_id"], fields))

    def _leave(self) -> None:
        """Leaves running rows on the screen as they are."""
        if self._keys:
            self._keys.close()
        if self._on_terminal:
            for row_id, text in self._open.items():
                self._page.finished(row_id, text)
        self._page.close()
        self.link.close()

    def _state(self, state: dict[str, Any]) -> None:
        """Notes the end of the turn. A state comes after the rows of its moment, so all rows of the turn are here."""
        if self._desk is not None:
            self._desk.turn(state["turn"] != "done")
        self._over = self._to_the_end and state["turn"] == "done" and bool(self._printed)

    def _snapshot(self, message: dict[str, Any]) -> None:
        if self._epoch not in (None, message["epoch"]):
            note(f"'{self._conversation}' was made anew")
            self._open.clear()
            self._printed.clear()
        rows = message["rows"]
        if self._epoch is None and self._last is not None:
            past = [each for each in rows if each["row"]["status"] not in _UNDER_WAY]
            for each in past[: len(past) - self._last]:
                self._printed[each["row"]["id"]] = (each["seq"], each["text"])
        if self._epoch == message["epoch"]:
            try:
                self._fill(self._seq or 0, {each["row"]["id"] for each in rows})
            except NoServer:
                return  # the connection is lost too, and the next one asks from the old position
        self._epoch, self._seq = message["epoch"], message["seq"]
        self._open.clear()
        if self._keys:
            self._keys.clear()
        self._refit(rows)
        for each in rows:
            self._row(each)
        self._state(message["state"])

    def _refit(self, rows: list[dict[str, Any]]) -> None:
        """Redraws printed rows whose events are the same and whose text differs: the display has changed."""
        texts: dict[str, str] = {}
        for each in rows:
            row_id, drawn = each["row"]["id"], (each["seq"], each["text"])
            known = self._printed.get(row_id)
            if known is not None and known[0] == drawn[0] and known[1] != drawn[1]:
                self._printed[row_id], texts[row_id] = drawn, drawn[1]
        if texts:
            self._page.refit(texts)

    def _fill(self, after: int, known: set[str]) -> None:
        """Reads the rows that changed after the last message and are too old to be in the snapshot."""
        with HomeClient(self._home, start=False) as client:
            following: int | None = after
            while following is not None:
                asked = requests.rows(
                    self._conversation,
                    surface="terminal",
                    client_id=self.link.client_id,
                    after=following,
                    limit=_PAGE,
                )
                answer = client.answer(asked)
                for each in answer["rows"]:
                    if each["row"]["id"] not in known:
                        self._row(each)
                following = answer["next"]

    def _row(self, message: dict[str, Any]) -> None:
        row, seq, text = message["row"], message["seq"], message["text"]
        self._seq = max(self._seq or 0, seq)
        if self._keys:
            self._keys.saw(row)
        if row["status"] == "running" or (row["status"] == "waiting" and self._on_terminal):
            self._open[row["id"]] = text
            return
        self._open.pop(row["id"], None)
        known = self._printed.get(row["id"])
        self._printed[row["id"]] = (seq, text)
        # The row of a whole message may have the same text as the row of its parts.
        if known is None or (known[0] != seq and known[1] != text):
            self._page.finished(row["id"], text)
