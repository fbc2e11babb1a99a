"""The host as a process: one per home, detached, found by every client, ended when it is not needed."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from host_harness import Home, children, end, environment, listening, stat, state, wait_gone
from vantage.ptyhost import protocol, start


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


def run_host(path) -> tuple[int, dict]:
    """Starts a host by hand: its exit status, and what it says when it is ready."""
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "vantage.ptyhost", "--home", str(path), "--ready-fd", str(writing)]
    process = subprocess.run(command, pass_fds=[writing], capture_output=True)
    os.close(writing)
    with os.fdopen(reading, "rb") as ready:
        return process.returncode, json.loads(ready.readline())


def test_a_host_is_detached_and_says_when_it_is_ready(home):
    status, said = run_host(home.path)
    home.hosts.add(said["pid"])
    assert (status, said["ready"], said["socket"]) == (0, True, str(home.path / "host.sock"))
    pid = said["pid"]
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    assert int(fields[3]) not in (pid, os.getsid(0))  # it leads no session: it gets no tty
    assert fields[4] == "0"
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert [str(Path(f"/proc/{pid}/fd/{n}").readlink()) for n in (0, 1)] == ["/dev/null"] * 2
    assert Path(f"/proc/{pid}/fd/2").readlink() == home.path / "host.log"
    assert home.said() == {
        "pid": pid,
        "socket": said["socket"],
        "protocol": protocol.PROTOCOL,
        "version": protocol.VERSION,
    }
    modes = {name: (home.path / name).stat().st_mode & 0o777 for name in ("host.json", "host.lock", "host.log")}
    assert set(modes.values()) == {0o600}
    assert (home.path / "host.sock").stat().st_mode & 0o777 == 0o600
    client = home.client()
    client.run("cat")
    assert client.folder().stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in client.folder().iterdir()} == {0o600}
    assert not [pid for pid in children(os.getpid()) if state(pid) == "Z"]
    client.ask("kill", terminal="t")


def test_descriptors_of_the_starter_are_not_kept(home):
    secret = home.path / "secret"
    with secret.open("w") as file:
        os.set_inheritable(file.fileno(), True)
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "vantage.ptyhost", "--home", str(home.path), "--ready-fd", str(writing)]
        subprocess.run(command, pass_fds=[writing, file.fileno()], capture_output=True)
        os.close(writing)
    with os.fdopen(reading, "rb") as ready:
        said = json.loads(ready.read())  # reads to the end, so no process holds the writing end
    home.hosts.add(said["pid"])
    assert secret not in {entry.readlink() for entry in Path(f"/proc/{said['pid']}/fd").iterdir()}


def test_a_starter_that_is_gone_leaves_nothing_behind(home):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "vantage.ptyhost", "--home", str(home.path), "--ready-fd", str(writing)]
    assert subprocess.run(command, pass_fds=[writing], capture_output=True).returncode == 0
    os.close(writing)
    client = home.client()
    opened = [str(entry.readlink()) for entry in Path(f"/proc/{client.pid}/fd").iterdir()]
    assert not [name for name in opened if name.startswith("pipe:")]


def test_a_second_host_is_refused_with_the_pid_of_the_first(home):
    client = home.client()
    status, said = run_host(home.path)
    assert status == 3
    assert said == {"ready": False, "error": "held", "pid": client.pid, "socket": str(home.path / "host.sock")}
    assert start.start(str(home.path)) == said["socket"]
    assert home.client().pid == client.pid


def test_many_clients_that_start_a_host_at_once_get_the_same_one(home):
    found = []
    threads = [threading.Thread(target=lambda: found.append(home.client().pid)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1


def test_a_path_may_be_asked_for_before_it_is_used(home):
    """A connection without a hello is not counted as the first client: the host still waits for it."""
    path = start.start(str(home.path))
    pid = home.said()["pid"]
    assert start.start(str(home.path)) == path
    assert home.client().pid == pid


def test_a_client_that_connects_while_the_host_leaves_is_served():
    """In a process of its own: a host with nothing to do, and a client that connected after it last looked."""
    program = """
import os, socket, tempfile
from vantage.ptyhost.host import Host
from vantage.ptyhost.shared.child import Inherited
with tempfile.TemporaryDirectory() as home:
    path = os.path.join(home, "host.sock")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    host = Host(listener, path, Inherited(0o022, (100, 100)))
    print("waits for its first client:", not host._done())
    host.greeted = True
    print("has nothing to do:", host._done())
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.sendall(b'{"id":1,"op":"hello","protocol":1}\\n')
    client.shutdown(socket.SHUT_WR)
    host.run()
    print("answered:", b'"ok":true' in client.recv(1000))
    print("gone:", os.listdir(home) == [])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=start._environment())
    assert said.stdout == ("waits for its first client: True\nhas nothing to do: True\nanswered: True\ngone: True\n"), (
        said
    )


