"""The verbs that read: what the terminal does now, what it printed, which commands it ran."""

import asyncio
import os
from base64 import b64encode

import msgspec

from vantage.conversation.checks import not_dropped, within
from vantage.conversation.live.sampler import Sample
from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.store.block_output import drawn_lines, is_drawn, printed_output
from vantage.conversation.verbs.terminal.output_search import excerpt, find_lines
from vantage.conversation.verbs.terminal.params import ListBlocks, ReadBlock, ReadRaw, ReadSpool, SearchOutput
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import BlockRead, Blocks, Hits, RawRead, SpoolRead, Status, set_awaited
from vantage.conversation.verbs.terminal.screen import NO_SCREEN, SeenScreen, seen_screen, snapshot
from vantage.conversation.verbs.verb import NoParams, verb
from vantage.errors import Gone, InputError
from vantage.terminal.output.blocks import Block, ByteRange
from vantage.terminal.output.line_search import Excerpt, Needle
from vantage.terminal.output.reading import Part, Reading, read_lines, read_output
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.transcript import LEAVES

LEFT_WITHIN = 1 << 18
"""Bytes before a block's end in which that is looked for."""
DRAWN_WITHIN = 1 << 15
"""Characters at either end of a block's output in which movements of the cursor are looked for."""


@verb("What the terminal does now.", reads=True)
async def status(terminal: PtyTerminal, _: NoParams) -> Status:
    live = terminal.live
    await live.refresh()
    sample = await live.sampler.latest()
    awaited = await live.input_watch.glance() if not live.link.silent else None
    state, screen = live.state, live.terminal.screen
    active = state.block
    now = Status(
        mode=live.terminal.mode,
        cursor=live.terminal.cursor,
        active_session_id=active.session_id if active else None,
        active_block_id=active.block_id if active else None,
        shell_id=state.shell_id or None,
        pid=state.pid,
        cwd=await _foreground_cwd(live, sample),
        foreground=sample.foreground,
        awaiting_secret=sample.awaiting_secret,
        alt_screen=screen.alt_screen if screen else False,
        title=screen.title if screen else "",
        cols=state.cols if live.alive else live.settings.cols,
        rows=state.rows if live.alive else live.settings.rows,
        last_exit_code=state.last_exit_code,
        keyboard=terminal.keyboard.holder,
        stalled=live.stalled,
        engine=screen.engine if screen else live.settings.engine,
    )
    set_awaited(now, awaited)
    return now


async def _foreground_cwd(live: LiveTerminal, sample: Sample) -> str:
    """The directory of the program in the foreground.

    The shell's own path for it is kept: `$PWD` may be a link's path. `state.cwd` is the shell's directory as of its
    last mark; a running command may have changed to another.
    """
    shell = live.state.cwd or live.settings.cwd
    if live.state.block is None or sample.cwd is None or sample.cwd == shell:
        return shell
    is_shell = await asyncio.to_thread(os.path.realpath, shell) == sample.cwd
    return shell if is_shell else sample.cwd


@verb("The output byte by byte.", reads=True)
async def read_raw(terminal: PtyTerminal, params: ReadRaw) -> RawRead:
    """Output byte by byte. The secret in a shell's marks is covered, so that no reader can forge them."""
    live = terminal.live
    await live.refresh()
    start, end = params.from_offset, live.terminal.raw
    within("from_offset", start, 0, end)
    not_dropped(start, live.derivation.dropped.raw.end)
    data = live.derivation.covered.read(start, min(start + params.max_bytes, end))
    return RawRead(
        data_b64=b64encode(data).decode(),
        data_utf8_lossy=data.decode("utf-8", "replace"),
        next_offset=start + len(data),
        end=end,
    )


@verb("The output as plain text from a cursor on.", reads=True)
async def read_spool(terminal: PtyTerminal, params: ReadSpool) -> SpoolRead:
    """Output as plain text from a cursor on, with carriage returns."""
    live = terminal.live
    await live.refresh()
    start, end = terminal.valid_cursor(params.from_cursor), live.terminal.cursor
    text = live.read_spool(start, min(start + params.max_bytes, end)).decode("utf-8", "ignore")
    return SpoolRead(text=text.replace("\x1e", ""), cursor=start + len(text.encode()), end=end)


@verb("Commands that ran, oldest first.", reads=True)
async def blocks(terminal: PtyTerminal, params: ListBlocks) -> Blocks:
    """Commands after a number, oldest first; the one that runs comes last."""
    live = terminal.live
    await live.refresh()
    found = live.derivation.blocks.after(params.after, params.limit)
    active = live.state.block
    if active is not None and len(found) < params.limit and active.seq > params.after:
        found.append(so_far(terminal, active))
    return Blocks(blocks=found)


