"""`vantage.connect()` and `vantage.connect_async()`: a server and its conversations, from Python."""

import asyncio
import threading

import pytest

import vantage
from server_home import serving
from terminal_home import PATIENCE, environment, wait_until_gone
from vantage.client.endpoint import UrlEndpoint
from vantage.errors import Busy, Conflict, Gone, InputError, NoServer, NotFound, Unauthorized
from vantage.events import AssistantText
from vantage.terminal.screen.frames import Region


@pytest.fixture
def connected(server):
    with vantage.connect(server.home) as client:
        yield client


def new(client, **settings):
    return client.create(env=environment(), user_rc=False, cwd="/", **settings)


def test_verbs_have_results(connected):
    work = new(connected, cols=70, rows=9)
    ran = work.exec_block("stty size; exit_code() { return 3; }; exit_code")
    assert (ran.output, ran.exit_code, ran.running) == ("9 70\n", 3, False)
    started = work.exec_interactive("cat")
    with pytest.raises(Busy) as busy:
        work.exec_block("true")
    assert (busy.value.status, bool(busy.value.hint)) == (409, True)
    work.send("typed\n", session_id=started.session_id)
    assert work.wait_for("typed\ntyped").matched
    work.send(b"\xff\n")
    work.keys(["x", "Enter"])
    assert work.wait_for({"regex": "^x$"}, timeout_ms=PATIENCE * 1000).matched
    work.ctrl_d()
    assert work.wait_for("EOF").matched
    assert [block.cmd.split()[0] for block in work.blocks().blocks] == ["stty", "cat"]
    assert work.read_block(started.block_id).block.block_id == started.block_id
    assert "typed" in "\n".join(work.read_screen(region=Region(rows=4)).rows)
    work.delete()
    with pytest.raises(NotFound):
        work.status()


def test_an_unknown_id_creates_a_conversation(connected, server):
    work = connected.conversation("made-by-python", name="Made", env=environment(A="1"), user_rc=False)
    try:
        assert work.exec_block("echo $A").output == "1\n"
        again = connected.conversation("made-by-python", env=environment(A="2"))
        assert again.exec_block("echo $A").output == "1\n"
        assert again.describe().name == "Made"
        again.rename("Renamed")
        assert [each.name for each in connected.conversations() if each.id == work.id] == ["Renamed"]
        with pytest.raises(Conflict):
            connected.create("made-by-python")
        with pytest.raises(NotFound):
            connected.conversation("nothing", create=False)
        with pytest.raises(InputError):
            connected.conversation("../up")
        work.close()
        assert work.status().mode == "exited"
    finally:
        work.delete()


def test_a_conversation_gets_the_callers_directory_and_environment(connected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLOUR", "green")
    monkeypatch.setenv("VANTAGE_TOKEN", (connected._http.endpoint.token()))
    work = connected.create(user_rc=False)
    where, colour, given = work.exec_block("pwd; echo $COLOUR; echo $VANTAGE_TOKEN").output.splitlines()
    assert (where, colour) == (str(tmp_path), "green")
    assert (given.startswith("vantage_agent_"), given.endswith(work.id)) == (True, True), "its own, not the caller's"
    work.delete()


def test_events_become_rows(connected):
    work = new(connected)
    first = work.emit(AssistantText(text="Hello"))
    last = work.emit([{"type": "user_message", "text": "and"}, AssistantText(text="goodbye")])
    assert (first, last) == (1, 3)
    rows = list(work.rows())
    assert [(row.text.strip("•› "), row.status) for row in rows] == [
        (text, "none") for text in ("Hello", "and", "goodbye")
    ]
    assert [row.id for row in work.rows(after=first)] == [row.id for row in rows[1:]]
    assert "Hello" in next(work.rows(surface="html")).html
    assert work.instructions(additional="Be brief.").startswith("Be brief.")
    with pytest.raises(InputError):
        work.emit(["no event"])
    work.delete()


def test_rows_of_many_pages(connected):
    work = new(connected)
    work.emit([{"type": "assistant_text", "text": f"number {n}", "message_id": str(n)} for n in range(1203)])
    texts = [row.text for row in work.rows()]
    assert len(texts) == len(set(texts)) == 1203
    work.delete()


def test_threads_share_a_server(connected):
    works = [new(connected) for _ in range(4)]
    said = {}

    def run(work):
        for number in range(5):
            said[work.id, number] = work.exec_block(f"echo {work.id} {number}").output

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {(work.id, number): f"{work.id} {number}\n" for work in works for number in range(5)}
    for work in works:
        work.delete()


def test_by_url(server):
    with vantage.connect(url=server.url, token=server.token) as client:
        assert client.create("by-url", env=environment(), user_rc=False).exec_block("echo on").output == "on\n"
        client.conversation("by-url").delete()
    with pytest.raises(Unauthorized):
        vantage.connect(url=server.url, token="guessed")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "http://127.0.0.1:1"}, "a url needs a token"),
        ({"url": "ftp://127.0.0.1", "token": "t"}, "not the URL of a server"),
        ({"url": "http://127.0.0.1:1/path", "token": "t"}, "not the URL of a server"),
        ({"url": "http://127.0.0.1:1", "token": "t", "home": "/tmp"}, "a home or a url"),
        ({"home": "/tmp", "token": "t"}, "a token goes with a url"),
    ],
)
def test_wrong_addresses(given, said):
    with pytest.raises(InputError, match=said):
        vantage.connect(**given)