@pytest.mark.parametrize("first", [{"op": "hello", "protocol": 99}, {"op": "hello"}, {"op": "list"}])
def test_another_protocol_is_told_what_is_spoken(home, first):
    client = home.client(hello=False)
    client.socket.sendall(protocol.encode({"id": 1, **first}))
    answer = client.message()
    assert (answer["ok"], answer["error"], answer["speaks"]) == (False, "protocol", [1, 2])
    assert client.ended()
    assert home.client().ask("list")


def test_it_leaves_when_the_last_client_has_gone(home):
    client = home.client()
    client.close()
    wait_gone(client.pid)
    assert not (home.path / "host.json").exists()
    assert not (home.path / "host.sock").exists()
    assert home.client().pid != client.pid


def test_it_stays_for_a_shell_and_leaves_after_it(home, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    client = home.client()
    shell = client.run("sh", "-c", f"read x < {gate}; echo done; exit 4")["pid"]
    client.close()
    again = home.client()
    assert again.pid == client.pid
    assert again.attach()["pid"] == shell
    again.close()
    assert listening(str(home.path / "host.sock"))
    gate.write_text("go\n")
    wait_gone(client.pid)
    assert client.raw() == b"done\r\n"
    assert client.records()[-1]["status"] == 4


@pytest.fixture
def runtime(monkeypatch):
    """A runtime directory with a short path, which a test's own directory has not."""
    with tempfile.TemporaryDirectory() as path:
        monkeypatch.setenv("XDG_RUNTIME_DIR", path)
        yield Path(path)


@pytest.fixture
def long_home(tmp_path, runtime):
    home = Home(tmp_path / ("long" * 30))
    yield home
    home.finish()
    assert list(runtime.iterdir()) == []


def test_a_home_with_a_long_path(long_home, runtime, monkeypatch):
    client = long_home.client()
    path = long_home.said()["socket"]
    assert len(path) <= protocol.MAX_SOCKET_PATH
    assert Path(path).parent.parent == runtime
    assert Path(path).parent.stat().st_mode & 0o777 == 0o700
    # A client with another environment finds it by the path in `host.json`.
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert long_home.client().pid == client.pid


def test_a_directory_that_others_can_enter_is_not_used(tmp_path, runtime):
    home = tmp_path / ("long" * 30)
    directory = Path(protocol.socket_path(str(home))).parent
    directory.chmod(0o755)
    with pytest.raises(PermissionError, match=r"mode 0700.*0755"):
        protocol.socket_path(str(home))
    with pytest.raises(OSError, match=r"mode 0700.*0755"):
        start.connect(str(home))
    directory.rmdir()
    directory.symlink_to(tmp_path)
    with pytest.raises(PermissionError):
        protocol.socket_path(str(home))


def test_a_home_that_cannot_be_made_is_an_error_with_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        start.connect(str(tmp_path / "file" / "home"))


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGPIPE])
def test_signals_of_the_starters_terminal_do_not_end_it(home, number):
    client = home.client()
    client.run("cat")
    os.kill(client.pid, number)
    client.type(b"still here\n")
    client.wait_for(b"still here\r\n", count=2)
    client.ask("kill", terminal="t")


def test_told_to_end_it_takes_no_new_shells(home):
    client = home.client()
    client.run("sh", "-c", "trap '' TERM HUP; echo ready; while :; do sleep 1000; done")
    client.wait_for(b"ready")
    os.kill(client.pid, signal.SIGTERM)
    request = {"argv": ["cat"], "env": {}, "cwd": "/", "cols": 80, "rows": 24}
    # The signal and the request may come in either order; a shell that was started meanwhile is ended too.
    client.send("open", terminal="u", folder=str(client.folder("u")), **request)
    wait_gone(client.pid)
    assert client.kinds()[-1] == "exit"


def test_a_killed_host_loses_its_shells_and_nothing_else(home):
    client = home.client()
    client.run("cat", cols=70, rows=20)
    client.type(b"before\n")
    client.wait_for(b"before\r\n", count=2)
    client.ask("resize", terminal="t", cols=71, rows=21)
    raw, records = client.raw(), client.records()
    os.kill(client.pid, signal.SIGKILL)
    wait_gone(client.pid)
    with (client.folder() / protocol.INDEX_NAME).open("ab") as index:
        index.write(b'{"t":"exec","at":16,"ts":1,"cmd":"half a rec')
    assert (home.path / "host.json").exists()

    fresh = home.client()
    assert fresh.pid != client.pid
    found = fresh.attach()
    assert (found["alive"], found["pid"], found["cols"], found["rows"]) == (False, None, 71, 21)
    assert fresh.raw() == raw
    assert fresh.records()[:-1] == records
    assert fresh.kinds()[-1] == "lost"
    assert found["journal"] == (fresh.folder() / protocol.INDEX_NAME).stat().st_size
    fresh.attach()
    assert fresh.kinds().count("lost") == 1
    fresh.ask("forget", terminal="t")
    fresh.run("echo", "again")
    fresh.event("exit")
    assert fresh.kinds()[-3:] == ["lost", "shell", "exit"]
    assert fresh.raw() == raw + b"again\r\n"


