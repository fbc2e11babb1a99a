"""Whether the foreground of a terminal waits for input: a corpus of real programs, and the rules that need a test."""

import subprocess
import time
from pathlib import Path

import pytest

from awaits_corpus import FILES, LOOPS, NOT_WAITING, PROXIES, WAITING
from host_harness import PATIENCE, Home
from vantage.ptyhost.processes import Spare

LOOK_S = 0.5
"""How long a program that must not be taken for one that waits is looked at, again and again."""
SHARE = 0.95
"""Of the programs that wait, so many are recognised."""
HOOK = "#!/bin/sh\necho hook\nsleep 1000\n"


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


@pytest.fixture
def client(home):
    return home.client()


@pytest.fixture
def place(tmp_path_factory):
    """A folder with the files of the corpus, and a repository whose hook takes long."""
    place = tmp_path_factory.mktemp("corpus")
    for name, text in FILES.items():
        (place / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], cwd=place, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "line\n" * 100], cwd=place, check=True)
    (place / ".git/hooks/pre-commit").write_text(HOOK)
    (place / ".git/hooks/pre-commit").chmod(0o755)
    return place


def start(client, place, case):
    env = {
        "HOME": str(place),
        "LANG": "C.UTF-8",
        "LOOPS": LOOPS,
        "NODE_REPL_HISTORY": "",
        **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    client.run("bash", "--norc", "-ic", f"printf STARTED; {case.command}; :", cwd=str(place), env=env)
    client.wait_for(b"STARTED")
    if case.ready:
        client.wait_for(case.ready.encode())
    else:
        client.until(lambda: client.ask("state", terminal="t")["foreground"] != "bash")


def awaits(client, **fields):
    return client.ask("awaits", terminal="t", **fields)


def until_yes(client):
    """The answer once it is `yes`; the last one, when that does not come."""
    deadline = time.monotonic() + PATIENCE / 3
    answer = awaits(client)
    while answer["waits"] != "yes" and time.monotonic() < deadline:
        answer = awaits(client)
    return answer


def looks(client):
    """The answers of several looks; the one that speaks against `no` most."""
    order, deadline = ("no", "unknown", "yes"), time.monotonic() + LOOK_S
    found = awaits(client)
    while time.monotonic() < deadline:
        found = max(found, awaits(client), key=lambda answer: order.index(answer["waits"]))
    return found


def tabulated(client, place, cases, look):
    """Runs each program, looks at it and ends it. Returns lines of a table, and those that are not as expected."""
    table, wrong = [], []
    for case in cases:
        start(client, place, case)
        answer = look(client)
        client.ask("kill", terminal="t", grace_ms=0)
        client.event("exit")
        client.ask("forget", terminal="t")
        (client.folder() / "output.raw").unlink()
        (client.folder() / "output.index").unlink()
        found = answer["what"] or answer["waits"]
        line = f"{case.name:40} expected {case.awaits:8} found {found:8} {answer['why']:10} {answer['process']}"
        table.append(line)
        if found != case.awaits:
            wrong.append(line)
    return table, wrong


def test_programs_that_wait_for_input_are_recognised(client, place):
    table, wrong = tabulated(client, place, WAITING, until_yes)
    assert len(table) >= 40
    assert len(wrong) <= (1 - SHARE) * len(table), "\n".join([*table, "", "wrong:", *wrong])


def test_no_other_program_is_taken_for_one_that_waits(client, place):
    table, wrong = tabulated(client, place, NOT_WAITING, looks)
    assert len(table) >= 40
    assert not wrong, "\n".join([*table, "", "wrong:", *wrong])


def test_of_a_program_that_passes_input_on_nothing_is_known(client, place):
    table, wrong = tabulated(client, place, PROXIES, looks)
    assert not wrong, "\n".join([*table, "", "wrong:", *wrong])


ASKS = "import os\nos.write(1, b'ready')\nos.read(0, 100)\n{then}"


def test_what_is_typed_and_not_read_speaks_against_waiting(client):
    client.python("import os, signal\nos.write(1, b'ready')\nsignal.pause()\n")
    client.wait_for(b"ready")
    client.type(b"a line\n")
    client.wait_for(b"a line\r\n")
    assert awaits(client)["why"] == "input"
    client.ask("kill", terminal="t", grace_ms=0)


def test_output_between_two_looks_speaks_against_waiting(client):
    client.python(ASKS.format(then=""))
    client.wait_for(b"ready")
    assert until_yes(client)["waits"] == "yes"
    number = client.send("awaits", terminal="t", samples=100, every_ms=100)
    client.type(b"x")  # is echoed
    assert client.answer(number)["why"] == "output"
    client.ask("kill", terminal="t", grace_ms=0)


def test_sampling_ends_with_the_program_and_keeps_nothing_waiting(client):
    client.python(ASKS.format(then=""))
    client.wait_for(b"ready")
    assert until_yes(client)["what"] == "line"
    number = client.send("awaits", terminal="t", samples=100, every_ms=100)
    client.ask("list")
    assert not client.is_answered(number)
    client.ask("kill", terminal="t", grace_ms=0)
    assert (client.answer(number)["waits"], client.answer(client.send("list"))["ok"]) == ("no", True)


def test_the_spare_descriptor_is_opened_once_however_deep_it_is_used():
    spare, descriptors = Spare(), Path("/proc/self/fd")
    spare.keep()
    before = len(list(descriptors.iterdir()))
    with spare:
        with spare:
            pass
        assert len(list(descriptors.iterdir())) == before - 1
    assert len(list(descriptors.iterdir())) == before
    spare.__enter__()  # closes it


def test_a_request_out_of_range_is_refused(client):
    client.python(ASKS.format(then=""))
    assert client.refused("awaits", terminal="t", samples=0)["error"] == "bad_request"
    assert client.refused("awaits", terminal="nowhere")["error"] == "unknown_terminal"
    client.ask("kill", terminal="t", grace_ms=0)
    assert client.refused("awaits", terminal="t")["error"] == "not_running"
