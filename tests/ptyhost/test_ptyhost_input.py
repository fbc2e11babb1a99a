"""Input is written in order, bounded, never late and never into the wrong prompt; a Ctrl-C is always delivered."""

import signal

import pytest

from host_harness import Home, pids, stat
from vantage.ptyhost import protocol


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


@pytest.fixture
def client(home):
    return home.client()


# Reads nothing until it gets SIGUSR1; then counts what it reads up to a Q, and says what came first.
LATE_READER = """
import os, signal, tty
{mode}
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.write(1, b"ready")
signal.sigwait([signal.SIGUSR1])
got = b""
while not got.endswith(b"Q"):
    got += os.read(0, 65536)
os.write(1, b"%d bytes, first %r." % (len(got) - 1, got[:1]))
signal.pause()
"""
RAW = LATE_READER.format(mode="tty.setraw(0)")


def test_input_is_typed_in_order(client):
    client.python("import os, tty\ntty.setraw(0)\nos.write(1, b'ready')\nwhile True: os.write(1, os.read(0, 100))")
    client.wait_for(b"ready")
    numbers = [client.send("input", terminal="t", data=protocol.encode_data(b"%03d " % i)) for i in range(300)]
    assert [client.answer(number)["written"] for number in numbers] == [4] * 300
    printed = client.wait_for(b"299 ")
    assert printed == b"ready" + b"".join(b"%03d " % i for i in range(300))
    client.ask("kill", terminal="t")


def test_input_that_is_not_read_in_time_is_dropped_and_reported(client):
    client.python(RAW)
    client.wait_for(b"ready")
    answer = client.type(b"x" * 500_000, timeout_ms=100)
    assert answer["why"] == "timeout"
    assert 0 < answer["written"] < 500_000
    later = client.type(b"y" * 500_000, timeout_ms=0)  # the kernel may make room for some of it
    assert later["written"] < 500_000
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    client.type(b"Q", timeout_ms=30_000)
    # Exactly the bytes that were reported as written have arrived; the rest is never typed.
    client.wait_for(b"%d bytes" % (answer["written"] + later["written"]))
    client.ask("kill", terminal="t")


def test_long_input_waits_for_its_reader_and_arrives_whole(client):
    client.python(RAW)
    client.wait_for(b"ready")
    number = client.send("input", terminal="t", data=protocol.encode_data(b"x" * 1_000_000 + b"Q"), timeout_ms=30_000)
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    assert client.answer(number)["written"] == 1_000_001
    client.wait_for(b"1000000 bytes")
    client.ask("kill", terminal="t")


def test_more_than_the_buffer_holds_is_refused_whole(client):
    client.python(RAW)
    client.wait_for(b"ready")
    full = protocol.MAX_INPUT
    tight = client.refused("input", terminal="t", data=protocol.encode_data(b"x" * (full + 1)))
    assert tight["error"] == "input_full"
    waiting = client.send("input", terminal="t", data=protocol.encode_data(b"x" * full), timeout_ms=60_000)
    refused = client.refused("input", terminal="t", data=protocol.encode_data(b"Q"))
    assert refused["error"] == "input_full"
    client.ask("interrupt", terminal="t")
    assert client.answer(waiting)["why"] == "interrupted"
    client.ask("kill", terminal="t")


def test_ctrl_c_gets_through_a_megabyte_of_pending_input(client):
    client.python("import os, time\nos.write(1, b'ready')\ntime.sleep(1000)")
    client.wait_for(b"ready")
    data = protocol.encode_data(b"a line that is not read.\n" * 20_000)
    waiting = [client.send("input", terminal="t", data=data, timeout_ms=60_000) for _ in range(2)]
    answer = client.ask("interrupt", terminal="t")
    assert answer["how"] == "typed"
    assert answer["dropped"] > 900_000
    client.event("exit")
    assert b"KeyboardInterrupt" in client.raw()
    assert [client.answer(number)["why"] for number in waiting] == ["interrupted", "interrupted"]


