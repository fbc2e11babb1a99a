"""The database of the search index: documents, their texts, and the triples of characters in them.

FTS5's trigrams find any part of a path or an identifier, which an index of words does not. The texts are kept and
compared afterwards, so the index holds no positions (`detail=none`), which would make it six times as large.
"""

import contextlib
import itertools
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from vantage.conversation.search.documents import MAX_HEAD, Document, Entry, State, documents
from vantage.conversation.search.query import Query, plain
from vantage.conversation.store.files.writing import PRIVATE_FILE
from vantage.errors import InputError
from vantage.terminal.output.reading import Source

VERSION = 2
"""The version of the tables. A database of another version is replaced."""

_TABLES = f"""
BEGIN;
PRAGMA user_version = {VERSION};
CREATE TABLE conversations (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, epoch TEXT NOT NULL, gone INTEGER NOT NULL DEFAULT 0,
    events INTEGER NOT NULL DEFAULT 0, blocks INTEGER NOT NULL DEFAULT 0, state BLOB NOT NULL);
CREATE UNIQUE INDEX living ON conversations (id) WHERE NOT gone;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, begin INTEGER NOT NULL, part INTEGER NOT NULL,
    ts INTEGER NOT NULL, kind TEXT NOT NULL, block TEXT NOT NULL, cursor INTEGER, cut INTEGER NOT NULL);
CREATE UNIQUE INDEX entries ON documents (conversation, begin, part);
CREATE INDEX cuts ON documents (conversation) WHERE cut;
CREATE TABLE texts (id INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE VIRTUAL TABLE grams USING fts5 (text, content='', detail=none, tokenize='trigram case_sensitive 1');
COMMIT;
"""
_JOINED = "documents AS d JOIN conversations AS c ON c.number = d.conversation"


class Read(msgspec.Struct):
    """How far a conversation's files were read."""

    number: int
    epoch: str
    events: int
    """Bytes of its log."""
    blocks: int
    """Bytes of the log of its blocks."""
    state: State


class Place(NamedTuple):
    """Where a page of results ends: the next page is older."""

    ts: int
    conversation: str
    begin: int

    @classmethod
    def read(cls, text: str) -> "Place":
        try:
            ts, begin, conversation = text.split(".", 2)
            place = cls(int(ts), conversation, int(begin))
        except ValueError:
            place = None
        if place is None or max(abs(place.ts), abs(place.begin)) >= 1 << 63:
            raise InputError(f"{text!r} is no place in the results", hint="before takes the `next` of an earlier page")
        return place

    def __str__(self) -> str:
        return f"{self.ts}.{self.begin}.{self.conversation}"


class Candidate(NamedTuple):
    """A document with all triples of a query, which may hold its words."""

    id: int
    number: int
    conversation: str
    begin: int
    part: int
    ts: int
    kind: str
    block: str
    cursor: int | None

    @property
    def place(self) -> Place:
        return Place(self.ts, self.conversation, self.begin)