def test_an_open_without_attach_declares_the_old_shell_lost_too(home):
    client = home.client()
    client.run("cat")
    os.kill(client.pid, signal.SIGKILL)
    wait_gone(client.pid)
    fresh = home.client()
    fresh.open("true")
    assert fresh.kinds()[:3] == ["shell", "lost", "shell"]


def test_the_exit_is_seen_though_a_background_job_keeps_the_terminal(home):
    client = home.client()
    client.run("sh", "-c", "trap '' HUP; sleep 1000 & echo $! bye; exit 7")
    ended = client.event("exit")
    job = int(client.raw().split()[0])
    assert client.raw().endswith(b" bye\r\n")
    assert ended["offset"] == len(client.raw())
    assert client.records()[-1]["status"] == 7
    assert state(job) in ("S", "R", "D")
    # A kill afterwards ends what is left of the session.
    client.ask("kill", terminal="t")
    assert environment(job) == b""


def test_a_terminal_that_no_process_has_open_may_be_opened_again(home, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    client = home.client()
    client.python(
        "import os\ntty = os.ttyname(1)\nos.write(1, b'first')\nfor n in (0, 1, 2): os.close(n)\n"
        f"open({str(gate)!r}).read()\n"
        f"os.open(tty, os.O_RDWR)\nos.write(0, b'second')\nopen({str(gate)!r}).read()\n"
    )
    client.wait_for(b"first")

    def worked() -> int:
        return sum(map(int, stat(client.pid)[11:13]))

    before = worked()
    client.run("sleep", "0.5", terminal="clock")
    client.event("exit", "clock")
    assert worked() - before < 30  # hundredths of a second: it does not spin meanwhile
    gate.write_text("")
    client.wait_for(b"second")
    gate.write_text("")
    client.event("exit")
    assert client.raw() == b"firstsecond"


def test_a_host_without_descriptors_serves_on(home):
    client = home.client()
    client.run("cat")
    soft, hard = resource.prlimit(client.pid, resource.RLIMIT_NOFILE)
    used = len(list(Path(f"/proc/{client.pid}/fd").iterdir()))
    resource.prlimit(client.pid, resource.RLIMIT_NOFILE, (used, hard))
    knocking = start.connect(str(home.path))  # waits in the queue
    request = {"argv": ["cat"], "env": {}, "cwd": "/", "cols": 80, "rows": 24}
    refused = client.refused("open", terminal="u", folder=str(client.folder("u")), **request)
    assert (refused["error"], "Too many open files" in refused["message"]) == ("failed", True)
    client.type(b"still here\n")
    client.wait_for(b"still here\r\n", count=2)
    resource.prlimit(client.pid, resource.RLIMIT_NOFILE, (soft, hard))
    knocking.sendall(protocol.encode({"id": 1, "op": "hello", "protocol": 1}))
    assert b'"ok":true' in knocking.recv(1000)
    knocking.close()
    assert len(list(Path(f"/proc/{client.pid}/fd").iterdir())) <= used + 1  # a refused open leaks nothing
    client.ask("kill", terminal="t")
    assert "Too many open files" in (home.path / "host.log").read_text()
    (home.path / "host.log").write_text("")


def test_idle_terminals_cost_little(home):
    client = home.client()
    memory = Path(f"/proc/{client.pid}/statm")
    client.run("cat", terminal="first")
    before = int(memory.read_text().split()[1])
    for number in range(60):
        client.run("cat", terminal=f"t{number}")
    pages = int(memory.read_text().split()[1]) - before
    assert pages * os.sysconf("SC_PAGESIZE") < 60 * 50_000
    end(client.pid)


def test_importing_the_host_brings_nothing_but_the_standard_library():
    program = (
        "import sys, vantage.ptyhost.__main__\n"
        "known = {'vantage', '__main__', *sys.stdlib_module_names}\n"
        "foreign = {m.partition('.')[0] for m in sys.modules} - known\n"
        "ours = [m for m in sys.modules if m.startswith('vantage.') and not m.startswith('vantage.ptyhost')]\n"
        "print(sorted(m for m in foreign if not m.startswith('_')), ours)"
    )
    said = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, env=start._environment()
    )
    assert said.stdout == "[] []\n", said
