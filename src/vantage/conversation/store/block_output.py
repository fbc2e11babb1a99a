"""A block's output as text, for verbs and exports alike.

Most output only prints: its text is the spool's. If the program moves the cursor, the output is drawn on a screen of
the past.
"""

from contextlib import ExitStack, closing
from typing import Self

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.block_files import without
from vantage.conversation.store.derived.covered_output import CoveredOutput
from vantage.conversation.store.derived.replay import Replay, records_up_to
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.terminal.output.blocks import Block, ByteRange
from vantage.terminal.output.marks import ANY_MARK
from vantage.terminal.output.reading import Line, Part, Reading, Source, read_lines, read_output
from vantage.terminal.screen.drawn_output import Own, drawn, moves

LONGEST = 1 << 26
"""Bytes of a block that are drawn as a whole. Of a longer one, the beginning and the end are drawn."""
WINDOW = 1 << 18
"""Bytes at the beginning and at the end of a block that are searched for movement."""
_LINE = 1 << 16
"""Bytes in which the next line end is looked for."""
_SCROLLBACK = 1 << 20
"""How many lines may leave a screen between two reads of it."""


def read_block_output(
    folder: ConversationFolder,
    spool: Source,
    covered: Source,
    block: Block,
    limit: int,
    part: Part = "both",
    *,
    first: int,
) -> Reading:
    """The output of a block of which nothing was dropped: it begins at or after raw offset `first`.

    `covered` reads raw output, with marks' secrets covered.
    """
    if is_drawn(covered, block.raw, block.spool, limit):
        lines = drawn_lines(folder, block.raw, block.spool, limit, marks=block.marks, first=first)
        return read_lines(lines, block.spool, limit, part)
    return printed_output(spool, covered, block, limit, part)


def printed_output(spool: Source, covered: Source, block: Block, limit: int, part: Part) -> Reading:
    """The output of a block that moves no cursor: the spool's text, with erasures from the raw output."""

    def raw(start: int, end: int) -> bytes:
        """The block's own bytes, without our marks."""
        return b"".join(covered(*span) for span in without(ByteRange(start, end), block.marks))

    return read_output(spool, block.spool, limit, part, raw=raw, raw_span=block.raw)


def is_drawn(covered: Source, span: ByteRange, spool: ByteRange, limit: int) -> bool:
    """Whether the output moves the cursor, so that reading it takes a while."""
    window, folds = max(WINDOW, 8 * limit), spool.size <= 1 << 20
    if span.size <= 2 * window:
        return moves(covered(*span), folds=folds)
    ends = covered(span.start, span.start + window), covered(span.end - window, span.end)
    return any(moves(end, folds=folds) for end in ends)


def drawn_lines(
    folder: ConversationFolder,
    raw: ByteRange,
    spool: ByteRange,
    limit: int,
    *,
    first: int,
    marks: list[ByteRange] | None = None,
    goes_on: bool = False,
) -> list[Line]:
    """A part of the output as the screen showed it; of a very long part, its beginning and its end.

    `marks` are those of our shells in it; without them, they are searched for. Lines that are more than `limit`
    characters from either end may be left out. `goes_on` is for a part that does not begin with its command.
    """
    with _Files(folder, first, goes_on=goes_on) as files:
        return files.lines(raw, spool, files.marks(raw) if marks is None else marks, limit)


class _Files:
    """A conversation's files, opened apart from those of its live terminal: they are read in a thread."""

    def __init__(self, folder: ConversationFolder, first: int, *, goes_on: bool) -> None:
        self._folder, self._first, self._goes_on = folder, first, goes_on
        self._stack = ExitStack()
        raw, self._journal, self._spool = (
            self._stack.enter_context(closing(GrowingFile(path))) for path in (folder.raw, folder.journal, folder.spool)
        )
        self._covered = CoveredOutput(raw, self._journal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def marks(self, raw: ByteRange) -> list[ByteRange]:
        """Where shells' marks are, ours or others': a screen is not fed them."""
        found = ANY_MARK.finditer(self._covered.read(*raw))
        return [ByteRange(raw.start + mark.start(), raw.start + mark.end()) for mark in found]

    def lines(self, raw: ByteRange, spool: ByteRange, marks: list[ByteRange], limit: int) -> list[Line]:
        if raw.size <= LONGEST:
            return self._lines(marks, raw, spool, limit)
        head, tail = (self._line_start(place) for place in (raw.start + LONGEST // 4, raw.end - LONGEST // 4))
        ends = (
            self._lines(marks, ByteRange(raw.start, head[0]), ByteRange(spool.start, head[1]), limit),
            self._lines(marks, ByteRange(tail[0], raw.end), ByteRange(tail[1], spool.end), limit),
        )
        return [*ends[0], Line("", tail[1] - head[1], plain=False, left_out=True), *ends[1]]

    def _line_start(self, place: int) -> tuple[int, int]:
        """Where a line begins at or after a place in the raw output, and where that is in the spool."""
        at = place + self._covered.read(place, place + _LINE).find(b"\n") + 1
        with Replay(self._folder, start=at, first=self._first) as replay:
            return at, replay.to(at).cursor

    def _lines(self, marks: list[ByteRange], raw: ByteRange, spool: ByteRange, limit: int) -> list[Line]:
        with Replay(self._folder, start=raw.start, first=self._first, scrollback=_SCROLLBACK) as replay:
            screen = replay.to(raw.start).screen
            assert screen is not None
            own = self._own(marks, raw, replay.journal)
            return drawn(screen, own, self._spool.read, spool, limit, goes_on=self._goes_on)

    def _own(self, marks: list[ByteRange], raw: ByteRange, journal: int) -> Own:
        pieces = list(without(raw, [mark for mark in marks if raw.start <= mark.start and mark.end <= raw.end]))
        data = b"".join(self._covered.read(*piece) for piece in pieces)

        def place(at: int) -> int:
            return sum(min(piece.end, max(at, piece.start)) - piece.start for piece in pieces)

        records = records_up_to(self._journal, journal, raw.end)
        sizes = [
            (place(each.record.at), each.record.cols, each.record.rows) for each in records if each.record.t == "size"
        ]
        return Own(data, sizes)
