"""`follow()`: rows as they change, also over the end of a server, of a connection and of a conversation."""

import asyncio

import pytest

import vantage
from server_home import serving
from terminal_home import PATIENCE, environment
from vantage.client.rows import Position, RowFollower
from vantage.errors import NotFound, Unauthorized, VantageError


def new(client):
    return client.create(env=environment(), user_rc=False, cwd="/")


def texts(rows, count):
    return [next(rows).text.strip("• ") for _ in range(count)]


def test_rows_as_they_come(server):
    with vantage.connect(server.home) as client:
        work = new(client)
        work.emit({"type": "assistant_text", "text": "before"})
        with work.follow() as rows:
            assert texts(rows, 1) == ["before"]
            work.emit({"type": "assistant_text", "text": "after"})
            assert texts(rows, 1) == ["after"]
            position = rows.position
        work.emit({"type": "assistant_text", "text": "meanwhile"})
        with work.follow(position=position) as rows:
            assert texts(rows, 1) == ["meanwhile"], "and nothing of what was known"
        with work.follow(surface="html") as rows:
            assert "before" in next(rows).html
        work.delete()


def test_a_running_row_is_replaced(server):
    with vantage.connect(server.home) as client:
        work = new(client)
        with work.follow() as rows:
            work.emit({"type": "tool_start", "tool": "shell", "toolCallId": "1", "args": {"command": "make"}})
            running = next(rows)
            work.emit({"type": "tool_end", "toolCallId": "1", "output": "done"})
            while (row := next(rows)).status == "running":
                pass
            assert (running.status, row.status, running.id) == ("running", "ok", row.id)
        work.delete()


def test_over_a_restart_nothing_is_missed_or_repeated(private_home):
    with serving(private_home) as server, vantage.connect(private_home, start=False) as client:
        work = new(client)
        with work.follow() as rows:
            work.emit({"type": "assistant_text", "text": "first"})
            assert texts(rows, 1) == ["first"]
            server.kill()
            server.start()
            many = [f"number {n}" for n in range(450)]  # more than a snapshot has
            work.emit([{"type": "assistant_text", "text": text, "message_id": text} for text in many])
            seen = texts(rows, 450)
            assert seen == many
            work.emit({"type": "assistant_text", "text": "last"})
            assert texts(rows, 1) == ["last"]
        work.delete()


async def test_the_same_with_asyncio(private_home):
    with serving(private_home) as server:
        client = await vantage.connect_async(private_home, start=False)
        work = await client.create(env=environment(), user_rc=False, cwd="/")
        async with asyncio.timeout(PATIENCE), work.follow() as rows:
            await work.emit({"type": "assistant_text", "text": "first"})
            assert "first" in (await anext(rows)).text
            server.kill()
            server.start()
            many = [f"number {n}" for n in range(450)]
            await work.emit([{"type": "assistant_text", "text": text, "message_id": text} for text in many])
            assert [(await anext(rows)).text.strip("• ") for _ in many] == many
            await work.delete()
            with pytest.raises(VantageError) as gone:
                await anext(rows)
            assert gone.value.code == "deleted"


def test_following_a_deleted_conversation_or_with_a_bad_token_raises(server, monkeypatch):
    with vantage.connect(server.home) as client:
        work = new(client)
        work.delete()
        with work.follow() as rows, pytest.raises(NotFound):
            next(rows)
        monkeypatch.setenv("VANTAGE_TOKEN", "guessed")
        with work.follow() as rows, pytest.raises(Unauthorized, match="the token is refused"):
            next(rows)


def _row(number, status="none"):
    return {"seq": number, "row": {"id": f"r{number}", "status": status}, "text": str(number)}


def test_positions():
    follower = RowFollower("c", "plain", None)
    about = {"conversation_id": "c", "channels": ["rows"], "surface": "plain"}
    assert follower.subscription() == about
    snapshot = {"type": "snapshot", "epoch": "e", "seq": 2, "rows": [_row(1), _row(2)]}
    assert follower.missed_since(snapshot) is None
    assert [row.id for row in follower.take(snapshot)] == ["r1", "r2"]
    assert follower.subscription() == {**about, "epoch": "e", "after": 2}
    assert [row.id for row in follower.take({"type": "row", **_row(3)})] == ["r3"]
    assert follower.position == Position("e", 3)
    assert follower.take({"type": "resumed", "epoch": "e", "seq": 3}) == []
    assert follower.take({"type": "pty_state"}) == []
    later = {"type": "snapshot", "epoch": "e", "seq": 5, "rows": [_row(2), _row(3, "running"), _row(5)]}
    assert follower.missed_since(later) == 3
    assert [row.id for row in follower.take(later)] == ["r3", "r5"], "running rows may have changed without an event"
    anew = {"type": "snapshot", "epoch": "f", "seq": 1, "rows": [_row(1)]}
    assert follower.missed_since(anew) is None
    assert [row.id for row in follower.take(anew)] == ["r1"]
