"""After a fault: one function that every fault test calls at its end, and the stage on which the fault happens.

    def test_the_server_is_killed(stage):
        c = stage.conversation()                      # on stage.server, a real `vantage serve`
        printer = stage.printer(c)                    # load: printer, runner, typist (load.py)
        stage.watcher()                               # a client that watches all conversations made so far
        printer.until(50)
        stage.server.kill(); stage.server.start()     # the fault
        assert_all_is_well(stage)

The fixture `stage` refuses a test that did not call it; the next test of the file goes on in the same home when all
was well. `stage.home` is the server's home, `stage.beside` a folder for
what is no part of it, `stage.pty(conversation, verb, **fields)` a verb that works, `stage.vantage(…)` the command line.
`stage.serve(*flags, **env)` starts a server with other settings in the same home (the first one is ended).
`assert_all_is_well` ends the load first (`stage.rest()`), so nothing a test asserts about it may come later.
"""

import json
import os
import random
import re
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from command_line import CommandLine, Ran
from extent import rounds
from load import Caller, Printer, Runner, Trace, Typist, Watcher
from machine import MARK, descriptors, living, marked, stat, until
from server_home import Server
from terminal_home import environment, host_pid, wait_until_gone
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.rebuild import rebuild


class StagedServer(Server):
    """Keeps what the server printed to stderr, also before a restart."""

    words = ""

    def _close(self) -> None:
        self.words += self.said()
        super()._close()

    @property
    def all_said(self) -> str:
        return self.words + ("" if self.errors.closed else self.said())


