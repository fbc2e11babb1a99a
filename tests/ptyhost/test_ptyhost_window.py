"""A client's window: the host pauses reading at its end, and the program waits in its write."""

import pytest

from host_harness import Home, state
from vantage.ptyhost import protocol
from vantage.ptyhost.terminal.output.reader import CHUNK, DRAIN, TURN

OVER = TURN + CHUNK
"""Bytes that one turn of the host may read beyond a window: reads end after `TURN`, and the last one may be large."""
WINDOW = 100_000


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


@pytest.fixture
def client(home):
    return home.client()


def attach(client, upto, terminal="t"):
    return client.ask("attach", terminal=terminal, folder=str(client.folder(terminal)), upto=upto)


def size(client, terminal="t") -> int:
    return (client.folder(terminal) / protocol.RAW_NAME).stat().st_size


def output_of(client, least: int) -> int:
    """The length of the output once the host has told that it has so much."""
    while (told := client.event("output")["offset"]) < least:
        pass
    return told


def paused(client, pid: int, window: int) -> None:
    """Waits until the program sleeps in its write with the window full, and checks that no more was read."""
    output_of(client, window)
    client.until(lambda: state(pid) == "S" and client.ask("state", terminal="t")["unread_output"] > 0)
    assert window <= size(client) <= window + OVER


def test_reading_pauses_at_the_window_and_resumes_when_it_moves(client):
    attach(client, WINDOW)
    pid = client.open("yes")["pid"]
    for window in (WINDOW, 3 * WINDOW, 4 * WINDOW):
        client.ask("window", terminal="t", upto=window)
        paused(client, pid, window)
    client.ask("window", terminal="t")
    output_of(client, 40 * WINDOW)
    client.ask("kill", terminal="t")


def test_the_window_ends_with_its_connection(home, client):
    other = home.client()
    attach(other, WINDOW)
    client.attach()
    pid = client.open("yes")["pid"]
    paused(client, pid, WINDOW)
    other.close()
    output_of(client, 40 * WINDOW)
    client.ask("kill", terminal="t")


def test_the_window_ends_with_detaching(home, client):
    other = home.client()
    attach(other, WINDOW)
    client.attach()
    pid = client.open("yes")["pid"]
    paused(client, pid, WINDOW)
    other.ask("detach", terminal="t")
    output_of(client, 40 * WINDOW)
    client.ask("kill", terminal="t")


def test_the_smallest_window_counts(home, client):
    other = home.client()
    attach(other, WINDOW)
    attach(client, 5 * WINDOW)
    pid = client.open("yes")["pid"]
    paused(client, pid, WINDOW)
    other.ask("window", terminal="t", upto=9 * WINDOW)
    paused(client, pid, 5 * WINDOW)
    client.ask("kill", terminal="t")


def test_other_terminals_are_read_while_one_pauses(client):
    attach(client, 0)
    client.open("yes")
    client.run("seq", "100000", terminal="u")
    assert client.event("exit", terminal="u")["offset"] == len(b"".join(b"%d\r\n" % n for n in range(1, 100_001)))
    assert size(client) <= OVER
    client.ask("kill", terminal="t")


def test_a_paused_program_takes_keys_and_ctrl_c(client):
    attach(client, 0)
    client.open("sh", "-c", "trap 'exit 5' INT; yes")
    client.until(lambda: client.ask("state", terminal="t")["unread_output"] > 0)
    client.type(b"x")
    assert client.ask("interrupt", terminal="t")["how"] == "typed"
    client.event("exit")
    assert client.records()[-1]["status"] == 5
    assert size(client) <= OVER + DRAIN


def test_output_before_the_exit_is_read_however_small_the_window(client):
    attach(client, 0)
    client.open("sh", "-c", "seq 500")
    client.event("exit")
    assert client.raw() == b"".join(b"%d\r\n" % n for n in range(1, 501))


def test_a_window_needs_an_attached_client_and_a_number(home, client):
    client.run("cat")
    other = home.client()
    assert "attach" in other.refused("window", terminal="t", upto=5)["message"]
    assert "upto" in client.refused("window", terminal="t", upto=-1)["message"]
    assert "upto" in client.refused("window", terminal="t", upto="5")["message"]
    assert client.refused("window", terminal="u", upto=5)["error"] == "unknown_terminal"
    client.ask("kill", terminal="t")


def test_hello_lists_the_operations(home):
    answer = home.client().ask("hello", protocol=1)
    assert "window" in answer["operations"]
