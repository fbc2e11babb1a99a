"""The host remembers calls by their ids: what a client sends again is written as far as it was not, and never twice."""

import pytest

from host_harness import Home
from vantage.ptyhost import protocol
from vantage.ptyhost.terminal.calls import MAX_CALLS

COPY = "import os, tty\ntty.setraw(0)\nos.write(1, b'ready ')\nwhile True: os.write(1, os.read(0, 100))"
DEAF = "import signal, tty\ntty.setraw(0)\nprint('ready', flush=True)\nsignal.pause()"


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


def part(at, end, size, call="call", **facts):
    return {"id": call, "at": at, "end": end, "size": size, "facts": facts}


def test_a_part_that_was_written_is_not_written_again(home):
    client = home.client()
    client.python(COPY)
    client.wait_for(b"ready ")
    assert client.type(b"one", call=part(0, 3, 8, cursor=7))["written"] == 3
    next_client = home.client()
    known = next_client.ask("remember", terminal="t", call="call")
    assert (known["known"], known["taken"], known["size"], known["facts"]) == (True, 3, 8, {"cursor": 7})
    # The whole input as one part: what was written of it is left out, and counted.
    assert next_client.type(b"one two.", call=part(0, 8, 8, cursor=9))["written"] == 8
    assert next_client.type(b"one two.", call=part(0, 8, 8))["written"] == 8
    next_client.type(b"end")
    assert client.wait_for(b"end") == b"ready one two.end"
    assert next_client.ask("remember", terminal="t", call="call")["facts"] == {"cursor": 7}
    assert next_client.refused("input", terminal="t", data="", call=part(0, 9, 9))["error"] == protocol.Code.CHANGED
    client.ask("kill", terminal="t")


def test_a_part_that_waits_is_waited_for(home):
    """The same request, while the first has not been written: both get the outcome of the first."""
    client = home.client()
    client.python(DEAF)
    client.wait_for(b"ready")
    data = protocol.encode_data(b"x" * 500_000)
    ask = {"terminal": "t", "data": data, "timeout_ms": 300, "call": part(0, 500_000, 500_000)}
    numbers = [
        client.send("input", **ask),
        client.send("input", **ask),
        client.send("remember", terminal="t", call="call"),
    ]
    first, again, known = (client.answer(number) for number in numbers)
    assert first["why"] == "timeout"
    assert (again["written"], again["why"]) == (first["written"], "timeout")
    assert (known["taken"], known["why"]) == (first["written"], "timeout")
    client.ask("kill", terminal="t")


def test_facts_are_kept_once_and_the_oldest_call_is_forgotten(home):
    client = home.client()
    client.python(DEAF)
    remember = {"terminal": "t", "call": "call-0"}
    assert client.ask("remember", **remember) | {"age_ms": 0, "id": 0} == {
        "id": 0,
        "ok": True,
        "known": False,
        "facts": {},
        "taken": 0,
        "size": 0,
        "why": None,
        "age_ms": 0,
    }
    assert client.ask("remember", facts={"n": 1}, **remember)["facts"] == {"n": 1}
    assert client.ask("remember", facts={"n": 2}, **remember)["facts"] == {"n": 1}
    assert client.ask("remember", facts={"n": 3}, replace=True, **remember)["facts"] == {"n": 3}
    for number in range(1, MAX_CALLS + 1):
        client.ask("remember", terminal="t", call=f"call-{number}", facts={"n": number})
    assert not client.ask("remember", **remember)["known"]
    assert client.ask("remember", terminal="t", call=f"call-{MAX_CALLS}")["known"]
    client.ask("kill", terminal="t")
