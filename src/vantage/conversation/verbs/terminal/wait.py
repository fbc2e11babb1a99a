"""The verb that waits: for output, for a screen, for the prompt, for the end of a program, for silence.

Its answer shows what is new since its cursor, never more: the lines around a match; all output up to a prompt, an end
or a silence; else the last lines. While a program has the alternate screen, the screen is shown instead.
"""

import asyncio
import time
from collections.abc import Callable

import msgspec

from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.live.waits import Wait
from vantage.conversation.store.block_output import drawn_lines, is_drawn
from vantage.conversation.verbs.terminal import calls
from vantage.conversation.verbs.terminal.params import WaitFor
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import Waited, set_awaited
from vantage.conversation.verbs.terminal.screen import seen_screen, selected_now
from vantage.conversation.verbs.verb import verb
from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.match import Condition, condition
from vantage.terminal.output.reading import Line, around, read_lines, read_output
from vantage.terminal.screen.frames import ScreenSnapshot

BEFORE, AFTER = 1_000, 500
"""Characters of the new output that are shown before and after a match."""
LAST = 2_000
"""Characters at the end of the new output that are shown when nothing matched."""
SETTLE_S, MAX_SETTLE_S = 0.03, 0.3
"""A full-screen program draws in several writes: its picture is read after a pause, which is waited for so long."""
_WHOLE = frozenset({"prompt", "eof", "quiet_ms"})
"""Conditions after which all new output is shown, as far as `max_output` allows: its length is not known beforehand."""


@verb("Wait until something appears, ends or falls silent.", waits=True)
async def wait_for(terminal: PtyTerminal, params: WaitFor) -> Waited:
    """Waits until something appears in the output or on the screen. Output after the cursor is never missed."""
    await terminal.live.join_host()
    block_id = _waited_on(terminal, params.session_id)
    if (terminal.live.alive and calls.current() is not None) or calls.repeated():
        # A wait that is sent again begins where it first began, on the same command: its match may be printed already.
        start = _start(terminal, params.from_cursor)
        begun = await calls.begun_with(terminal, cursor=start, block=block_id, typed=terminal.typed_at(start))
        params, block_id = msgspec.structs.replace(params, from_cursor=begun["cursor"]), begun["block"]
        terminal.typed_before(begun["typed"])
    ends = block_id is not None and terminal.live.block(block_id).origin == "interactive"
    return await wait_on(terminal, params, block_id, ends=ends, idle=lambda: terminal.prompts.idle)


async def wait_on(
    terminal: PtyTerminal,
    params: WaitFor,
    block_id: str | None,
    *,
    ends: bool,
    idle: Callable[[], bool] = lambda: False,
) -> Waited:
    """Waits on a command; with `ends`, its end ends the wait. `idle`: the shell is at its prompt, and stays there."""
    live = terminal.live
    start = _start(terminal, params.from_cursor)
    echo = terminal.echo_at(start)
    wait = Wait(
        live,
        condition(params.match, start, regex=params.regex),
        start,
        params.max_bytes,
        over=lambda: terminal.has_ended(block_id),
        ends=ends,
        echo=echo,
        across=condition(params.match, start, regex=params.regex) if echo is not None else None,
        unseen=terminal.command_line if any(block.spool.start == start for block in live.last_blocks()) else "",
        idle=idle,
    )
    fired = await wait.run(params.timeout_ms / 1000)
    if fired is not None and (screen := live.terminal.screen) is not None and screen.alt_screen:
        await _settled(live)
    found = wait.found()
    cursor = start
    if found is not None:
        cursor = found.end
    elif fired is not None and fired.kind == "eof":  # where it ended: a wait for the prompt after it still finds it
        cursor = max(start, live.block(block_id).spool.end) if block_id else live.terminal.cursor
    elif fired is not None and fired.kind in ("quiet_ms", "prompt"):
        cursor = live.terminal.cursor
    live.position.cursor = cursor
    waited = Waited(
        matched=fired is not None,
        cursor=cursor,
        reason=wait.reason,
        match_text=found.text if found else None,
        match_span=ByteRange(found.start, found.end) if found else None,
    )
    set_awaited(waited, wait.awaited)
    if cursor == live.terminal.cursor:
        terminal.note_place(cursor, live.terminal.raw)
    screen = live.terminal.screen
    if screen is not None and screen.alt_screen:
        shown = seen_screen(ScreenSnapshot.of(screen, 0, styled=True), params.max_output)
        waited.screen, waited.selected = shown.text, shown.selected
    else:
        new = ByteRange(start, live.terminal.cursor)
        drawn = await _drawn_since(terminal, new, params.max_output)
        if drawn is not None and screen is not None and live.state.block is not None:  # a menu on the main screen
            waited.selected = selected_now(screen)
        waited.tail = _new_output(terminal, new, drawn, fired, params.max_output).rstrip("\n")
    return waited