class Stage:
    """A home with a server, the load on it, and its state before the fault."""

    def __init__(self, home: Path, beside: Path) -> None:
        self.home = home
        self.beside = beside
        self.conversations: list[str] = []
        self.traces: list[Trace] = []
        self.watchers: list[Watcher] = []
        self.looked = self.well = False
        """Whether the aftermath was checked, and what was found."""
        self.server = StagedServer(home, **{MARK: str(home)})
        self._old_words: dict[str, int] = {}
        self._commands = CommandLine(home, **{MARK: str(home)})
        try:
            self._warm_up()
        except BaseException:
            self.end()
            raise
        self.before = descriptors(self.server.process.pid)
        """What an idle server has open."""

    @classmethod
    def new(cls) -> "Stage":
        return cls(*(Path(tempfile.mkdtemp(prefix="vantage-test-")) for _ in range(2)))

    def _warm_up(self) -> None:
        """Uses everything once, so that descriptors which stay open after their first use are open now."""
        warm = self.conversation("warm")
        self.pty(warm, "exec_block", command="echo warm")
        Watcher(self, [warm]).stop()
        self.get(f"/v1/search?q=warm&conversation={warm}")
        self.server.ask("DELETE", f"/v1/conversations/{warm}")
        self.conversations.remove(warm)
        until(lambda: not (self.home / "conversations" / warm).exists(), "the conversation is still there")
        until(lambda: not _about(descriptors(self.server.process.pid), "conversations/"), "its files are still open")

    # what a test does with it

    def acts(self, short: int = 1) -> Iterator[random.Random]:
        """The rounds of a test, each with its seed and beginning with nothing: see `extent.rounds`."""
        for number, seed in enumerate(rounds(short)):
            if number:
                self.clear()
            yield random.Random(seed)

    def serve(self, *flags: str, **env: str) -> None:
        """A server with other settings takes the home over."""
        said = self.server.all_said
        if self.server.running:
            said += self.server.said()
            self.server.stop()
        self.server = StagedServer(self.home, *flags, **{MARK: str(self.home), **env})
        self.server.words = said

    def conversation(self, name: str | None = None, **settings: Any) -> str:
        given = {"user_rc": False, "cwd": str(self.beside), "env": environment(**{MARK: str(self.home)}), **settings}
        made = self.server.post("/v1/conversations", {"id": name, **given} if name else given)
        assert made.status == 201, made.body
        self.conversations.append(made.json["id"])
        return made.json["id"]

    def pty(self, conversation: str, verb: str, **fields: Any) -> dict[str, Any]:
        return self.server.pty(conversation, verb, **fields)

    def insist(self, conversation: str, verb: str, **fields: Any) -> dict[str, Any]:
        """A verb that works in the end: asked again while the answer is "not now"."""
        said: list[Any] = []

        def works() -> bool:
            with suppress(OSError, HTTPException):
                said.append(self.server.post(f"/v1/conversations/{conversation}/pty/{verb}", fields))
                assert said[-1].status in (200, 409, 503), said[-1].body
            return bool(said) and said[-1].status == 200

        until(works, lambda: f"{verb} does not work: {said and said[-1].body}")
        return said[-1].json

    def get(self, path: str) -> Any:
        answer = self.server.get(path)
        assert answer.status == 200, answer.body
        return answer.json

    def vantage(self, *arguments: str, **env: str) -> Ran:
        return self._commands.run(*arguments, **env)

    def printer(self, conversation: str | None = None, **settings: Any) -> Printer:
        return self._traced(Printer(self, conversation or self.conversation(), **settings))

    def runner(self, conversation: str | None = None, **settings: Any) -> Runner:
        return self._started(Runner(self, conversation or self.conversation(), **settings))

    def typist(self, conversation: str | None = None) -> Typist:
        return self._started(Typist(self, conversation or self.conversation()))

    def watcher(self) -> Watcher:
        self.watchers.append(Watcher(self, list(self.conversations)))
        return self.watchers[-1]

    def _traced(self, trace: Any) -> Any:
        self.traces.append(trace)
        return trace

    def _started(self, caller: Any) -> Any:
        caller.start()
        return self._traced(caller)

    @property
    def callers(self) -> list[Caller]:
        return [trace for trace in self.traces if isinstance(trace, Caller)]

    @property
    def answers(self) -> dict[str, str]:
        """Messages of the refusals that callers got, by code."""
        return {code: words for caller in self.callers for code, words in caller.answers.items()}

    def folder(self, conversation: str) -> ConversationFolder:
        return ConversationFolder(self.home / "conversations" / conversation)

    def shell(self, conversation: str) -> int:
        return self.pty(conversation, "status")["pid"]

    @property
    def host(self) -> int:
        pid = host_pid(self.home)
        assert pid is not None, "there is no PTY host"
        return pid

    def news(self, name: str) -> str:
        """What was written to `server.log`, `host.log` or `stderr` since this test began."""
        return self._words(name)[self._old_words.get(name, 0) :]

    def _words(self, name: str) -> str:
        path = self.home / name
        return self.server.all_said if name == "stderr" else path.read_text() if path.exists() else ""

    def rest(self) -> None:
        """Ends the load; what still runs runs to its end."""
        for trace in self.traces:
            if isinstance(trace, Printer | Caller):
                trace.stop()
        for caller in self.callers:
            caller.ended()
        for conversation in self.conversations:
            until(lambda c=conversation: _rests(self.pty(c, "status")), lambda c=conversation: self._runs_on(c))

    def _runs_on(self, conversation: str) -> str:
        screen = "\n".join(self.pty(conversation, "read_screen")["rows"]).rstrip()
        return f"{conversation} runs on: {self.pty(conversation, 'status')}\n{screen}"

    def forget(self) -> None:
        """Deletes every conversation."""
        for conversation in self.conversations:
            assert self.server.ask("DELETE", f"/v1/conversations/{conversation}").status < 300
        self.conversations, self.traces, self.watchers = [], [], []

    def clear(self) -> None:
        """Resets the stage for another test."""
        self.forget()
        self.looked = self.well = False
        self._old_words = {name: len(self._words(name)) for name in ("server.log", "host.log", "stderr")}

    def end(self) -> None:
        """Ends what a test leaves running, also a test that failed."""
        for caller in self.callers:
            caller.stop()
        for pid in marked(self.home):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.server.end()
        for pid in marked(self.home):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            wait_until_gone(pid)
        for watcher in self.watchers:
            with suppress(BaseException):
                watcher.stop()
        self._commands.__exit__()
        for place in (self.home, self.beside):
            shutil.rmtree(place)