class SearchStore:
    """Raises `sqlite3.DatabaseError` when the file is broken or of another version: call `start_anew` then."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    @property
    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        with contextlib.suppress(IsADirectoryError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE))
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version == 0 and empty:
                connection.executescript(_TABLES)
            elif version != VERSION:
                raise sqlite3.DatabaseError(f"it is of version {version}, and this is {VERSION}")  # noqa: TRY301
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def start_anew(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            path = self.path.with_name(self.path.name + suffix)
            if path.is_dir():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def change(self) -> Iterator[None]:
        """A transaction: everything that is written inside it is kept, or nothing."""
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")

    # conversations

    def known(self) -> dict[str, int]:
        """Conversations, and how far the log of each was read."""
        return dict(self._database.execute("SELECT id, events FROM conversations WHERE NOT gone"))

    def read(self, conversation_id: str) -> Read | None:
        row = self._database.execute(
            "SELECT number, epoch, events, blocks, state FROM conversations WHERE id = ? AND NOT gone",
            (conversation_id,),
        ).fetchone()
        if row is None:
            return None
        number, epoch, events, blocks, state = row
        return Read(number, epoch, events, blocks, msgspec.json.decode(state, type=State))

    def add(self, conversation_id: str, epoch: str) -> Read:
        state = State()
        number = self._database.execute(
            "INSERT INTO conversations (id, epoch, state) VALUES (?, ?, ?)",
            (conversation_id, epoch, msgspec.json.encode(state)),
        ).lastrowid
        assert number is not None
        return Read(number, epoch, 0, 0, state)

    def went_on(self, read: Read) -> None:
        self._database.execute(
            "UPDATE conversations SET events = ?, blocks = ?, state = ? WHERE number = ?",
            (read.events, read.blocks, msgspec.json.encode(read.state), read.number),
        )

    def forget(self, conversation_id: str) -> None:
        """Removes a conversation from results. `sweep` deletes its documents."""
        self._database.execute("UPDATE conversations SET gone = 1 WHERE id = ?", (conversation_id,))

    def sweep(self) -> bool:
        """Deletes a part of the documents of forgotten conversations. Returns whether there are more."""
        row = self._database.execute("SELECT number FROM conversations WHERE gone LIMIT 1").fetchone()
        if row is None:
            return False
        with self.change():
            if not self._remove("conversation = ?", row, 100):
                self._database.execute("DELETE FROM conversations WHERE number = ?", row)
        return True

    # documents

    def write(self, number: int, entry: Entry, spool: Source) -> None:
        """Writes an entry, replacing its earlier state."""
        self._remove("conversation = ? AND begin = ?", (number, entry.begin))
        for document in documents(entry, spool):
            self._insert(number, entry, document)

    def _insert(self, number: int, entry: Entry, document: Document) -> None:
        database = self._database
        cut = entry.cut and not document.part
        added = database.execute(
            "INSERT INTO documents (conversation, begin, part, ts, kind, block, cursor, cut)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, entry.begin, document.part, entry.ts, document.kind, entry.block, document.cursor, cut),
        ).lastrowid
        packed = zlib.compress(document.text.encode(), 1)
        database.execute("INSERT INTO texts (id, text) VALUES (?, ?)", (added, packed))
        head = entry.head[:MAX_HEAD] if document.part else ""
        database.execute("INSERT INTO grams (rowid, text) VALUES (?, ?)", (added, _indexed(head, document.text)))

    def _remove(self, where: str, values: tuple[int, ...], limit: int = -1) -> int:
        """Deletes documents, heads last. FTS5 needs the text that an entry was added with."""
        database = self._database
        found = database.execute(
            "SELECT id, conversation, begin, part FROM documents"  # noqa: S608
            f" WHERE {where} ORDER BY begin DESC, part DESC LIMIT ?",
            (*values, limit),
        ).fetchall()
        for document, number, begin, part in found:
            head = self.head(number, begin) if part else ""
            database.execute(
                "INSERT INTO grams (grams, rowid, text) VALUES ('delete', ?, ?)",
                (document, _indexed(head, self.text(document))),
            )
            database.execute("DELETE FROM texts WHERE id = ?", (document,))
            database.execute("DELETE FROM documents WHERE id = ?", (document,))
        return len(found)

    def text(self, document: int) -> str:
        row = self._database.execute("SELECT text FROM texts WHERE id = ?", (document,)).fetchone()
        try:
            return zlib.decompress(row[0]).decode()
        except (zlib.error, UnicodeError, TypeError) as error:
            raise sqlite3.DatabaseError(f"the text of {document} cannot be read: {error}") from error

    def head(self, number: int, begin: int) -> str:
        """The head of an output: the command, or the call."""
        row = self._database.execute(
            "SELECT id FROM documents"
            " WHERE conversation = ? AND begin = ? AND part = 0 AND kind IN ('tool', 'command')",
            (number, begin),
        ).fetchone()
        return self.text(row[0])[:MAX_HEAD] if row else ""

    # searching

    def candidates(self, query: Query, conversation: str | None, before: Place | None) -> Iterator[Candidate]:
        """Documents that may match, the newest entry first, the pieces of each in order."""
        tables = _JOINED
        conditions = ["NOT c.gone"]
        values: list[str | int] = []
        if grams := query.grams():
            tables = f"grams JOIN {tables}"
            conditions += ["d.id = grams.rowid", "grams MATCH ?"]
            values.append(grams)
        if conversation is not None:
            conditions.append("c.id = ?")
            values.append(conversation)
        if before is not None:
            conditions.append("(d.ts, c.id, d.begin) < (?, ?, ?)")
            values += before
        found = self._database.execute(
            "SELECT d.id, d.conversation, c.id, d.begin, d.part, d.ts, d.kind, d.block, d.cursor"  # noqa: S608
            f" FROM {tables} WHERE {' AND '.join(conditions)} ORDER BY d.ts DESC, c.id DESC, d.begin DESC, d.part",
            values,
        )
        return itertools.starmap(Candidate, found)

    def cut(self, conversation: str | None) -> int:
        """How many entries are only partly indexed."""
        one, values = ("", ()) if conversation is None else (" AND c.id = ?", (conversation,))
        counted = self._database.execute(
            f"SELECT count(*) FROM {_JOINED} WHERE d.cut AND NOT c.gone{one}",  # noqa: S608
            values,
        )
        return int(counted.fetchone()[0])


def _indexed(head: str, text: str) -> str:
    return plain(f"{head}\n{text}" if head else text)


_DISK = ("disk", "full", "readonly", "locked", "unable to open")


def is_of_disk(error: sqlite3.DatabaseError) -> bool:
    """Whether the disk caused the error, so that a new database would not help."""
    return isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in _DISK)