@verb("A command's record and output.", reads=True)
async def read_block(terminal: PtyTerminal, params: ReadBlock) -> BlockRead:
    """A command's record and output; with `search` only the lines that have it, with their numbers and neighbours."""
    await terminal.live.refresh()
    block = so_far(terminal, terminal.live.block(params.block_id))
    if params.search is not None:
        return await _search_block(terminal, block, params, params.search)
    if params.regex:
        raise InputError("`regex` goes with `search`", hint="give the expression as `search`")
    reading = await output_of(terminal, block, params.max_output, params.part)
    shown = await alternate_screen(terminal, block, params.max_output) if block.alt_screen else NO_SCREEN
    return BlockRead(
        block=block,
        output=reading.text,
        omitted=reading.omitted,
        omitted_bytes=reading.omitted_bytes,
        truncated=reading.omitted is not None,
        screen=shown.text,
        selected=shown.selected,
    )


async def _search_block(terminal: PtyTerminal, block: Block, params: ReadBlock, query: str) -> BlockRead:
    found = Excerpt(params.max_output, tail=params.part == "tail")
    await excerpt(terminal.live, block, Needle(query, regex=params.regex), context=params.context, found=found)
    return BlockRead(
        block=block,
        output=found.text(),
        found=found.found,
        omitted_found=found.omitted,
        truncated=found.omitted > 0,
    )


@verb("Lines of the output that have a text.", reads=True)
async def search(terminal: PtyTerminal, params: SearchOutput) -> Hits:
    """Lines of the output that have a text, or match an expression, oldest first."""
    await terminal.live.refresh()
    return await find_lines(terminal.live, params.query, regex=params.regex, limit=params.limit)


async def alternate_screen(terminal: PtyTerminal, block: Block, limit: int) -> SeenScreen:
    """What a program that drew on the alternate screen showed there last: now, or before it left and ended."""
    live, screen = terminal.live, terminal.live.terminal.screen
    if block.running:
        on_it = screen is not None and screen.alt_screen
        return seen_screen(ScreenSnapshot.of(terminal.screen(), 0, styled=True), limit) if on_it else NO_SCREEN
    start = max(block.raw.start, block.raw.end - LEFT_WITHIN, live.derivation.dropped.raw.end)
    left = [match.start() for match in LEAVES.finditer(live.derivation.raw.read(start, block.raw.end))]
    return seen_screen(await snapshot(terminal, start + left[-1]), limit) if left else NO_SCREEN


def is_picture(terminal: PtyTerminal, block: Block) -> bool:
    """Whether a command draws on the main screen, as `dialog` does."""
    derivation = terminal.live.derivation
    kept = block.raw.start >= derivation.dropped.raw.end
    return kept and is_drawn(derivation.covered.read, block.raw, block.spool, DRAWN_WITHIN)


def so_far(terminal: PtyTerminal, block: Block) -> Block:
    """A running block with the present end of its output."""
    if not block.running:
        return block
    core = terminal.live.terminal
    spool, raw = ByteRange(block.spool.start, core.cursor), ByteRange(block.raw.start, core.raw)
    return msgspec.structs.replace(block, spool=spool, raw=raw, marks=list(block.marks))


async def output_of(terminal: PtyTerminal, block: Block, limit: int, part: Part) -> Reading:
    """A block's output, without what retention dropped. Output that must be drawn is drawn in a thread."""
    derivation = terminal.live.derivation
    first = derivation.dropped.spool.end
    if block.spool.start >= first:
        covered = derivation.covered.read
        if not is_drawn(covered, block.raw, block.spool, limit):
            return printed_output(derivation.spool.read, covered, block, limit, part)
        where = terminal.live.folder, block.raw, block.spool
        first = derivation.dropped.raw.end
        lines = await asyncio.to_thread(drawn_lines, *where, limit, marks=block.marks, first=first)
        return read_lines(lines, block.spool, limit, part)
    if block.spool.end <= first and block.spool.size:
        raise Gone(f"the output of {block.block_id} was dropped by retention", next=first)
    kept = ByteRange(first, max(first, block.spool.end))
    rest = read_output(derivation.spool.read, kept, limit, part)
    return Reading(rest.text, ByteRange(block.spool.start, rest.omitted.end if rest.omitted else kept.start))