def _rests(status: dict[str, Any]) -> bool:
    return status["mode"] in ("idle", "exited") and not status["stalled"]


@pytest.fixture(scope="module")
def stages() -> Iterator[list[Stage]]:
    """The stage that the next test of a file gets, if the last one left it whole."""
    standing: list[Stage] = []
    yield standing
    for each in standing:
        each.end()


@pytest.fixture
def stage(stages: list[Stage]) -> Iterator[Stage]:
    """A home with a server, and room for what is beside it. A test that does not look at the end of it fails.

    A home in which all is well after a fault is good enough for the next one: starting a server costs a second.
    """
    made = stages.pop() if stages else Stage.new()
    try:
        yield made
        assert made.looked, "a fault test ends with assert_all_is_well(stage)"
        if made.well:
            made.clear()
            stages.append(made)
    finally:
        if made not in stages:
            made.end()


def assert_all_is_well(
    stage: Stage,
    *,
    host_died: bool = False,
    shell_died: bool = False,
    reset: bool = False,
    said: Mapping[str, str] | None = None,
    failures: str = "",
    host_log: str = "",
) -> None:
    """No byte lost or made up, no wrong state, nothing leaked, what happened was said, and search finds it.

    `host_died`, `shell_died`: what its programs printed last may have died with the terminal: their output is a
    beginning of what they noted. Commands that were answered, and what was typed and heard, must be there all the same.
    `reset`: the fault leaves terminals that need one. `said`: place → a text (regular expression) that must be there;
    places are `log` (server.log), `host log`, `stderr` (of the server), `doctor`, `answers` (to callers, see load.py).
    `failures`, `host_log`: expressions for records of level error, and lines of host.log, that belong to this fault.
    """
    stage.looked = True
    stage.rest()
    assert stage.server.running, stage.server.all_said
    known = [each["id"] for each in stage.get("/v1/conversations")["conversations"]]
    assert sorted(known) == sorted(stage.conversations)
    for conversation in known:
        if reset:
            stage.pty(conversation, "reset")
        _state_agrees_with_the_machine(stage, conversation)
        _shell_answers(stage, conversation)
        _watchers_have_what_there_is(stage, conversation)
    for trace in stage.traces:
        _found(stage, trace)
    _said(stage, said or {}, failures, host_log)
    for conversation in known:
        _files_agree(stage, conversation)
    for trace in stage.traces:
        _nothing_lost(stage, trace, whole=not (host_died or shell_died))
    for watcher in stage.watchers:
        watcher.stop()
    _nothing_leaked(stage)
    stage.well = True


# no wrong state


def _state_agrees_with_the_machine(stage: Stage, conversation: str) -> None:
    status = stage.pty(conversation, "status")
    if status["mode"] == "exited":
        assert not living(status["pid"]), f"{conversation} is said to have ended: {status}"
        return
    if not status["pid"]:  # no shell was needed yet
        return
    state, parent, group, session, _, foreground, *_ = stat(status["pid"])
    assert (state in "SR", int(parent), int(session)) == (True, stage.host, status["pid"]), status
    assert status["mode"] == "idle", status
    assert group == foreground, f"another program has the terminal of {conversation}: {status}"
    assert status["active_block_id"] is None, status


def _shell_answers(stage: Stage, conversation: str) -> None:
    """A command whose output only the shell can know."""
    one, other = time.monotonic_ns() % 9973, os.getpid()
    ran = stage.pty(conversation, "exec_block", command=f"echo $$ $(({one} * {other}))")
    assert ran["output"] == f"{stage.shell(conversation)} {one * other}\n", ran
    assert (ran["exit_code"], ran["done_because"]) == (0, "mark"), ran


