"""The verbs that look at the screen, now and in the past, and point at it."""

import asyncio
from typing import Any

import msgspec

from vantage.conversation import results
from vantage.conversation.checks import at_least, within
from vantage.conversation.files import now_ms
from vantage.conversation.replay import Replay
from vantage.conversation.session import Session
from vantage.errors import Gone, InputError, Unavailable
from vantage.terminal.frames import Region, ScreenSnapshot
from vantage.terminal.screen import SCROLLBACK_LINES, Screen, Scrollback

MOST_DELTAS = 500
MOST_LINES = 5000
SCROLLBACK_RAW = 8 << 20
"""Bytes of output that are replayed to find lines that have left the screen."""


class ScreenVerbs:
    """What can be seen of one conversation's terminal."""

    session: Session

    def screen(self) -> Screen:
        """The screen as it is now. It is the live one: look, do not feed."""
        screen = self.session.terminal.screen
        if screen is None:
            raise Unavailable("the screen is being drawn anew from the output", hint="try again in a moment")
        return screen

    async def read_screen(
        self,
        *,
        at_offset: int | None = None,
        style: bool = False,
        region: Region | dict[str, Any] | None = None,
        since: int | None = None,
        cursor: bool = False,
        trim: bool = True,
    ) -> results.ScreenRead:
        """What is on the screen, or was when the raw output had a length; only what changed `since` a delta cursor."""
        session = self.session
        await session.join_host()
        if since is not None and at_offset is None:
            at_least("since", since, 0)
            if since > session.screens.count:
                raise InputError(f"there were {session.screens.count} deltas, so none is number {since}")
            delta = session.screens.since(since)
            if delta is not None or since == session.screens.count:
                return self._changed(delta)
        part = _region(region)
        snapshot = await self._snapshot(at_offset, styled=style)
        text = snapshot.text(trimmed=True, cursor=cursor, region=part)
        if part is not None:
            snapshot = snapshot.crop(part)
        rows = list(snapshot.rows)
        while trim and rows and not rows[-1]:
            rows.pop()
        return results.ScreenRead(
            rows=rows,
            text=text,
            cursor=snapshot.cursor,
            title=snapshot.title,
            alt_screen=snapshot.alt_screen,
            cols=snapshot.cols,
            rows_count=snapshot.rows_count,
            ts=snapshot.ts,
            raw_offset=snapshot.raw_offset or 0,
            runs=list(snapshot.runs)[: len(rows)] if snapshot.runs is not None else None,
            delta_cursor=session.screens.count if at_offset is None else None,
        )

    def _changed(self, delta: Any) -> results.ScreenRead:
        terminal = self.session.terminal
        screen = self.screen()
        return results.ScreenRead(
            changed=list(delta.rows) if delta is not None else [],
            cursor=screen.cursor,
            title=screen.title,
            alt_screen=screen.alt_screen,
            cols=screen.cols,
            rows_count=screen.rows_count,
            ts=now_ms(),
            raw_offset=terminal.raw,
            delta_cursor=self.session.screens.count,
        )

    async def _snapshot(self, at_offset: int | None, *, styled: bool) -> ScreenSnapshot:
        terminal = self.session.terminal
        if at_offset is None:
            self.session.screens.flush(force=True)
            block = terminal.state.block
            return ScreenSnapshot.of(
                self.screen(),
                now_ms(),
                raw_offset=terminal.raw,
                block_id=block.block_id if block else None,
                styled=styled,
            )
        within("at_offset", at_offset, 0, terminal.raw)
        first = self.session.derivation.dropped.raw.end
        if at_offset < first:
            raise Gone("that output was dropped by retention", next=first, hint=f"go on at {first}")
        return await asyncio.to_thread(self._past, at_offset, first, styled=styled)

    def _past(self, at_offset: int, first: int, *, styled: bool) -> ScreenSnapshot:
        with Replay(self.session.folder, start=at_offset, first=first) as replay:
            past = replay.to(at_offset)
            assert past.screen is not None
            block_id = past.state.block.block_id if past.state.block else None
            ts = past.state.now
            return ScreenSnapshot.of(past.screen, ts, raw_offset=at_offset, block_id=block_id, styled=styled)

    async def read_screen_deltas(self, cursor: int = 0, limit: int = 50) -> results.Deltas:
        """Changes of the screen behind a number of them."""
        within("limit", limit, 1, MOST_DELTAS)
        await self.session.join_host()
        self.session.screens.flush()
        within("cursor", cursor, 0, self.session.screens.count)
        deltas = self.session.screens.read(cursor, limit)
        return results.Deltas(deltas=deltas, cursor=cursor + len(deltas))

    async def screen_status(self) -> results.ScreenStatus:
        await self.session.join_host()
        screen = self.screen()
        return results.ScreenStatus(
            cursor=self.session.screens.count,
            title=screen.title,
            alt_screen=screen.alt_screen,
            rows=screen.rows_count,
            cols=screen.cols,
        )

    async def read_scrollback(self, from_line: int | None = None, limit: int = 200) -> results.ScrollbackRead:
        """Lines that have left the screen, by their numbers; the last ones without a number."""
        within("limit", limit, 1, MOST_LINES)
        if from_line is not None:
            at_least("from_line", from_line, 0)
        await self.session.join_host()
        kept = self.screen().scrollback(from_line, limit)
        wanted = max(kept.total - limit, 0) if from_line is None else from_line
        if kept.first_line > wanted and kept.total > 0:
            kept = await asyncio.to_thread(self._older_scrollback, wanted, limit)
        return results.ScrollbackRead(lines=kept.lines, first_line=kept.first_line, total=kept.total)

    def _older_scrollback(self, wanted: int, limit: int) -> Scrollback:
        """Lines from before this process took the terminal up: its output is replayed from further back."""
        first, end = self.session.derivation.dropped.raw.end, self.session.terminal.raw
        start = max(end - SCROLLBACK_RAW, 0)
        with Replay(self.session.folder, start=start, first=first, scrollback=SCROLLBACK_LINES) as replay:
            past = replay.to(end)
            assert past.screen is not None
            return past.screen.scrollback(wanted, limit)


def _region(region: Region | dict[str, Any] | None) -> Region | None:
    if region is None or isinstance(region, Region):
        return region
    try:
        return msgspec.convert(region, Region)
    except msgspec.ValidationError as error:
        raise InputError(
            f"a region is {{row, col, rows, cols}}, all of them optional: {error}",
            hint='as in {"row": 0, "rows": 10}',
        ) from None
