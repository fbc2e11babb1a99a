"""An agent's stream becomes a conversation: live, in order, each event once, also when the server is killed."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from places import FIXTURES
from server_home import serving
from terminal_home import PATIENCE, environment, wait_until_gone
from terminals import VANTAGE
from vantage.agents import StrayLine, StreamReader
from vantage.events import UnknownEvent, event_to_dict

AGENTS = FIXTURES / "agents"
STREAMS = sorted(path for path in AGENTS.glob("*/*.jsonl") if path.stem in ("session", "everything", "cut-off"))


def ingest(home, *arguments, input: bytes = b"", **env: str):
    return subprocess.run(
        [*VANTAGE, "ingest", "--home", str(home), *arguments],
        input=input,
        capture_output=True,
        env=environment(**env),
        timeout=PATIENCE,
    )


@contextmanager
def ingesting(home, *arguments):
    """The program, with its input at hand."""
    process = subprocess.Popen(
        [*VANTAGE, "ingest", "--home", str(home), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()
        process.wait(PATIENCE)


def say(process, *texts):
    for text in texts:
        process.stdin.write(json.dumps({"type": "assistant_text", "text": text}).encode() + b"\n")
    process.stdin.flush()


def logged(server, conversation) -> list[dict]:
    answer = server.get(f"/v1/conversations/{conversation}/events?limit=10000")
    assert answer.status == 200, (answer.status, answer.body)
    return answer.json["events"]


def texts(events) -> list[str]:
    return [event["text"] for event in events]


def eventually(look, expected):
    """Repeats a request until the condition holds. Each request waits for its answer, so there is no busy loop."""
    deadline = time.monotonic() + PATIENCE
    while (found := look()) != expected and time.monotonic() < deadline:
        pass
    assert found == expected


def conversation_of(done) -> str:
    said = done.stderr if isinstance(done.stderr, bytes) else done.stderr.readline()
    return said.decode().split("conversation ", 1)[1].split(":", 1)[0]


def without_times(events):
    ours = ("seq", "ts", "conversation_id")
    return [{key: value for key, value in event.items() if key not in ours} for event in events]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_agents_stream_is_logged(server, path):
    data = path.read_bytes()
    reader = StreamReader()
    items = [*reader.feed(data), *reader.finish()]
    expected = [
        event_to_dict(item)
        for item in items
        if not isinstance(item, StrayLine | UnknownEvent) and item.type not in ("agent_block_delta", "screen_delta")
    ]
    done = ingest(server.home, str(path))
    assert done.returncode == 0, done.stderr
    assert without_times(logged(server, conversation_of(done))) == json.loads(
        json.dumps(without_times(expected), default=str)
    )


def test_it_says_where_and_what_it_could_not_read(server):
    lines = [
        b"npm WARN deprecated",
        b'{"type": "assistant_text", "text": "hello"}',
        b'{"type": "never_heard_of", "x": 1}',
        b'{"type": "assistant_text", "te',
    ]
    done = ingest(server.home, "--conversation", "i-said", "--name", "A run", input=b"\n".join(lines))
    assert done.returncode == 0
    where, first, last, unknown = done.stderr.decode().splitlines()
    assert where == f"vantage ingest: conversation i-said: watch it at {server.url}, or with 'vantage watch i-said'"
    assert first.startswith("vantage ingest: line 1: not JSON")
    assert last.startswith("vantage ingest: line 4: not JSON")
    assert unknown == "vantage ingest: 1 message of unknown type not logged: -v logs them"
    assert texts(logged(server, "i-said")) == ["hello"]
    assert server.get("/v1/conversations/i-said").json["name"] == "A run"
    again = ingest(server.home, "--conversation", "i-said", "-v", "--from", "vantage", input=lines[2])
    assert again.stderr.count(b"\n") == 1
    assert [event["type"] for event in logged(server, "i-said")] == ["assistant_text", "never_heard_of"]


def test_it_is_live(server):
    with ingesting(server.home) as process:
        conversation = conversation_of(process)
        for n in range(3):
            say(process, f"message {n}")
            eventually(lambda: texts(logged(server, conversation)), [f"message {n}" for n in range(n + 1)])
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_many_events_in_their_order(server):
    lines = b"".join(b'{"type": "assistant_text", "text": "%d"}\n' % n for n in range(5000))
    done = ingest(server.home, input=lines)
    assert done.returncode == 0, done.stderr
    assert texts(logged(server, conversation_of(done))) == [str(n) for n in range(5000)]


def test_tee_passes_the_input_on(server):
    data = b'\x00\xff not json\r\n{"type": "assistant_text", "text": "x"}\n\nlast line without an end'
    done = ingest(server.home, "--tee", input=data)
    assert done.stdout == data
    assert texts(logged(server, conversation_of(done))) == ["x"]
    assert ingest(server.home, input=data).stdout == b""


def test_tee_whose_reader_has_gone(server):
    with ingesting(server.home, "--tee") as process:
        conversation = conversation_of(process)
        say(process, "one")
        assert json.loads(process.stdout.readline())["text"] == "one"
        process.stdout.close()
        say(process, "two")
        say(process, "three")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        assert texts(logged(server, conversation)) == ["one", "two", "three"]


def test_a_saved_log_is_shown_and_changes_no_terminal(server):
    """Commands of another terminal are rows of commands that ran elsewhere; its state and screen are left out."""
    events = [
        {"type": "user_message", "text": "look"},
        {"type": "pty_state", "mode": "block_running", "awaiting_secret": True, "keyboard": "client:eve"},
        {"type": "agent_block_begin", "block_id": "b1", "cmd": "ls /nowhere", "cwd": "/srv", "raw_offset": 7},
        {"type": "agent_block_delta", "block_id": "b1", "text": "x"},
        {"type": "agent_block_end", "block_id": "b1", "exit_code": 2, "done_because": "mark", "duration_ms": 12.0},
        {"type": "pty_gap", "from": 0, "to": 10, "why": "old"},
    ]
    done = ingest(server.home, input=b"\n".join(json.dumps(event).encode() for event in events))
    assert (done.returncode, b"not logged" in done.stderr) == (0, False), done.stderr
    conversation = conversation_of(done)
    found = logged(server, conversation)
    assert [event["type"] for event in found] == ["user_message", "tool_start", "tool_end"]
    assert found[1]["args"] == {"command": "ls /nowhere", "cwd": "/srv"}
    rows = server.get(f"/v1/conversations/{conversation}/rows?surface=plain&width=80").json["rows"]
    assert "Ran ls /nowhere" in rows[1]["text"]
    assert rows[1]["row"]["status"] == "error"
    about = server.get(f"/v1/conversations/{conversation}").json
    assert (about["keyboard"], about["state"]) == ("agent", "idle")
    assert server.pty(conversation, "blocks")["blocks"] == []


def test_what_people_were_asked_elsewhere_is_not_taken(server):
    """Nor what an agent did there: both are a server's own word. All other lines are logged."""
    events = [
        {"type": "user_message", "text": "deploy"},
        {"type": "request", "request_id": "r1-1", "kind": "question", "title": "Go on?"},
        {"type": "answer", "request_id": "r1-1", "text": "yes", "by": "cli"},
        {"type": "assistant_text", "text": "deployed"},
        {"type": "request_closed", "request_id": "r1-1", "why": "too_late"},
        {"type": "AgentState", "state": "idle"},
        {"type": "turn_complete"},
    ]
    done = ingest(server.home, "-v", input=b"\n".join(json.dumps(event).encode() for event in events))
    assert done.returncode == 1
    _, *said = done.stderr.decode().splitlines()
    assert [line.partition(" is not taken")[0].removeprefix("vantage ingest: ") for line in said] == [
        "line 2: request",
        "line 3: answer",
        "line 5: request_closed",
        "line 6: agent_state",
        "4 of the events were not logged",
    ]
    found = logged(server, conversation_of(done))
    assert [event["type"] for event in found] == ["user_message", "assistant_text", "turn_complete"]
    assert server.get("/v1/requests?state=all&conversation=" + conversation_of(done)).json["requests"] == []


