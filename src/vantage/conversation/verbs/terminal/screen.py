"""The verbs that look at the screen, now and in the past."""

import asyncio
import contextlib

import msgspec

from vantage.conversation.checks import within
from vantage.conversation.store.clock import now_ms
from vantage.conversation.store.derived.past_screen import past_screen
from vantage.conversation.store.derived.replay import Replay
from vantage.conversation.verbs.terminal.params import ReadScreen, ReadScreenDeltas, ReadScrollback
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import Deltas, ScreenRead, ScreenStatus, ScrollbackRead
from vantage.conversation.verbs.verb import NoParams, verb
from vantage.errors import InputError, Unavailable
from vantage.terminal.output.reading import shortened, without_filler
from vantage.terminal.screen.frames import ScreenDelta, ScreenSnapshot
from vantage.terminal.screen.screen import SCROLLBACK_LINES, Screen, Scrollback
from vantage.terminal.screen.selection import selected

SCROLLBACK_RAW = 8 << 20
"""Bytes of output that are replayed to find lines that have left the screen."""


class SeenScreen(msgspec.Struct, frozen=True):
    """A screen as part of an answer."""

    text: str | None = None
    selected: list[str] | None = None


NO_SCREEN = SeenScreen()


def seen_screen(seen: ScreenSnapshot, limit: int) -> SeenScreen:
    """`seen` has its styles; equal rows that show nothing are counted, and the text is cut to `limit` characters."""
    return SeenScreen(shortened(without_filler(seen.text()), limit), selected(seen) or None)


def selected_now(screen: Screen) -> list[str] | None:
    """What is highlighted on the screen."""
    return selected(ScreenSnapshot.of(screen, 0, styled=True)) or None


@verb("What is on the screen, or was.", reads=True)
async def read_screen(terminal: PtyTerminal, params: ReadScreen) -> ScreenRead:
    """The screen now, or when the raw output had a length; with `since`, only what changed after a delta.

    `rows` has an entry for every row, blank ones too; `text` ends at the last row that is not blank, and is cut to
    `max_output`.
    """
    screens = terminal.live.screens
    await terminal.live.refresh()
    if params.since is not None and params.at_offset is None:
        if params.since > screens.count:
            raise InputError(f"there were {screens.count} deltas, so none is number {params.since}")
        delta = screens.since(params.since)
        if delta is not None or params.since == screens.count:
            return _changed(terminal, delta)
    seen = await snapshot(terminal, params.at_offset)
    marked = selected(seen)
    text = seen.text(trimmed=True, cursor=params.cursor, region=params.region)
    if params.region is not None:
        seen = seen.crop(params.region)
    return ScreenRead(
        rows=list(seen.rows),
        text=shortened(text, params.max_output),
        cursor=seen.cursor,
        title=seen.title,
        alt_screen=seen.alt_screen,
        cols=seen.cols,
        rows_count=seen.rows_count,
        ts=seen.ts,
        raw_offset=seen.raw_offset or 0,
        runs=list(seen.runs) if params.style and seen.runs is not None else None,
        selected=marked or None,
        delta_cursor=screens.count if params.at_offset is None else None,
    )


def _changed(terminal: PtyTerminal, delta: ScreenDelta | None) -> ScreenRead:
    screen = terminal.screen()
    return ScreenRead(
        changed=list(delta.rows) if delta is not None else [],
        cursor=screen.cursor,
        title=screen.title,
        alt_screen=screen.alt_screen,
        cols=screen.cols,
        rows_count=screen.rows_count,
        ts=now_ms(),
        raw_offset=terminal.live.terminal.raw,
        selected=selected_now(screen),
        delta_cursor=terminal.live.screens.count,
    )


async def snapshot(terminal: PtyTerminal, at_offset: int | None) -> ScreenSnapshot:
    """The screen now, or when the raw output had a length, with its styles."""
    live = terminal.live
    if at_offset is None:
        with contextlib.suppress(Unavailable):  # a full disk keeps this change from followers, not from this caller
            live.screens.flush(force=True)
        block = live.state.block
        return ScreenSnapshot.of(
            terminal.screen(),
            now_ms(),
            raw_offset=live.terminal.raw,
            block_id=block.block_id if block else None,
            styled=True,
        )
    within("at_offset", at_offset, 0, live.terminal.raw)
    first = live.derivation.dropped.raw.end
    return await asyncio.to_thread(past_screen, live.folder, at_offset, first=first, styled=True)


@verb("How the screen changed, record by record.", reads=True)
async def read_screen_deltas(terminal: PtyTerminal, params: ReadScreenDeltas) -> Deltas:
    """Changes of the screen after a number of them."""
    screens = terminal.live.screens
    await terminal.live.refresh()
    screens.flush()
    within("cursor", params.cursor, 0, screens.count)
    deltas = screens.read(params.cursor, params.limit)
    return Deltas(deltas=deltas, cursor=params.cursor + len(deltas))


@verb("The screen's size, title and delta cursor.", reads=True)
async def screen_status(terminal: PtyTerminal, _: NoParams) -> ScreenStatus:
    await terminal.live.refresh()
    screen = terminal.screen()
    return ScreenStatus(
        cursor=terminal.live.screens.count,
        title=screen.title,
        alt_screen=screen.alt_screen,
        rows=screen.rows_count,
        cols=screen.cols,
    )


@verb("Lines that have left the screen.", reads=True)
async def read_scrollback(terminal: PtyTerminal, params: ReadScrollback) -> ScrollbackRead:
    """Lines that have left the screen, by their numbers; the last ones without a number."""
    await terminal.live.refresh()
    kept = terminal.screen().scrollback(params.from_line, params.limit)
    wanted = max(kept.total - params.limit, 0) if params.from_line is None else params.from_line
    if kept.first_line > wanted and kept.total > 0:
        kept = await asyncio.to_thread(_older_scrollback, terminal, wanted, params.limit)
    return ScrollbackRead(lines=kept.lines, first_line=kept.first_line, total=kept.total)


def _older_scrollback(terminal: PtyTerminal, wanted: int, limit: int) -> Scrollback:
    """Lines that left the screen before this process took over the terminal: its output is replayed from further
    back.
    """
    live = terminal.live
    first, end = live.derivation.dropped.raw.end, live.terminal.raw
    start = max(end - SCROLLBACK_RAW, 0)
    with Replay(live.folder, start=start, first=first, scrollback=SCROLLBACK_LINES) as replay:
        past = replay.to(end)
        assert past.screen is not None
        return past.screen.scrollback(wanted, limit)