def test_interrupted_requests_are_answered_with_what_was_written(client):
    client.python(RAW)
    client.wait_for(b"ready")
    data = protocol.encode_data(b"x" * 400_000)
    first, second = (client.send("input", terminal="t", data=data, timeout_ms=60_000) for _ in range(2))
    third = client.send("interrupt", terminal="t")
    answers = [client.answer(number) for number in (first, second, third)]
    assert [answer.get("why") for answer in answers[:2]] == ["interrupted", "interrupted"]
    assert 0 < answers[0]["written"] < 400_000
    assert answers[1]["written"] == 0
    assert answers[2]["dropped"] == 800_000 - answers[0]["written"]
    # In raw mode Ctrl-C is a byte like others: it is the first one that is read, all before it is gone.
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    client.type(b"Q", timeout_ms=30_000)
    client.wait_for(b"1 bytes, first b'\\x03'")
    client.ask("kill", terminal="t")


def test_a_line_that_the_terminal_would_cut_is_refused(client):
    client.run("cat")
    long = client.refused("input", terminal="t", data=protocol.encode_data(b"short\n" + b"x" * 4096 + b"\n"))
    assert long["error"] == "line_too_long"
    client.type(b"y" * 4095 + b"\n")
    printed = client.wait_for(b"y\r\n", count=2)
    assert printed == (b"y" * 4095 + b"\r\n") * 2
    client.ask("kill", terminal="t")


SECRET = """
import os, termios, getpass
os.write(1, b"name: ")
os.read(0, 100)
os.write(1, b"hello %d." % len(getpass.getpass("password: ")))
os.read(0, 100)
"""


def test_secrets_go_to_secret_prompts_only(client):
    client.python(SECRET)
    client.wait_for(b"name: ")
    secret = protocol.encode_data(b"hunter22\n")
    record = {"t": "exec", "id": "1", "cmd": "x"}
    early = client.refused("input", terminal="t", data=secret, check="secret", record=record)
    assert early["error"] == "no_secret_prompt"
    client.type(b"me\n", check="open")
    client.wait_for(b"password: ")
    wrong = client.refused("input", terminal="t", data=protocol.encode_data(b"ls\n"), check="open", record=record)
    assert wrong["error"] == "secret_prompt"
    state = client.ask("state", terminal="t")
    assert (state["echo"], state["canonical"]) == (False, True)
    client.ask("input", terminal="t", data=secret, check="secret")
    client.wait_for(b"hello 8.")
    assert b"hunter22" not in client.raw()
    assert b"hunter22" not in (client.folder() / protocol.INDEX_NAME).read_bytes()
    assert "exec" not in client.kinds()
    client.ask("kill", terminal="t")


def test_the_check_is_made_when_the_turn_has_come(client):
    """A secret that waits behind other input is checked when it would be typed, not when it was sent."""
    client.python(RAW)
    client.wait_for(b"ready")
    first = client.send("input", terminal="t", data=protocol.encode_data(b"x" * 300_000), timeout_ms=60_000)
    second = client.send("input", terminal="t", data=protocol.encode_data(b"s\n"), check="secret", timeout_ms=60_000)
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    assert client.answer(first)["written"] == 300_000
    assert client.answer(second)["error"] == "no_secret_prompt"
    client.type(b"Q", timeout_ms=30_000)
    client.wait_for(b"300000 bytes")
    client.ask("kill", terminal="t")


@pytest.mark.parametrize("op", ["input", "reply", "resize", "interrupt", "signal"])
def test_operations_without_a_process_are_refused(client, op):
    client.attach()
    answer = client.refused(op, terminal="t", data="", query=1, cols=1, rows=1, signal="TERM")
    assert answer["error"] == "not_running"


def test_input_of_a_program_that_ends_is_reported(client):
    client.python(RAW)
    client.wait_for(b"ready")
    number = client.send("input", terminal="t", data=protocol.encode_data(b"x" * 300_000), timeout_ms=60_000)
    client.ask("signal", terminal="t", signal="KILL", to="shell")
    answer = client.answer(number)
    assert answer["why"] == "ended"
    assert answer["written"] < 300_000