def test_an_event_that_the_server_does_not_take_costs_no_other(server):
    def call(levels):
        return b'{"type": "tool_start", "tool": "x", "toolCallId": "1", "args": %s}' % (b"[" * levels + b"]" * levels)

    lines = [
        b'{"type": "assistant_text", "text": "before"}',
        call(2000),
        b"this is no message",
        call(70),
        b'{"type": "assistant_text", "text": "\\ud800 surrogate"}',
        b'{"type": "assistant_text", "text": "%s"}' % (b"x" * (17 << 20)),
        b'{"type": "assistant_text", "text": "after"}',
    ]
    done = ingest(server.home, "--from", "vantage", input=b"\n".join(lines))
    assert done.returncode == 1, "three events are lost"
    said = done.stderr.decode()
    assert [number for number in (2, 3, 4, 6) if f"line {number}: " not in said] == [], said
    assert said.endswith("vantage ingest: 3 of the events were not logged\n")
    found = [event["text"] for event in logged(server, conversation_of(done)) if event["type"] == "assistant_text"]
    assert [found[0], found[-1]] == ["before", "after"]
    assert len(found) == 3


def test_a_conversation_that_is_deleted_meanwhile(server):
    with ingesting(server.home, "--tee") as process:
        conversation = conversation_of(process)
        say(process, "one")
        eventually(lambda: texts(logged(server, conversation)), ["one"])
        assert server.ask("DELETE", f"/v1/conversations/{conversation}").status in (200, 204)
        say(process, "two")
        assert process.stderr.readline().startswith(b"vantage ingest: nothing more is logged: there is no conversation")
        say(process, "three")
        process.stdin.close()
        passed = [json.loads(line)["text"] for line in process.stdout]
        assert passed == ["one", "two", "three"]
        assert process.wait(PATIENCE) == 1
        assert process.stderr.read() == b"vantage ingest: 2 of the events were not logged\n"