def test_no_server(tmp_path):
    with pytest.raises(NoServer, match="no server runs in"):
        vantage.connect(tmp_path, start=False)
    with pytest.raises(NoServer, match="no server answers at"):
        vantage.connect(url="http://127.0.0.1:1", token="t")
    assert UrlEndpoint("https://example.invalid", "t").name == "https://example.invalid"


def test_a_server_is_started_if_none_runs(private_home):
    import json
    import os
    import signal

    with vantage.connect(private_home) as client:
        pid = json.loads((private_home / "server.json").read_text())["pid"]
        assert client.conversations() == []
        os.kill(pid, signal.SIGTERM)
        wait_until_gone(pid)
        assert client.conversations() == [], "the next call starts another"
        pid = json.loads((private_home / "server.json").read_text())["pid"]
        os.kill(pid, signal.SIGTERM)
        wait_until_gone(pid)


async def test_the_same_with_asyncio(server):
    client = await vantage.connect_async(server.home)
    work = await client.conversation("asynchronous", env=environment(), user_rc=False)
    try:
        assert (await work.exec_block("echo on")).output == "on\n"
        ran, status = await asyncio.gather(work.exec_block("echo both"), work.status())
        assert (ran.output, status.cols) == ("both\n", 120)
        with pytest.raises(NotFound):
            await work.read_block("no-such-block")
        with pytest.raises(TypeError):
            work.exec_block()
        assert await work.emit({"type": "assistant_text", "text": "Hello"}) > 0
        assert "Hello" in [row.text async for row in work.rows()][-1]
        assert "Be brief." in await work.instructions(additional="Be brief.")
        assert work.id in [each.id for each in await client.conversations()]
    finally:
        await work.delete()
    with pytest.raises(NotFound):
        await client.conversation("asynchronous", create=False)
    with pytest.raises(NoServer):
        await vantage.connect_async(server.home / "elsewhere", start=False)


async def test_a_cancelled_call_ends_on_the_server(server):
    client = await vantage.connect_async(server.home)
    work = await client.create(env=environment(), user_rc=False)
    await work.exec_block("true")
    waiting = asyncio.ensure_future(work.wait_for("never", timeout_ms=PATIENCE * 1000))
    await work.status()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await work.delete()


def test_an_error_for_dropped_output_says_where_to_continue():
    from vantage.errors import from_wire, to_wire

    error = from_wire(to_wire(Gone("dropped", next=7, hint="continue at 7")))
    assert (type(error), error.next, error.hint) == (Gone, 7, "continue at 7")


def test_a_restarted_server_is_found_again(private_home):
    with serving(private_home) as server, vantage.connect(private_home, start=False) as client:
        work = new(client)
        work.exec_block("kept=1")
        server.stop()
        with pytest.raises(NoServer):
            work.status()
        server.start()
        assert work.exec_block("echo $kept").output == "1\n"
        work.delete()
