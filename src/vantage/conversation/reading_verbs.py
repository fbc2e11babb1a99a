"""The verbs that read: what the terminal does now, what it printed, which commands it ran."""

import re
from base64 import b64encode

import msgspec

from vantage.conversation import results
from vantage.conversation.checks import at_least, within
from vantage.conversation.derive import without
from vantage.conversation.screen_verbs import ScreenVerbs
from vantage.conversation.search import find_lines
from vantage.conversation.waits import TAIL_BYTES
from vantage.errors import Gone, InputError
from vantage.terminal.blocks import Block, Span
from vantage.terminal.reading import Part, Reading, read_output, tail

DEFAULT_MAX_OUTPUT = 30_000
MOST_RAW = 1 << 20
LEAVES = re.compile(
    rb"(?:\r{0,3}\n)?(?:\x1b\[\?[0-9;]{1,32}[hl]|\x1b[=>]){0,16}"
    rb"\x1b\[\?(?:[0-9]{1,8};){0,8}(?:47|1047|1049)(?:;[0-9]{1,8}){0,8}l"
)
"""How a program leaves the alternate screen. Vim ends its last line first, which would push the first one out."""
LEFT_WITHIN = 1 << 18
"""Bytes before a block's end that are looked at for it."""


class ReadingVerbs(ScreenVerbs):
    """What is known of one conversation's terminal."""

    keyboard: str
    """Who may type: `agent`, or `client:<id>`."""

    async def status(self) -> results.Status:
        session = self.session
        await session.join_host()
        sample = await session.look_at_terminal()
        state, screen = session.state, session.terminal.screen
        active = state.block
        return results.Status(
            mode=session.terminal.mode,
            cursor=session.terminal.cursor,
            active_session_id=active.session_id if active else None,
            active_block_id=active.block_id if active else None,
            shell_id=state.shell_id or None,
            pid=state.pid,
            cwd=state.cwd or session.settings.cwd,
            foreground=sample.foreground,
            awaiting_secret=sample.awaiting_secret,
            alt_screen=screen.alt_screen if screen else False,
            title=screen.title if screen else "",
            cols=state.cols if session.alive else session.settings.cols,
            rows=state.rows if session.alive else session.settings.rows,
            last_exit_code=state.last_exit_code,
            keyboard=self.keyboard,
            stalled=session.stalled,
        )

    async def read_raw(self, from_offset: int = 0, max_bytes: int = MOST_RAW) -> results.RawRead:
        """Output byte by byte."""
        await self.session.join_host()
        end = self.session.terminal.raw
        within("from_offset", from_offset, 0, end)
        within("max_bytes", max_bytes, 1, MOST_RAW)
        kept = self.session.derivation.dropped.raw.end
        if from_offset < kept:
            raise Gone("that output was dropped by retention", next=kept, hint=f"go on at {kept}")
        data = self.session.derivation.raw.read(from_offset, min(from_offset + max_bytes, end))
        return results.RawRead(
            data_b64=b64encode(data).decode(),
            data_utf8_lossy=data.decode("utf-8", "replace"),
            next_offset=from_offset + len(data),
            end=end,
        )

    async def read_spool(self, from_cursor: int = 0, max_bytes: int = 65536) -> results.SpoolRead:
        """Output as plain text from a cursor on, carriage returns and all."""
        await self.session.join_host()
        start = self._valid(from_cursor)
        at_least("max_bytes", max_bytes, 4)
        end = self.session.terminal.cursor
        data = self.session.read_spool(start, min(start + min(max_bytes, MOST_RAW), end))
        text = data.decode("utf-8", "ignore")
        return results.SpoolRead(text=text.replace("\x1e", ""), cursor=start + len(text.encode()), end=end)

    async def blocks(self, after: int = 0, limit: int = 100) -> results.Blocks:
        """Commands behind a number, oldest first."""
        within("limit", limit, 1, 1000)
        await self.session.join_host()
        found = self.session.derivation.blocks.after(after, limit)
        active = self.session.state.block
        if active is not None and len(found) < limit and active.seq > after:
            found.append(self._so_far(active))
        return results.Blocks(blocks=found)

    async def read_block(
        self, block_id: str, *, max_output: int = DEFAULT_MAX_OUTPUT, part: Part = "both"
    ) -> results.BlockRead:
        at_least("max_output", max_output, 1)
        if part not in ("head", "tail", "both"):
            raise InputError(f"part is head, tail or both, not {part!r}")
        await self.session.join_host()
        block = self._so_far(self.session.block(block_id))
        reading = self._output(block, max_output, part)
        return results.BlockRead(
            block=block,
            output=reading.text,
            omitted=reading.omitted,
            omitted_bytes=reading.omitted_bytes,
            truncated=reading.omitted is not None,
            screen=await self._alternate_screen(block) if block.alt_screen else None,
        )

    async def _alternate_screen(self, block: Block) -> str | None:
        """What a program that drew on the alternate screen showed last: now, or before it left it."""
        screen = self.session.terminal.screen
        if block.running and screen is not None and screen.alt_screen:
            return "\n".join(screen.lines()).rstrip("\n")
        start = max(block.raw.start, block.raw.end - LEFT_WITHIN, self.session.derivation.dropped.raw.end)
        left = [match.start() for match in LEAVES.finditer(self.session.derivation.raw.read(start, block.raw.end))]
        if not left:
            return None
        return (await self._snapshot(start + left[-1], styled=False)).text()

    def _so_far(self, block: Block) -> Block:
        """A block that runs, with where its output ends now."""
        if not block.running:
            return block
        terminal = self.session.terminal
        spool, raw = Span(block.spool.start, terminal.cursor), Span(block.raw.start, terminal.raw)
        return msgspec.structs.replace(block, spool=spool, raw=raw, marks=list(block.marks))

    def _output(self, block: Block, limit: int, part: Part) -> Reading:
        derivation = self.session.derivation
        first = derivation.dropped.spool.end
        if block.spool.start < first:
            if block.spool.end <= first and block.spool.size:
                raise Gone(f"the output of {block.block_id} was dropped by retention", next=first)
            kept = Span(first, max(first, block.spool.end))
            rest = read_output(derivation.spool.read, kept, limit, part)
            return Reading(rest.text, Span(block.spool.start, rest.omitted.end if rest.omitted else kept.start))

        def raw(start: int, end: int) -> bytes:
            """The block's own bytes, without our marks."""
            return b"".join(derivation.raw.read(*span) for span in without(Span(start, end), block.marks))

        return read_output(derivation.spool.read, block.spool, limit, part, raw=raw, raw_span=block.raw)

    def _tail(self, lines: int, start: int = 0) -> str:
        """The last lines of the output, or of what came after a cursor."""
        end = self.session.terminal.cursor
        return tail(self.session.read_spool(max(end - TAIL_BYTES, start), end), lines)

    async def search(self, query: str, *, regex: bool = False, limit: int = 50) -> results.Hits:
        """Lines of the output that have a text, or match an expression, oldest first."""
        if not query:
            raise InputError("query is empty", hint="give a text to look for")
        within("limit", limit, 1, 1000)
        await self.session.join_host()
        return await find_lines(self.session, query, regex=regex, limit=limit)

    def _valid(self, cursor: int) -> int:
        """A cursor into what the spool has, or an error."""
        end = self.session.terminal.cursor
        within_spool = isinstance(cursor, int) and not isinstance(cursor, bool) and 0 <= cursor <= end
        if not within_spool:
            raise InputError(f"cursor {cursor!r} is not in the spool", hint=f"it has {end} bytes: 0 to {end} are valid")
        kept = self.session.derivation.dropped.spool.end
        if cursor < kept:
            raise Gone(
                f"the output at {cursor} was dropped by retention", next=kept, hint=f"the next valid cursor is {kept}"
            )
        return cursor