async def _settled(live: LiveTerminal) -> None:
    now = time.monotonic()
    end = now + MAX_SETTLE_S
    while (quiet_at := min(live.last_output + SETTLE_S, end)) > now:
        await asyncio.sleep(quiet_at - now)
        now = time.monotonic()


def _new_output(
    terminal: PtyTerminal, new: ByteRange, drawn: list[Line] | None, fired: Condition | None, limit: int
) -> str:
    """The output since a cursor, limited to what matters for the way the wait ended."""
    read = terminal.live.read_spool
    found = fired.found if fired is not None else None
    if fired is not None and fired.kind in _WHOLE:
        return (read_output(read, new, limit) if drawn is None else read_lines(drawn, new, limit)).text
    if found is not None and drawn is None:
        return around(read, new, ByteRange(found.start, found.end), limit, before=BEFORE, after=AFTER)
    if found is not None and drawn is not None and (at := _line_with(drawn, found.text)) is not None:
        first = read_lines(drawn[: at + 1], new, min(limit, BEFORE), "tail").text
        return first + read_lines(drawn[at + 1 :], new, min(max(limit - len(first), 0), AFTER), "head").text
    limit = min(limit, LAST)
    return (read_output(read, new, limit, "tail") if drawn is None else read_lines(drawn, new, limit, "tail")).text


async def _drawn_since(terminal: PtyTerminal, new: ByteRange, limit: int) -> list[Line] | None:
    """The lines that a screen showed since a cursor; None if nothing moved the cursor, or the place is not known."""
    live, raw_start = terminal.live, terminal.place_of(new.start)
    derivation = live.derivation
    if raw_start is None or raw_start < derivation.dropped.raw.end:
        return None
    raw = ByteRange(raw_start, live.terminal.raw)
    if not is_drawn(derivation.covered.read, raw, new, limit):
        return None
    goes_on = not any(block.raw.start == raw_start for block in live.last_blocks())
    first = derivation.dropped.raw.end
    return await asyncio.to_thread(drawn_lines, live.folder, raw, new, limit, first=first, goes_on=goes_on)


def _line_with(lines: list[Line], text: str) -> int | None:
    """The number of the line with a match; None if the match was overwritten since."""
    wanted = text.strip().split("\n", 1)[0]
    return next((number for number, line in enumerate(lines) if wanted in line.text), None)


def _start(terminal: PtyTerminal, from_cursor: int | None) -> int:
    """The given cursor, else where the last call ended, else where the running command began."""
    live = terminal.live
    if from_cursor is not None:
        return terminal.valid_cursor(from_cursor)
    end, position = live.terminal.cursor, live.position.cursor
    if position is None:
        active = live.state.block
        return active.spool.start if active else end
    return min(max(position, live.derivation.dropped.spool.end), end)


def _waited_on(terminal: PtyTerminal, session_id: str | None) -> str | None:
    """The block whose end `EOF` means."""
    if session_id is not None:
        return terminal.block_of(session_id)
    active = terminal.live.state.block
    return active.block_id if active else None
