"""Search over a home with a million lines of output: making the index, and asking it. In processor time."""

import asyncio
import random
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.run.answers import AT_END, Milliseconds
from bench.run.worker import seconds
from vantage.conversation.search.index import SearchIndex
from vantage.conversation.store.block_log import BlockLog
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.conversation.store.event_log import EventLog
from vantage.events import AgentBlockBegin, AgentBlockEnd, AssistantText
from vantage.terminal.output.blocks import Block, ByteRange

Run = Callable[[], object]

CONVERSATIONS, COMMANDS, LINES = 50, 100, 200
"""A million lines in all."""
QUERIES = (
    "ConnectionResetError", "worker-42", "handlers/session.py", "deserial", "0x7f3a", "E0308", "took 9999 ms",
    "retry_budget", "line 777", "test_session_41", "warning: unused", "/srv/app/core", "ECONN", "TimeoutErr",
    "request 00ff", "nothing-has-this-in-it", "flush()", "core/queue.py:88", "exit status 137", "KeyError",
)  # fmt: skip
"""Parts of paths and names, numbers, messages; from rare ones to such as stand in every tenth line."""

_WORDS = (
    "session", "queue", "worker", "retry", "budget", "handler", "deserialize", "flush", "commit", "index", "page",
    "cursor", "token", "lease", "epoch", "spool", "block", "render", "surface", "timeline", "adapter", "stream",
    "buffer", "socket", "timeout",
)  # fmt: skip
_ERRORS = ("KeyError", "ConnectionResetError: [Errno 104] ECONNRESET", "TimeoutError", "error[E0308]: mismatched types")


def _line(dice: random.Random) -> str:
    word, other = dice.choice(_WORDS), dice.choice(_WORDS)
    number = dice.randrange(10_000)
    match dice.randrange(8):
        case 0:
            return f"/srv/app/{word}/{other}.py:{number % 900}: in {word}_{other}"
        case 1:
            return f"2026-11-{number % 28 + 1:02} 12:{number % 60:02}:07 INFO worker-{number % 99} request {number:04x}"
        case 2:
            return f"    {word}.{other}({number}, {word}_{other}=self.{other})"
        case 3:
            return f"tests/test_{word}.py::test_{other}_{number % 100} PASSED in {number % 900} ms"
        case 4:
            return f"drwxr-xr-x  2 root root {number:>6} Nov 16 02:04 {word}-{other}.d"
        case 5 if number % 40 == 0:
            return f"{dice.choice(_ERRORS)} at 0x{dice.getrandbits(48):012x}"
        case 6 if number % 90 == 0:
            return f"warning: unused variable `{word}`; {other} took {number} ms"
        case _:
            return f"{word} {other} {number} of {number * 7 % 10_000} ({number % 100} %)"


def _home(folder: Path) -> Path:
    """The home, written by the first process that needs it."""
    home = folder / "search-home"
    if home.exists():
        return home
    dice = random.Random(7)
    partial = folder / "search-home.partial"
    for n in range(CONVERSATIONS):
        _write(ConversationFolder(partial / "conversations" / f"c{n}"), dice)
    partial.rename(home)
    return home


def _write(folder: ConversationFolder, dice: random.Random) -> None:
    folder.create()
    folder.write_settings(Settings(id=folder.path.name, epoch="e", created=1))
    events, blocks = EventLog(folder.events), BlockLog(folder)
    logged: list[AssistantText | AgentBlockBegin | AgentBlockEnd] = []
    at = 0
    with folder.spool.open("wb") as spool:
        for n in range(1, COMMANDS + 1):
            output = "".join(_line(dice) + "\n" for _ in range(LINES)).encode()
            spool.write(output)
            span = ByteRange(at, at + len(output))
            at = span.end
            command = f"pytest -q tests/test_{dice.choice(_WORDS)}.py"
            blocks.append(Block(f"b{n}", n, command, "/", "exec", n, span, span, "s", done_because="mark"))
            logged += [
                AssistantText(text=f"Now the {dice.choice(_WORDS)} of the {dice.choice(_WORDS)}.", ts=n),
                AgentBlockBegin(block_id=f"b{n}", block_seq=n, cmd=command, ts=n),
                AgentBlockEnd(block_id=f"b{n}", exit_code=0, done_because="mark", bytes=len(output), ts=n),
            ]
    events.append(logged, folder.path.name)
    events.close()
    blocks.close()


class _Index:
    """A search index in an event loop of its own."""

    def __init__(self, home: Path) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.index = SearchIndex(home)
        AT_END.append(self.close)

    def find(self, query: str) -> int:
        found = asyncio.run_coroutine_threadsafe(self.index.find(query), self._loop).result()
        return len(found.hits)

    def catch_up(self) -> None:
        asyncio.run_coroutine_threadsafe(self.index.catch_up(), self._loop).result()

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self.index.close(), self._loop).result()


def query(folder: Path) -> Run:
    """The median of the queries, each with a look for what is new."""
    index = _Index(_home(folder))
    index.catch_up()

    def run() -> Milliseconds:
        return _median(index.find)

    return run


def grep(folder: Path) -> Run:
    """The same texts in the files, as they are searched without an index."""
    home = _home(folder)
    files = [str(path) for path in sorted(home.glob("conversations/*/agent_pty/output.spool"))]
    files += [str(path) for path in sorted(home.glob("conversations/*/events.jsonl"))]

    def search(words: str) -> None:
        subprocess.run(["grep", "-nF", "--", words, *files], stdout=subprocess.DEVNULL, check=False)

    return lambda: _median(search)


def _median(search: Callable[[str], object]) -> Milliseconds:
    times = []
    for words in QUERIES:
        start = seconds()
        search(words)
        times.append((seconds() - start) * 1000)
    return Milliseconds(median(times))


def make(folder: Path) -> Run:
    """The index of all of it, from nothing."""
    home = _home(folder)

    async def build() -> None:
        index = SearchIndex(home)
        await index.catch_up()
        await index.close()

    def run() -> None:
        for path in home.glob("search.db*"):
            path.unlink()
        asyncio.run(build())

    return run


def fifteen_seconds(_folder: Path) -> Run:
    return lambda: Milliseconds(15_000)