def test_wrong_usage(server, tmp_path):
    for arguments, code in [
        (["--from", "cobol"], 2),
        ([str(tmp_path / "missing.jsonl")], 2),
        (["--conversation", "../x"], 2),
    ]:
        done = ingest(server.home, *arguments)
        assert done.returncode == code
        assert done.stderr.count(b"\n") == 1, done.stderr
    (tmp_path / "file").write_text("")
    done = ingest(tmp_path / "file")
    assert done.returncode == 3
    assert done.stderr.count(b"\n") == 1, done.stderr


# the server ends and is started again


def server_pid(home) -> int:
    return json.loads((home / "server.json").read_text())["pid"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_goes_in_the_middle_of_it(private_home, how):
    with serving(private_home) as server, ingesting(private_home) as process:
        conversation = conversation_of(process)
        say(process, "first")
        eventually(lambda: texts(logged(server, conversation)), ["first"])
        said = [str(n) for n in range(2000)]
        say(process, *said[:1000])
        server.stop(how)
        say(process, *said[1000:])
        process.stdin.close()
        assert process.wait(PATIENCE) == 0, process.stderr.read()
        assert log_of(private_home, conversation) == ["first", *said]
        last = server_pid(private_home)  # the one that it started itself
        os.kill(last, signal.SIGTERM)
        wait_until_gone(last)


def log_of(home, conversation) -> list[str]:
    lines = (home / "conversations" / conversation / "events.jsonl").read_bytes().split(b"\n")[:-1]
    events = [json.loads(line) for line in lines]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    return texts(events)


class Unreliable(threading.Thread):
    """A proxy before a server, in a home of its own. `fate` decides what happens to the events of a request."""

    def __init__(self, server, home, fate) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._fate = fate
        self.requests = 0
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(home / "s"))
        self._listening.listen()
        address = {**server.address, "socket": str(home / "s")}
        (home / "server.json").write_text(json.dumps(address))
        (home / "token").write_text(server.token)

    def run(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection) -> None:
        with connection, connection.makefile("rb") as stream:
            while line := stream.readline():
                method, path, _ = line.decode().split()
                length = 0
                while (header := stream.readline()).strip():
                    if header.lower().startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                body = stream.read(length) or None
                answering = True
                if method == "POST" and path.endswith("/events"):
                    self.requests += 1
                    events = json.loads(body)
                    taken, answering = self._fate(self.requests, len(events))
                    body = json.dumps(events[:taken])
                    if not taken:
                        return
                answer = self._server.ask(method, path, body, headers={"Content-Type": "application/json"})
                if not answering:
                    return
                head = f"HTTP/1.1 {answer.status} x\r\nContent-Length: {len(answer.body)}\r\n\r\n"
                connection.sendall(head.encode() + answer.body)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.join()


FATES = {
    "never came": lambda request, _count: (0, False) if request % 2 else (1 << 30, True),
    "logged, but the answer was lost": lambda _request, _count: (1 << 30, False),
    "half of it logged": lambda request, count: (count // 2, False) if request % 3 else (count, True),
    "all but one": lambda _request, count: (max(count - 1, 1), False),
}


@pytest.mark.parametrize("fate", FATES)
def test_an_answer_that_never_came(server, fate):
    with tempfile.TemporaryDirectory(prefix="v-") as place:
        unreliable = Unreliable(server, Path(place), FATES[fate])
        unreliable.start()
        try:
            with server.conversation() as conversation, ingesting(place, "--conversation", conversation) as process:
                expected = []
                for n in range(3):
                    batch = [f"{n}.{m}" for m in range(8)]
                    batch[3] = batch[4] = "the same twice"
                    say(process, *batch)
                    # another client writes there, too
                    server.post(f"/v1/conversations/{conversation}/events", {"type": "user_message", "text": "me"})
                    expected += batch
                    eventually(
                        lambda: [text for text in texts(logged(server, conversation)) if text != "me"], list(expected)
                    )
                process.stdin.close()
                assert process.wait(PATIENCE) == 0
                assert [text for text in texts(logged(server, conversation)) if text != "me"] == expected
        finally:
            unreliable.close()


def test_the_conversation_of_the_environment(server):
    line = b'{"type": "user_message", "text": "here"}\n'
    with server.conversation() as named, server.conversation() as stated:
        done = ingest(server.home, input=line, VANTAGE_CONVERSATION=named)
        assert (done.returncode, conversation_of(done)) == (0, named), done.stderr
        done = ingest(server.home, "--conversation", stated, input=line, VANTAGE_CONVERSATION=named)
        assert conversation_of(done) == stated, "what is given here wins"
        assert len(logged(server, named)) == len(logged(server, stated)) == 1
