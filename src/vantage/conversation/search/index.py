"""Full-text search over all conversations of a home: what was said, which commands ran, what they printed.

`<home>/search.db` is derived from the conversations' files: it is created again when it is missing, broken or of
another version. It records how far each conversation's log was read, and every search first reads what is new. All work
is done in one thread, in steps short enough for other searches to wait for.
"""

import asyncio
import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from vantage.conversation.search.documents import Collector
from vantage.conversation.search.query import Query, Range, Snippet, plain
from vantage.conversation.search.store import Candidate, Place, Read, SearchStore, is_of_disk
from vantage.conversation.store.block_log import decode_block
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.conversation.store.files.growing_file import GrowingFile, whole_lines
from vantage.conversation.verbs.verb import Result
from vantage.errors import EventError, Unavailable, VantageError
from vantage.events import decode_event
from vantage.terminal.output.blocks import ByteRange

TIMEOUT_S = 2.0
"""How long a search waits for the index to catch up. Then it answers with what is indexed, and says so in `behind`."""
STEP = 256 << 10
"""Bytes of a log that are read in one step; other searches are answered between steps."""
STEP_OUTPUT = 1 << 20
"""Bytes of commands' output that are indexed in one step; the last command may exceed it."""
KEEP_UP_S = 30.0
"""Seconds between two updates of the index without a search, so that a search has little left to read."""
EXAMINED = 10_000
"""How many texts one search compares at most; `next` continues from there."""
MAX_HITS = 500
_BLOCKS_READ = 1 << 14
_LOG = ConversationFolder(Path()).events.name

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class SearchHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of a conversation that has all the words."""

    conversation_id: Annotated[str, Meta(description="Which conversation")]
    seq: Annotated[int, Meta(description="The number of the event that the row begins with")]
    kind: Annotated[
        str, Meta(description="`user`, `message`, `reasoning`, `notice`, `event`, `tool`, `command` or `output`")
    ]
    ts: Annotated[int, Meta(description="When, in milliseconds since the epoch")]
    text: Annotated[str, Meta(description="The part of it where the words are, in up to three lines")]
    ranges: Annotated[list[Range], Meta(description="Where the words are in `text`, in characters")]
    block_id: Annotated[str | None, Meta(description="Which command")] = None
    cursor: Annotated[int | None, Meta(description="For a command's output: a place in the spool nearby")] = None


class SearchHits(Result):
    hits: Annotated[list[SearchHit], Meta(description="The newest first")]
    next: Annotated[str | None, Meta(description="For `before`: there may be more")] = None
    behind: Annotated[int, Meta(description="Bytes of logs that are not indexed yet")] = 0
    cut: Annotated[
        int, Meta(description="How many commands and calls have output beyond the 1 MiB that is searched")
    ] = 0


class SearchIndex:
    def __init__(self, home: Path) -> None:
        self._store = SearchStore(home / "search.db")
        self._conversations = home / "conversations"
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._pass: asyncio.Task[None] | None = None
        self._keeping_up: asyncio.Task[None] | None = None
        self._wanted = self._done = 0
        """How many calls of `catch_up` were made, and which of them the index has done."""
        self._made = 0
        """How often the database was created again."""
        self._closed = False
        self.rebuilt = ""
        """Why the index was created again; empty if it was not."""

    # the interface

    async def find(
        self, query: str, conversation: str | None = None, limit: int = 50, before: str | None = None
    ) -> SearchHits:
        """Rows with all words of the query, the newest first. `before` is the `next` of an earlier page."""
        place = Place.read(before) if before else None
        words = Query(query)
        if not words.words:
            return SearchHits(hits=[])
        limit = min(max(limit, 1), MAX_HITS)
        for _ in range(2):
            made = self._made
            done = await self._caught_up()
            found = await self._do(lambda: self._find(words, conversation, limit, place))
            if made == self._made:
                break  # else the database was broken, and is empty now
        if not done or made != self._made:
            found.behind = await self._do(self._behind)
        return found

    async def _caught_up(self) -> bool:
        """Waits until the index is up to date, for a limited time. Reading continues afterwards."""
        catching_up = asyncio.ensure_future(self.catch_up())
        done, _ = await asyncio.wait({catching_up}, timeout=TIMEOUT_S)
        if done:
            catching_up.result()
        else:
            catching_up.add_done_callback(lambda task: task.cancelled() or task.exception())
        return bool(done)

    async def catch_up(self) -> None:
        """Indexes what is new, and forgets deleted conversations."""
        self._wanted += 1
        wish = self._wanted
        while self._done < wish:
            if self._pass is None or self._pass.done():
                self._pass = asyncio.get_running_loop().create_task(self._catch_up())
            await asyncio.shield(self._pass)

    async def _catch_up(self) -> None:
        wish, made = self._wanted, self._made
        for conversation_id in await self._do(self._unread):
            while await self._do(lambda name=conversation_id: self._advance(name)):  # type: ignore[misc]
                pass
        while await self._do(self._store.sweep):
            pass
        if made == self._made:
            self._done = wish

    def keep_up(self) -> None:
        """Keeps the index up to date from now on, also without searches."""
        self._keeping_up = asyncio.get_running_loop().create_task(self._keep_up())

    async def _keep_up(self) -> None:
        while True:
            try:
                await self.catch_up()
            except VantageError as error:
                _log.warning("the search index is not up to date: %s", error)
            await asyncio.sleep(KEEP_UP_S)

    async def forget(self, conversation_id: str) -> None:
        """Removes a conversation: from results at once, from the disk before this returns."""
        await self._do(lambda: self._store.forget(conversation_id))
        while await self._do(self._store.sweep):
            pass

    async def close(self) -> None:
        self._closed = True
        if self._keeping_up is not None:
            self._keeping_up.cancel()
        running = {task for task in (self._pass, self._keeping_up) if task is not None}
        if running:
            await asyncio.wait(running)
        for task in running:
            if not task.cancelled():
                task.exception()  # it ended because the index was closed
        await asyncio.get_running_loop().run_in_executor(self._worker, self._store.close)
        self._worker.shutdown()

    async def _do(self, job: Callable[[], _T]) -> _T:
        """Runs a job in the index's thread."""
        if self._closed:
            raise Unavailable("the search index was closed", hint="the server is about to end: connect again")
        return await asyncio.get_running_loop().run_in_executor(self._worker, lambda: self._try(job))

    def _try(self, job: Callable[[], _T]) -> _T:
        """Runs a job. A broken database is created again, once; a full or read-only disk is reported."""
        try:
            return job()
        except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
            if isinstance(error, sqlite3.Error) and is_of_disk(error) and not self._store.path.is_dir():
                raise Unavailable(f"{self._store.path} cannot be used: {error}", hint="free some space") from error
            self.rebuilt = str(error)
            _log.warning("the search index is created again: %s", error)
            self._store.start_anew()
            self._made += 1
        try:
            return job()
        except sqlite3.Error as error:
            hint = "remove it: it is created again"
            raise Unavailable(f"{self._store.path} cannot be used: {error}", hint=hint) from error

    # reading logs

    def _folder(self, conversation_id: str) -> ConversationFolder:
        return ConversationFolder(self._conversations / conversation_id)

    def _logs(self) -> dict[str, int]:
        """Conversations, and the size of each one's log."""
        here = str(self._conversations)
        try:
            names = sorted(os.listdir(here))  # noqa: PTH208 -- every search looks at every conversation
        except FileNotFoundError:
            return {}
        return {name: _size(f"{here}/{name}/{_LOG}") for name in names}

    def _unread(self) -> list[str]:
        """Conversations with something new. Deleted ones are forgotten."""
        known, logs = self._store.known(), self._logs()
        for conversation_id in known.keys() - logs.keys():
            self._store.forget(conversation_id)
        return [name for name, size in logs.items() if known.get(name) != size]

    def _behind(self) -> int:
        known = self._store.known()
        return sum(max(size - known.get(name, 0), 0) for name, size in self._logs().items())

    def _advance(self, conversation_id: str) -> bool:
        """Indexes a part of what is new in a conversation. True: there may be more."""
        folder = self._folder(conversation_id)
        try:
            settings = folder.read_settings()
        except (OSError, msgspec.MsgspecError):
            return False
        try:
            return self._take_in(folder, settings)
        except OSError:
            return False  # opening the conversation reports it; its indexed part is still found

    def _take_in(self, folder: ConversationFolder, settings: Settings) -> bool:
        store, conversation_id, epoch = self._store, settings.id, settings.epoch
        read = store.read(conversation_id)
        if read is not None and (read.epoch != epoch or read.events > _size(folder.events)):
            store.forget(conversation_id)  # its log was created again
            read = None
        if read is None:
            read = store.add(conversation_id, epoch)
        lines = whole_lines(folder.events, read.events, STEP)
        if not lines:
            return False
        collector = Collector(read.state, lambda block_id: _printed(folder, read, block_id))
        for line in lines:
            with contextlib.suppress(EventError):
                collector.take(decode_event(line))
            read.events += len(line) + 1
            if collector.size > STEP_OUTPUT:
                break
        spool = GrowingFile(folder.spool)
        try:
            with store.change():
                for entry in collector.changed.values():
                    store.write(read.number, entry, spool.read)
                store.went_on(read)
        finally:
            spool.close()
        return True

    # searching

    def _find(self, query: Query, conversation: str | None, limit: int, before: Place | None) -> SearchHits:
        store = self._store
        hits: list[SearchHit] = []
        here: Place | None = None
        done: Place | None = None
        """The entry of the current candidate, and the last one before it."""
        found = False
        for examined, candidate in enumerate(store.candidates(query, conversation, before)):
            if candidate.place != here:
                here, done, found = candidate.place, here, False
                if len(hits) == limit or (examined >= EXAMINED and done is not None):
                    return SearchHits(hits=hits, next=str(done), cut=store.cut(conversation))
            if found:
                continue
            text = store.text(candidate.id)
            lower = plain(text)
            found = query.are_in(lower) or (
                candidate.part > 0 and query.are_in(lower, store.head(candidate.number, candidate.begin))
            )
            if found:
                hits.append(_hit(candidate, query.snippet(text, lower)))
        return SearchHits(hits=hits, cut=store.cut(conversation))


def _hit(candidate: Candidate, shown: Snippet) -> SearchHit:
    return SearchHit(
        conversation_id=candidate.conversation,
        seq=candidate.begin,
        kind=candidate.kind,
        ts=candidate.ts,
        text=shown.text,
        ranges=shown.ranges,
        block_id=candidate.block or None,
        cursor=candidate.cursor,
    )


def _size(path: Path | str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return 0


def _printed(folder: ConversationFolder, read: Read, block_id: str) -> ByteRange | None:
    """Where a block's output is. Blocks end in order, and a block is logged before the event that ends it."""
    number = block_id[1:]
    if block_id[:1] != "b" or not number.isascii() or not number.isdigit():
        return None
    while lines := whole_lines(folder.block_log, read.blocks, _BLOCKS_READ):
        for line in lines:
            try:
                block = decode_block(line)
            except msgspec.MsgspecError:
                block = None
            if block is not None and block.seq > int(number):
                return None
            read.blocks += len(line) + 1
            if block is not None and block.seq == int(number):
                return block.spool
    return None