def _watchers_have_what_there_is(stage: Stage, conversation: str) -> None:
    """A watcher that stayed all the time has exactly the rows that a new client gets."""
    fresh = Watcher(stage, [conversation])
    now = fresh.view(conversation)
    fresh.stop()
    last = f"/v1/conversations/{conversation}/rows?surface=plain&limit=200&before={1 << 40}"
    asked = stage.get(last)["rows"]
    assert {row["row"]["id"]: (row["row"]["seq"], row["text"]) for row in asked} == now
    ends = [e["block_id"] for e in _events(stage, conversation) if e["type"] == "agent_block_end"]
    for watcher in stage.watchers:
        if conversation not in watcher.conversations:
            continue

        def sees(watcher: Watcher = watcher) -> bool:
            kept = watcher.view(conversation)
            return {name: kept.get(name) for name in now} == now and (len(now) == 200 or len(kept) == len(now))

        until(sees, lambda w=watcher: f"{conversation}: kept {_unlike(w.view(conversation), now)}; {w.trouble}")
        heard = [
            block["block_id"]
            for block in watcher.kept.blocks
            if block["type"] == "agent_block_end" and block["conversation_id"] == conversation
        ]
        assert len(heard) == len(set(heard)), f"told twice: {heard}"
        assert set(heard) <= set(ends), f"made up: {set(heard) - set(ends)}"


