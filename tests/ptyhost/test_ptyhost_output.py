"""What the host writes and tells: every byte and its meaning are on the disk before a client hears of them."""

import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from host_harness import Home, end, stat, state
from places import TESTS
from vantage.ptyhost import protocol


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


@pytest.fixture
def client(home):
    return home.client()


def test_a_program_is_opened_prints_and_ends(client):
    opened = client.run("sh", "-c", "echo hello; exit 7", cols=90, rows=33, record={"shell_id": "s-1", "kind": "sh"})
    ended = client.event("exit")
    assert client.raw() == b"hello\r\n"
    shell, *_, last = client.records()
    assert shell["t"] == "shell"
    assert (shell["at"], shell["shell_id"], shell["kind"], shell["pid"]) == (0, "s-1", "sh", opened["pid"])
    assert (shell["cols"], shell["rows"], shell["cwd"]) == (90, 33, "/")
    assert (last["t"], last["at"], last["status"], last["signal"]) == ("exit", 7, 7, None)
    assert ended["offset"] == 7
    assert ended["journal"] == (client.folder() / protocol.INDEX_NAME).stat().st_size
    assert opened["offset"] == 0
    first = (client.folder() / protocol.INDEX_NAME).read_bytes()[: opened["journal"]]
    assert json.loads(first) == shell


def test_a_record_cannot_change_what_the_host_knows(client):
    opened = client.run("sh", "-c", "exit 0", record={"t": "exit", "pid": 1, "at": 99, "ts": 0})
    client.event("exit")
    shell = client.records()[0]
    assert (shell["t"], shell["pid"], shell["at"]) == ("shell", opened["pid"], 0)
    assert shell["ts"] > 0


def test_an_end_by_signal_is_told_apart(client):
    client.run("sh", "-c", "kill -SEGV $$")
    client.event("exit")
    last = client.records()[-1]
    assert (last["status"], last["signal"]) == (None, signal.SIGSEGV)


def test_the_next_process_continues_the_files(client):
    client.run("echo", "one")
    client.event("exit")
    assert client.open("echo", "two")["offset"] == 5
    client.event("exit")
    assert client.raw() == b"one\r\ntwo\r\n"
    assert client.kinds() == ["shell", "exit", "shell", "exit"]
    assert [record["at"] for record in client.records() if record["t"] == "shell"] == [0, 5]


def test_a_living_terminal_is_not_opened_again(client):
    pid = client.run("cat")["pid"]
    answer = client.answer(
        client.send("open", terminal="t", folder=str(client.folder()), argv=["cat"], env={}, cwd="/", cols=80, rows=24)
    )
    assert answer["error"] == "exists"
    assert str(pid) in answer["message"]
    client.ask("kill", terminal="t")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"argv": ["/proc/none/program"]}, "cannot run /proc/none/program: No such file or directory"),
        ({"cwd": "/proc/none"}, "cannot enter the folder /proc/none: No such file or directory"),
    ],
)
def test_a_program_that_cannot_be_started_is_reported_and_leaves_no_record(client, wrong, said):
    client.attach()
    request = {"argv": ["cat"], "env": {"PATH": os.environ["PATH"]}, "cwd": "/", "cols": 80, "rows": 24, **wrong}
    answer = client.refused("open", terminal="t", folder=str(client.folder()), **request)
    assert (answer["error"], answer["message"]) == ("spawn", said)
    assert client.records() == []
    assert not client.ask("list")["terminals"][0]["alive"]


def test_a_program_gets_three_descriptors_its_environment_and_nothing_of_the_host(client):
    program = (
        "import os, signal\n"
        "print('fds', sorted(f for f in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{f}')))\n"
        "print('env', sorted(os.environ))\n"
        "print('ignored', [s.name for s in signal.valid_signals() if signal.getsignal(s) is signal.SIG_IGN])\n"
        "print('blocked', signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n"
        "print('leads', os.getsid(0) == os.getpid() == os.tcgetpgrp(0))\n"
    )
    client.python(program, cwd="/tmp")
    client.event("exit")
    said = dict(line.split(" ", 1) for line in client.raw().decode().splitlines())
    assert said["fds"] == "['0', '1', '2']"
    assert said["leads"] == "True"
    assert said["blocked"] == "set()"
    assert said["ignored"] == "['SIGPIPE', 'SIGXFSZ']"  # Python's own doing
    assert set(eval(said["env"])) <= {"PATH", "TERM", "VANTAGE_HOST_TEST", "LC_CTYPE"}