def test_signals_reach_whom_they_are_for(client):
    client.run("bash", "--norc", "--noprofile", "-i", env={"PS1": "$ "})
    client.wait_for(b"$ ")
    client.type(b"trap 'echo shell got it' USR1\n")
    client.wait_for(b"$ ", count=2)
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    client.type(b"\n")
    client.wait_for(b"shell got it", count=2)
    client.type(b"sleep 1000\n")
    client.until(lambda: client.ask("state", terminal="t")["foreground"] == "sleep")
    client.ask("signal", terminal="t", signal="SIGTERM", to="foreground", spare_shell=True)
    client.wait_for(b"Terminated")
    client.until(lambda: client.ask("state", terminal="t")["foreground"] == "bash")
    assert client.ask("signal", terminal="t", signal="KILL", to="foreground", spare_shell=True)["signaled"] == 0
    client.type(b"sleep 1001 & sleep 1002 &\n")
    client.wait_for(b"[2] ")
    assert client.ask("signal", terminal="t", signal="CONT", to="session")["signaled"] == 3
    assert client.refused("signal", terminal="t", signal="NONSENSE")["error"] == "bad_request"
    assert client.refused("signal", terminal="t", signal="TERM", to="moon")["error"] == "bad_request"
    client.ask("kill", terminal="t")


def test_kill_ends_a_whole_tree_even_what_ignores_it(client):
    """Fifty children: plain ones, some that ignore every polite signal, some in groups of their own, some stopped."""
    client.python(
        "import os, signal, time\n"
        "for i in range(50):\n"
        "    if os.fork() == 0:\n"
        "        if i % 3 == 0:\n"
        "            for s in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\n"
        "        if i % 5 == 0: os.setpgid(0, 0)\n"
        "        if i % 7 == 0: os.kill(os.getpid(), signal.SIGSTOP)\n"
        "        if i % 2 == 0 and os.fork(): os._exit(0)\n"
        "        os.write(1, b'.')\n"
        "        time.sleep(1000)\n"
        "time.sleep(1000)\n"
    )
    session = str(client.ask("list")["terminals"][0]["pid"])
    client.wait_for(b".", count=42)  # eight are stopped
    answer = client.ask("kill", terminal="t", grace_ms=200)
    assert not [fields for fields in map(stat, pids()) if fields[3:4] == [session] and fields[0] != "Z"]
    assert client.kinds()[-1] == "exit"
    assert answer["journal"] == (client.folder() / protocol.INDEX_NAME).stat().st_size
    client.event("exit")


def test_killing_twice_or_nothing_is_no_error(client):
    client.run("sh", "-c", "trap '' HUP TERM; echo ready; read x; sleep 1000")
    client.wait_for(b"ready")
    first = client.send("kill", terminal="t", grace_ms=60_000)
    second = client.send("kill", terminal="t", grace_ms=0)
    assert client.answer(first)["ok"]
    assert client.answer(second)["ok"]
    assert client.ask("kill", terminal="t")["ok"]
    assert client.records()[-1]["signal"] == signal.SIGKILL


# Reads nothing until it gets SIGUSR1; then reads once, and says what came.
READS_ONCE = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.write(1, b"ready")
signal.sigwait([signal.SIGUSR1])
os.write(1, b"got %r." % os.read(0, 100))
signal.pause()
"""


def test_ctrl_d_waits_for_a_reader_in_canonical_mode(client):
    """A Ctrl-D that is unread when a line editor switches canonical mode off would be read as a NUL."""
    client.python(READS_ONCE)
    client.wait_for(b"ready")
    number = client.send("input", terminal="t", data=protocol.encode_data(b"\x04"), timeout_ms=60_000)
    client.ask("state", terminal="t")
    assert not client.is_answered(number)
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    assert client.answer(number).get("why") is None
    client.wait_for(b"got b''.")
    client.ask("kill", terminal="t")


def test_ctrl_d_waits_until_the_line_before_it_was_read(client):
    client.python(READS_ONCE)
    client.wait_for(b"ready")
    client.type(b"line\n")
    number = client.send("input", terminal="t", data=protocol.encode_data(b"\x04"), timeout_ms=300)
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    client.wait_for(b"got b'line\\n'.")
    # The program has read all it wants: nothing takes the Ctrl-D, which is typed at its deadline, and that is said.
    assert client.answer(number)["why"] == "no_reader"
    client.ask("kill", terminal="t")


def test_ctrl_d_is_typed_at_once_where_canonical_mode_is_off(client):
    client.python(RAW)
    client.wait_for(b"ready")
    assert client.type(b"\x04", timeout_ms=60_000).get("why") is None
    client.ask("signal", terminal="t", signal="USR1", to="shell")
    client.type(b"Q")
    client.wait_for(b"1 bytes, first b'\\x04'")
    client.ask("kill", terminal="t")