def _unlike(kept: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    return {name: (kept.get(name), now.get(name)) for name in kept | now if kept.get(name) != now.get(name)}


# no byte lost or made up


def _files_agree(stage: Stage, conversation: str) -> None:
    folder = stage.folder(conversation)
    # output is copied for blocks/ behind the scenes
    until(lambda: not _differences(folder, conversation), lambda: f"{_differences(folder, conversation)}")
    _journal_fits(folder)
    events = _events(stage, conversation)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    begun = [event["block_id"] for event in events if event["type"] == "agent_block_begin"]
    ended = [event["block_id"] for event in events if event["type"] == "agent_block_end"]
    assert len(begun) == len(set(begun)), f"begun twice: {begun}"
    assert begun == ended, "blocks end once, in their order, and none runs"
    seqs = {(event["type"], event["block_id"]): event["seq"] for event in events if "block_id" in event}
    assert all(seqs["agent_block_begin", block] < seqs["agent_block_end", block] for block in ended)
    lines = folder.block_log.read_bytes().splitlines() if folder.block_log.exists() else []
    assert [block["block_id"] for block in map(json.loads, lines)] == ended


def _events(stage: Stage, conversation: str) -> list[dict[str, Any]]:
    content = stage.folder(conversation).events.read_bytes()
    assert content.endswith(b"\n") or not content, "the last line of events.jsonl is torn"
    return [json.loads(line) for line in content.splitlines()]


def _differences(folder: ConversationFolder, conversation: str) -> list[Any]:
    return rebuild(folder, conversation, check=True).differences


def _journal_fits(folder: ConversationFolder) -> None:
    if not folder.journal.exists():
        return
    content = folder.journal.read_bytes()
    assert content.endswith(b"\n"), "the last line of the journal is torn"
    records = [json.loads(line) for line in content.splitlines()]
    raw = folder.raw.read_bytes() if folder.raw.exists() else b""
    places = [record["at"] for record in records]
    assert places == sorted(places)
    assert all(place <= len(raw) for place in places), "the journal knows of bytes that are not there"
    named = [(record["from"], record["to"]) for record in records if record["t"] == "gap"]
    holes = [span.span() for span in re.finditer(rb"\0+", raw)]
    unnamed = [(a, b) for a, b in holes if not any(begin <= a and b <= end for begin, end in named)]
    assert not unnamed, f"{folder.raw}: bytes are missing that no record names: {unnamed}"


def _nothing_lost(stage: Stage, trace: Trace, *, whole: bool) -> None:
    spool = stage.folder(trace.conversation).spool.read_text()
    assert f"{trace.word} odd" not in spool, "what was typed is not what was heard"
    printed = trace.printed(spool)
    for word, numbers in printed.items():
        assert numbers == list(range(1, len(numbers) + 1)), f"{word} has {_out_of_order(numbers)}"
    for word, certain in trace.noted().items():
        if whole or not isinstance(trace, Printer):
            assert len(printed.get(word, [])) >= certain, f"{word} had got to {certain}"


def _out_of_order(numbers: list[int]) -> str:
    place = next(i for i, number in enumerate(numbers) if number != i + 1)
    return f"{numbers[max(place - 3, 0) : place + 5]} from its line {place - 2} on"


# it was said, and search finds it


def _said(stage: Stage, expected: Mapping[str, str], failures: str, host_log: str) -> None:
    places: dict[str, Callable[[], str]] = {
        "log": lambda: stage.news("server.log"),
        "host log": lambda: stage.news("host.log"),
        "stderr": lambda: stage.news("stderr"),
        "doctor": lambda: stage.vantage("doctor").out,
        "answers": lambda: "\n".join(f"{code}: {words}" for code, words in stage.answers.items()),
    }
    for place, text in expected.items():
        assert re.search(text, places[place]()), f"{place} does not say {text!r}: {places[place]()[-2000:]}"
    assert "Traceback" not in places["stderr"](), places["stderr"]()
    for line in places["log"]().splitlines():
        wrong = json.loads(line).get("level") in ("error", "critical")
        assert not wrong or (failures and re.search(failures, line)), line
    log = places["host log"]().strip()
    assert not log or (host_log and re.search(host_log, log)), log


def _found(stage: Stage, trace: Trace) -> None:
    """Search finds the printed words. The command line has the word too, but without a number after it."""
    for word in list(trace.printed(stage.folder(trace.conversation).spool.read_text()))[-1:]:
        phrase = quote(f'"{word} 1"')
        path = f"/v1/search?q={phrase}&conversation={trace.conversation}"
        until(lambda path=path: stage.get(path)["hits"], f"{word} is not found")


# nothing leaked

_ID = r"conversations/[\w.-]+"
_FILES = re.compile(
    "|".join(
        (
            r"token|tokens\.json|config\.toml|tools\.json|run/.*|mcp\.sock|search\.db(-wal|-shm)?",
            r"host\.(json|lock|log|sock)|server\.(json|lock|log(\.\d)?|sock)",
            rf"{_ID}/(conversation\.json|events\.jsonl|clients\.json|tools\.jsonl|assets/.*)",
            rf"{_ID}/agent_pty/(output\.(raw|index|spool)|blocks\.jsonl|blocks/\d+_\d+\.out)",
            rf"{_ID}/agent_pty/(position|screen\.(jsonl|snapshot\.json)|checkpoints/\d{{16}}\.(state|screen))",
        )
    )
)
"""The files and folders that may be in a home."""


def _nothing_leaked(stage: Stage) -> None:
    shells = {stage.shell(conversation) for conversation in stage.conversations}
    expected = {stage.server.process.pid, stage.host, *shells}
    until(lambda: set(marked(stage.home)) == expected, lambda: f"{marked(stage.home)}, but expected {expected}")
    until(lambda: not _more(stage), lambda: f"more descriptors than before: {_more(stage)}")
    until(lambda: not _odd_files(stage.home), lambda: f"left in the home: {_odd_files(stage.home)}")


def _odd_files(home: Path) -> list[str]:
    """The files that do not belong in a home. A living server's temporary file is one until it is renamed."""
    files = [str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir()]
    return [name for name in files if not _FILES.fullmatch(name)]


def _more(stage: Stage) -> dict[str, int]:
    """Descriptors that leaked: each file of a conversation may be open once, the rest is as it was."""
    server, host = descriptors(stage.server.process.pid), descriptors(stage.host)
    shells = len(stage.conversations)
    streams, spare = 2, 1
    nothing = {"/dev/null": streams + spare}
    at_rest = Counter({"socket": 4, "anon": 1, **nothing, "host.log": 1, "host.lock": 1, "ptmx": shells})
    return {
        **{f"server {name}": n for name, n in (server - stage.before).items() if _id_of(name) is None or n > 1},
        **{f"host {name}": n for name, n in (host - at_rest).items() if _id_of(name) is None or n > 1},
    }


def _id_of(name: str) -> re.Match[str] | None:
    return re.match(_ID, name)


def _about(found: Counter[str], prefix: str) -> list[str]:
    return [name for name in found if name.startswith(prefix)]
