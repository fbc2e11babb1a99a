"""The server under load, by the clock on the wall: many who watch, many who work, and what HTTP adds to a call."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.run.answers import AT_END, Milliseconds, Several
from bench.subscribers import Crowd, Subscriber, stamp
from bench.terminal import COMMANDS, TICKING, Run, _Loop, _memory

SUBSCRIBERS = 500
EVENTS = 20
"""That one round of `fanout` says, a tenth of a second apart."""
CONVERSATIONS = 100
SECONDS = 10
"""Of one round of `many_execs`; six rounds are a minute."""
SLOW_TICKS = 50
"""A second: on a busy machine none is printed while the last one is still waited for."""
BARE = Path(__file__).parent / "peers/bare_sockets.py"


class Server:
    """`vantage serve` in a home of its own, which goes with it."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="vantage-bench-")
        command = [sys.executable, "-m", "vantage", "serve", "--home", self._home.name, "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline(), "the server did not start"
        home = Path(self._home.name)
        self.port = int(json.loads((home / "server.json").read_text())["url"].rpartition(":")[2])
        self.token = (home / "token").read_text().strip()
        AT_END.append(self.close)

    @property
    def home(self) -> str:
        return self._home.name

    def caller(self) -> "Caller":
        return Caller(self.port, self.token)

    def conversation(self, name: str) -> str:
        caller = self.caller()
        caller.post("", id=name, user_rc=False, env=dict(os.environ))
        caller.close()
        return name

    @property
    def memory(self) -> float:
        """Megabytes of the server and its PTY host."""
        host = Path(self._home.name) / "host.json"
        pids = [self.process.pid, *([json.loads(host.read_text())["pid"]] if host.exists() else [])]
        return sum(map(_memory, pids))

    def close(self) -> None:
        caller = self.caller()
        for each in caller.ask("GET", "/v1/conversations")["conversations"]:
            caller.post(f"/{each['id']}/close")
        caller.close()
        self.process.terminate()
        self.process.communicate()
        self._home.cleanup()


class Caller:
    """A connection that stays open from call to call."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        said = json.loads(answer.read() or b"null")
        assert answer.status < 300, said
        return said

    def post(self, path: str, **fields: Any) -> Any:
        return self.ask("POST", f"/v1/conversations{path}", fields)

    def close(self) -> None:
        self._connection.close()


# many who watch


def fanout(_corpus: Path) -> Run:
    """An event is appended over HTTP; each of 500 sockets is sent the row that is drawn from it."""
    server = Server()
    server.conversation("busy")
    subscribers = []
    for number in range(SUBSCRIBERS):
        one = Subscriber(server.port, server.token)
        one.say(json.dumps({"type": "hello", "client_id": f"client {number}"}).encode())
        one.say(json.dumps({"type": "subscribe", "conversation_id": "busy", "surface": "html"}).encode())
        subscribers.append(one)
    caller = server.caller()

    def say() -> None:
        caller.ask("POST", "/v1/conversations/busy/events", [{"type": "assistant_text", "text": _said()}])

    return _measured(Crowd(subscribers), say)


def bare_fanout(_corpus: Path) -> Run:
    """The same stack with nothing on it: what is posted is sent to 500 sockets as it is."""
    process = subprocess.Popen([sys.executable, BARE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = int(process.stdout.readline())
    AT_END.append(lambda: (process.terminate(), process.wait()))
    caller = Caller(port, "")

    def say() -> None:
        caller.ask("POST", "/", _said() * 4)  # about the length of the row

    return _measured(Crowd([Subscriber(port) for _ in range(SUBSCRIBERS)]), say)


def _said() -> str:
    return f"The build has **finished** at {stamp()}; see `make.log` for what it said."


def _measured(crowd: Crowd, say: Callable[[], None]) -> Run:
    """How late it is heard of, in milliseconds: the median, and what one in a hundred exceeds."""
    AT_END.insert(0, crowd.close)
    crowd.until_quiet()

    def run() -> Several:
        late: list[float] = []
        for _ in range(EVENTS):
            time.sleep(0.1)
            said = threading.Thread(target=say)
            said.start()
            late += crowd.late()
            said.join()
        return Several((median(late), quantiles(late, n=100)[98]))

    return run


# many who work


def many_execs(_corpus: Path) -> Run:
    """A hundred conversations run a command each second.

    The median of call to return in milliseconds, and by how many megabytes server and host have grown after a thousand
    commands.
    """
    work = _ManyExecs()

    def run() -> Several:
        before = work.server.memory
        took = median(work.run())
        return Several((took, max(work.server.memory - before, 0.001)))

    return run


def one_exec(corpus: Path) -> Run:
    """The same call on an idle server; and a megabyte."""
    run = exec_http(corpus)
    return lambda: Several((run(), 1.0))


class _ManyExecs:
    def __init__(self) -> None:
        self.server = Server()
        self._callers = []
        for number in range(CONVERSATIONS):
            name = self.server.conversation(f"c{number}")
            caller = self.server.caller()
            caller.post(f"/{name}/pty/exec_block", command="seq 5000")  # as much as its screen remembers
            self._callers.append((name, caller))

    def run(self) -> list[float]:
        """Milliseconds of each command. Each conversation has its own moment of the second."""
        times: list[float] = []
        start = time.perf_counter() + 0.1

        def work(number: int) -> None:
            name, caller = self._callers[number]
            for second in range(SECONDS):
                time.sleep(max(start + second + number / CONVERSATIONS - time.perf_counter(), 0))
                began = time.perf_counter()
                answer = caller.post(f"/{name}/pty/exec_block", command="echo hello")
                times.append((time.perf_counter() - began) * 1000)
                assert answer["output"] == "hello\n"

        threads = [threading.Thread(target=work, args=(number,)) for number in range(CONVERSATIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(times) == CONVERSATIONS * SECONDS
        return times


# what HTTP adds


def exec_http(_corpus: Path) -> Callable[[], Milliseconds]:
    server = Server()
    name, caller = server.conversation("c"), server.caller()
    path = f"/{name}/pty/exec_block"
    caller.post(path, command="true")

    def run() -> Milliseconds:
        times = []
        for _ in range(COMMANDS):
            time.sleep(0.002)  # the shell is at its prompt by then, as it is in process
            start = time.perf_counter()
            caller.post(path, command="true")
            times.append(time.perf_counter() - start)
        return Milliseconds(median(times) * 1000)

    return run


def wait_added(_corpus: Path) -> Run:
    """How much later a wait returns over HTTP than in process."""
    server = Server()
    name, caller = server.conversation("c"), server.caller()
    loop = _Loop()
    terminal = loop.terminal()
    command = f"{sys.executable} {TICKING} {SLOW_TICKS} {1000 / SLOW_TICKS}"

    def over_http(verb: str, **fields: Any) -> Any:
        return caller.post(f"/{name}/pty/{verb}", **fields)

    def in_process(verb: str, **fields: Any) -> Any:
        return loop.run(getattr(terminal, verb)(**fields))

    def run() -> Milliseconds:
        return Milliseconds(max(_late(over_http, command) - _late(in_process, command), 0.001))

    return run


def _late(call: Callable[..., Any], command: str) -> float:
    """Milliseconds from when a program prints a line to when the wait for it returns."""
    late = []
    game = call("exec_interactive", command=command)
    cursor = game["cursor"]
    for number in range(SLOW_TICKS):
        found = call("wait_for", match=f"tick {number} at [0-9]+\n", regex=True, from_cursor=cursor)
        now = time.monotonic_ns()
        late.append(now - int(found["match_text"].split()[-1]))
        cursor = found["cursor"]
    call("wait_for", match="EOF", session_id=game["session_id"])
    return median(late) / 1e6


def three_milliseconds(_corpus: Path) -> Run:
    return lambda: Milliseconds(3.0)