def test_shells_get_limits_and_umask_of_the_process_that_started_the_host(home):
    """The host raises its own limit on descriptors; its shells get the limit of the process that started the host."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    umask = os.umask(0o027)
    try:
        client = home.client()
    finally:
        os.umask(umask)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert resource.prlimit(client.pid, resource.RLIMIT_NOFILE) == (hard, hard)
    client.run("sh", "-c", "umask; ulimit -n")
    client.event("exit")
    assert client.raw().split() == [b"0027", b"200"]


def test_the_terminal_erases_whole_characters(client):
    client.run("stty", "-a")
    client.event("exit")
    assert b" iutf8" in client.raw()


CHATTY = """
import os, sys
for i in range(20000):
    os.write(1, b"%06d " % i)
    if i % 1000 == 0:
        os.write(1, b"x" * 5000)
"""


def test_lengths_in_events_are_written_and_fit_together(client):
    """For every event, records below its journal length lie at or before its offset, later ones at or after it."""
    client.python(CHATTY)
    told = [(0, 0)]
    while True:
        event = client.message()
        offset, journal = event["offset"], event["journal"]
        assert (client.folder() / protocol.RAW_NAME).stat().st_size >= offset
        assert (client.folder() / protocol.INDEX_NAME).stat().st_size >= journal
        assert offset >= told[-1][0]
        assert journal >= told[-1][1]
        told.append((offset, journal))
        if event["event"] == "exit":
            break
    raw, index = client.raw(), (client.folder() / protocol.INDEX_NAME).read_bytes()
    expected = b"".join(b"%06d " % i + (b"x" * 5000 if i % 1000 == 0 else b"") for i in range(20000))
    assert raw == expected
    assert told[-1] == (len(raw), len(index))
    records, end_of = client.records(), []
    position = 0
    for line in index.splitlines(keepends=True):
        position += len(line)
        end_of.append(position)
    for offset, journal in told:
        assert journal in (0, *end_of)
        for record, finish in zip(records, end_of, strict=True):
            assert record["at"] <= offset if finish <= journal else record["at"] >= offset
    outs = [record for record in records if record["t"] == "out"]
    assert outs[0]["at"] == 0
    assert all(before["ts"] != after["ts"] for before, after in pairwise(outs))
    assert [record["at"] for record in records] == sorted(record["at"] for record in records)


def test_events_of_a_flood_are_few_and_the_last_one_is_always_told(client):
    began = time.monotonic()
    client.run("sh", "-c", "head -c 20000000 /dev/zero; read x")
    seen = 0
    while True:
        event = client.event("output")
        seen += 1
        if event["offset"] == 20_000_000:
            break
    # However long it took: in two milliseconds one, and one for each of the reads that make it a flood.
    assert seen <= ((time.monotonic() - began) * 500 + 1) * 5
    client.ask("kill", terminal="t")


def test_a_flood_does_not_starve_another_terminal(client):
    client.run("yes", terminal="flood")
    client.run("cat", terminal="calm")
    for number in range(20):
        client.type(b"line %d\n" % number, terminal="calm")
        client.wait_for(b"line %d\r\n" % number, terminal="calm", count=2)
    for terminal in ("flood", "calm"):
        client.ask("kill", terminal=terminal)


def test_attaching_to_nothing_makes_nothing(client):
    answer = client.attach()
    nothing = {"alive": False, "pid": None, "offset": 0, "journal": 0, "answered": -1, "cols": None, "rows": None}
    assert {name: answer[name] for name in nothing} == nothing
    assert not client.folder().exists()


def test_a_second_client_finds_what_runs_and_detaching_ends_events(home, client):
    pid = client.run("cat", cols=77, rows=11)["pid"]
    client.type(b"one\n")
    client.wait_for(b"one\r\n", count=2)
    other = home.client()
    found = other.attach()
    assert (found["alive"], found["pid"], found["cols"], found["rows"]) == (True, pid, 77, 11)
    assert found["offset"] == len(client.raw())
    other.ask("detach", terminal="t")
    other.events.clear()
    client.type(b"two\n")
    client.wait_for(b"two\r\n", count=2)
    other.ask("list")
    assert other.events == []
    client.ask("kill", terminal="t")


def test_names_and_folders_belong_together(client):
    client.attach()
    other = client.refused("attach", terminal="u", folder=str(client.folder()))
    assert (other["error"], "terminal t" in other["message"]) == ("exists", True)
    moved = client.refused("attach", terminal="t", folder=str(client.folder("u")))
    assert moved["error"] == "bad_request"
    assert client.refused("attach", terminal="v", folder="relative")["error"] == "bad_request"
    assert client.refused("detach", terminal="unknown")["error"] == "unknown_terminal"


def test_files_that_were_removed_meanwhile_begin_anew(client):
    client.run("echo", "old")
    client.event("exit")
    shutil.rmtree(client.folder())
    found = client.attach()
    assert (found["offset"], found["journal"]) == (0, 0)
    assert client.open("echo", "new")["offset"] == 0
    client.event("exit")
    assert client.raw() == b"new\r\n"


def test_listing_and_forgetting(client):
    pid = client.run("cat")["pid"]
    assert client.ask("list")["terminals"] == [
        {"terminal": "t", "folder": str(client.folder()), "pid": pid, "alive": True, "offset": 0}
    ]
    assert client.refused("forget", terminal="t")["error"] == "exists"
    client.ask("kill", terminal="t")
    (ended,) = client.ask("list")["terminals"]
    assert (ended["pid"], ended["alive"]) == (None, False)
    client.ask("forget", terminal="t")
    assert client.ask("list")["terminals"] == []


def test_a_resize_reads_what_was_printed_before_it(home, client, tmp_path):
    """With the host asleep the resize comes first and the output after it: the record still lies behind the output."""
    go, done = tmp_path / "go", tmp_path / "done"
    os.mkfifo(go)
    os.mkfifo(done)
    client.python(
        "import os, signal, sys\n"
        "def size(*_): os.write(1, b'%d x %d' % tuple(os.get_terminal_size(0)))\n"
        "signal.signal(signal.SIGWINCH, size)\n"
        "os.write(1, b'ready')\n"
        f"open({str(go)!r}).read()\n"
        "os.write(1, b'before' * 500)\n"
        f"open({str(done)!r}, 'w').close()\n"
        "while True: signal.pause()\n"
    )
    client.wait_for(b"ready")
    os.kill(client.pid, signal.SIGSTOP)
    number = client.send("resize", terminal="t", cols=100, rows=40)
    go.write_text("")
    done.read_text()
    os.kill(client.pid, signal.SIGCONT)
    assert client.answer(number)["changed"]
    raw = client.wait_for(b"100 x 40")
    (size,) = [record for record in client.records() if record["t"] == "size"]
    assert (size["cols"], size["rows"]) == (100, 40)
    assert raw[: size["at"]] == b"ready" + b"before" * 500
    assert not client.ask("resize", terminal="t", cols=100, rows=40)["changed"]
    assert client.kinds().count("size") == 1
    client.ask("kill", terminal="t")


@pytest.mark.parametrize("size", [{"cols": 0, "rows": 5}, {"cols": 80, "rows": 65536}, {"cols": "80", "rows": True}])
def test_impossible_sizes_are_refused(client, size):
    client.run("cat")
    assert client.refused("resize", terminal="t", **size)["error"] == "bad_request"
    client.ask("kill", terminal="t")


def test_records_of_clients_stand_where_they_were_sent(client):
    client.run("cat")
    client.type(b"first\n", record={"t": "exec", "id": "e1", "cmd": "first"})
    client.wait_for(b"first\r\n", count=2)
    answer = client.ask("journal", terminal="t", record={"t": "cancel", "at": 1, "note": "ü"})
    assert answer["journal"] == (client.folder() / protocol.INDEX_NAME).stat().st_size
    assert client.kinds() == ["shell", "exec", "cancel"]
    records = {record["t"]: record for record in client.records()}
    assert records["exec"]["at"] == 0
    assert records["exec"]["cmd"] == "first"
    assert (records["cancel"]["at"], records["cancel"]["note"]) == (14, "ü")
    client.ask("kill", terminal="t")
    client.ask("journal", terminal="t", record={"t": "reset"})
    assert client.kinds()[-2:] == ["exit", "reset"]
    for kind in ("exit", "out", "shell", "gap"):
        assert client.refused("journal", terminal="t", record={"t": kind})["error"] == "bad_request"
    assert client.refused("journal", terminal="t", record={"kind": "x"})["error"] == "bad_request"


def test_replies_are_sent_once_and_in_order(client):
    client.python(
        "import os, tty\ntty.setraw(0)\nos.write(1, b'\\x1b[6n')\n"
        "while True:\n    got = os.read(0, 100)\n    os.write(1, b'got ' + got[1:])\n"
    )
    client.wait_for(b"\x1b[6n")

    def reply(query: int) -> bool:
        return client.ask("reply", terminal="t", query=query, data=protocol.encode_data(b"\x1b[1;1R"))["sent"]

    assert client.attach()["answered"] == 0  # nothing from before the shell's start is to be answered
    assert reply(4)
    client.wait_for(b"got [1;1R")
    assert not reply(4)
    assert not reply(3)
    assert client.attach()["answered"] == 4
    (record,) = [record for record in client.records() if record["t"] == "reply"]
    assert record["query"] == 4
    client.ask("kill", terminal="t")
    length = client.open("cat")["offset"]
    assert not reply(length)
    assert client.raw().count(b"got") == 1
    client.ask("kill", terminal="t")


def test_a_reply_that_the_terminal_does_not_take_is_dropped(client):
    client.python("import tty, signal, os\ntty.setraw(0)\nos.write(1, b'ready')\nsignal.pause()")
    client.wait_for(b"ready")
    assert client.type(b"x" * 1_000_000, timeout_ms=0)["written"] < 1_000_000
    assert not client.ask("reply", terminal="t", query=5, data=protocol.encode_data(b"y" * 70000))["sent"]
    client.ask("kill", terminal="t")


def test_the_state_names_settings_foreground_and_folder(client, tmp_path):
    client.run("bash", "--norc", "--noprofile", "-i", env={"PS1": "$ "}, cwd=str(tmp_path))
    client.wait_for(b"$ ")
    shell = client.ask("state", terminal="t")
    assert (shell["alive"], shell["echo"], shell["canonical"]) == (True, False, False)
    assert (shell["foreground"], shell["cwd"]) == ("bash", str(tmp_path))
    client.ask("state", terminal="t")
    assert client.kinds().count("state") == 1
    client.type(b"cd / && exec -a x sleep 1000 | (exec sleep 1000; :)\n")
    client.until(lambda: client.ask("state", terminal="t")["foreground"] == "sleep")
    state = client.ask("state", terminal="t")
    assert (state["echo"], state["canonical"], state["isig"], state["cwd"]) == (True, True, True, "/")
    assert state["foreground_pid"] != shell["pid"]
    last = [record for record in client.records() if record["t"] == "state"][-1]
    assert {name: state[name] for name in ("echo", "canonical", "foreground", "foreground_pid")} == {
        name: last[name] for name in ("echo", "canonical", "foreground", "foreground_pid")
    }
    client.ask("kill", terminal="t")
    assert client.ask("state", terminal="t")["alive"] is False


def test_long_names_are_not_cut(client, tmp_path):
    program = tmp_path / "a-program-with-a-long-name"
    program.symlink_to("/bin/sleep")
    client.run(str(program), "1000")
    assert client.ask("state", terminal="t")["foreground"] == program.name
    client.ask("kill", terminal="t")


def test_old_output_can_be_freed_and_the_hole_is_named(client):
    client.run("sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x")
    client.event("exit")
    before = (client.folder() / protocol.RAW_NAME).stat()
    client.ask("punch", terminal="t", start=0, end=200_000, why="retention")
    after = (client.folder() / protocol.RAW_NAME).stat()
    assert after.st_size == before.st_size == 300_000
    assert after.st_blocks < before.st_blocks
    assert client.raw() == b"\0" * 200_000 + b"x" * 100_000
    gap = client.records()[-1]
    assert (gap["t"], gap["from"], gap["to"], gap["why"]) == ("gap", 0, 200_000, "retention")
    for start, finish in ((5, 5), (-1, 5), (0, 300_001)):
        answer = client.refused("punch", terminal="t", start=start, end=finish, why="x")
        assert answer["error"] == "bad_request"
    assert client.kinds().count("gap") == 1


def test_a_client_that_does_not_read_gets_what_matters_and_costs_nothing(home, client):
    slow = home.client()
    slow.attach()
    slow.socket.setblocking(False)
    asked = 0
    # Until the socket is full: the host stops reading the requests of a client that does not read its answers.
    while select.select([], [slow.socket], [], 0.5)[1]:
        try:
            asked += slow.socket.send(protocol.encode({"id": asked, "op": "list", "pad": "x" * 4000})) > 0
        except BlockingIOError:
            break
        client.ask("list") if asked % 50 == 0 else None
    client.run("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do head -c 100000 /dev/zero; done; exit 5")
    client.event("exit")
    slow.socket.setblocking(True)
    events = []
    while not events or events[-1]["event"] != "exit":
        message = slow.message()
        if "event" in message:
            events.append(message)
    assert len(events) <= 4
    assert events[-1]["offset"] == 900_000


def test_a_client_killed_in_mid_request_does_not_affect_others(home, client):
    client.run("cat")
    program = (
        "import sys, json\nfrom host_harness import Client\nfrom pathlib import Path\n"
        f"c = Client(Path({str(home.path)!r}))\nc.attach()\n"
        "c.send('input', terminal='t', data='eA==' * 10)\n"
        'c.socket.sendall(b\'{"id":9,"op":"inp\')\nprint(\'sent\', flush=True)\nimport signal; signal.pause()\n'
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        cwd=str(TESTS / "support/terminal"),
    ) as other:
        assert other.stdout.readline() == b"sent\n"
        other.kill()
    client.type(b"\nstill here\n")
    client.wait_for(b"still here\r\n", count=2)
    client.ask("kill", terminal="t")


def test_an_invalid_request_is_answered_and_the_connection_stays_open(client):
    client.socket.sendall(b"not json\n[1]\n")
    assert client.message()["error"] == "bad_request"
    assert client.message()["error"] == "bad_request"
    assert client.refused("dance")["error"] == "unknown_op"
    assert client.refused("input", terminal=7)["error"] == "bad_request"
    assert client.refused("open", terminal="t", folder="/x", argv=[], env={}, cwd="/")["error"] == "bad_request"
    secret = client.refused("open", terminal="t", folder="/x", argv=["a"], env={"A": {"b": "hunter2"}}, cwd="/")
    assert "hunter2" not in secret["message"]
    client.ask("list")


def test_a_line_without_end_is_refused(home):
    client = home.client()
    sent = 0
    try:
        while sent <= 2 * protocol.MAX_LINE:
            sent += client.socket.send(b"x" * 1_000_000)
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert sent < 2 * protocol.MAX_LINE
    home.client().ask("list")


def test_the_host_reaps_what_shells_orphan(client):
    """Orphans become children of the host, which reaps them; process 1 is not needed."""
    client.run("sh", "-c", "(sleep 1000 & echo $!); exec cat")
    orphan = int(client.wait_for(b"\r\n").split()[0])
    client.until(lambda: stat(orphan)[1] == str(client.pid))
    os.kill(orphan, signal.SIGKILL)
    client.until(lambda: state(orphan) == "")
    client.ask("kill", terminal="t")


def test_the_end_of_a_host_ends_its_shells_and_says_so(home, client):
    client.run("sh", "-c", "trap '' TERM HUP; echo ready; while :; do sleep 1000; done")
    client.wait_for(b"ready")
    end(client.pid)
    assert client.kinds() == ["shell", "exit"]
    assert client.records()[-1]["signal"] == signal.SIGKILL
