"""The log of a screen's changes keeps the last of them: numbers stay, what is gone says so, what is left is enough."""

import json

import pytest

from terminal_home import agent_terminal
from vantage.conversation.store import screen_log
from vantage.conversation.store.screen_log import ScreenLog
from vantage.errors import Gone

KEEP = 4000


@pytest.fixture(autouse=True)
def _little(monkeypatch):
    monkeypatch.setattr(screen_log, "KEEP", KEEP)


def write(log, numbers):
    for n in numbers:
        log.append(json.dumps({"n": n, "text": "x" * 90}).encode(), whole=log.wants_whole or log.count == 0)


def test_it_stays_small_and_keeps_its_numbers(tmp_path):
    path = tmp_path / "screen.jsonl"
    log = ScreenLog(path)
    for n in range(1, 1001):
        write(log, [n])
        assert log.count == n
        assert path.stat().st_size < 2 * KEEP + 500
        assert [record["number"] for record in log.read(n - 1, 5)] == [n]
        assert log.read(n, 5) == []
    with pytest.raises(Gone) as gone:
        log.read(0, 10)
    following = gone.value.next
    kept = log.read(following, 1000)
    assert [record["n"] for record in kept] == list(range(following + 1, 1001))
    assert [record["number"] for record in kept] == list(range(following + 1, 1001))
    assert sum(len(json.dumps(record)) for record in kept) > KEEP
    log.close()
    # and after a restart
    log = ScreenLog(path)
    assert log.count == 1000
    assert log.read(following, 1000) == kept
    with pytest.raises(Gone, match="go on at"):
        log.read(following - 1, 1)
    write(log, range(1001, 1500))
    assert log.read(1490, 1)[0]["n"] == 1491
    assert path.stat().st_size < 2 * KEEP + 500
    log.close()


def test_it_stays_small_when_it_is_opened_again_and_again(tmp_path):
    """Each time a record with every row comes first; less than is kept follows it."""
    path = tmp_path / "screen.jsonl"
    count = 0
    for _ in range(50):
        log = ScreenLog(path)
        assert log.count == count
        for n in range(10):
            log.append(json.dumps({"n": n, "text": "x" * 90}).encode(), whole=n == 0 or log.wants_whole)
        count += 10
        assert [record["number"] for record in log.read(count - 2, 5)] == [count - 1, count]
        log.close()
        assert path.stat().st_size < 3 * KEEP
    first = json.loads(path.read_text().partition("\n")[0])
    assert first["n"] == 0, "the first record that is kept has every row"


def test_a_log_of_before_there_were_numbers(tmp_path):
    path = tmp_path / "screen.jsonl"
    path.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(1, 11)))
    log = ScreenLog(path)
    assert log.count == 10
    assert [record["n"] for record in log.read(7, 10)] == [8, 9, 10]
    write(log, range(11, 200))
    assert log.read(150, 1)[0] == {"n": 151, "text": "x" * 90, "number": 151}
    log.close()


def applied(deltas):
    """The screen that deltas give, the first of which has every row."""
    rows = {}
    assert len(deltas[0]["rows"]) == deltas[0]["rows_count"]
    for delta in deltas:
        rows |= {row["row"]: row["text"] for row in delta["rows"]}
    return [rows[number] for number in sorted(rows)]


async def test_the_kept_deltas_give_the_screen(home):
    async with agent_terminal(home, rows=10, cols=60) as t:
        cursor = 0
        for n in range(5000):  # fast ones come in one frame
            await t.exec_block(f"echo step {n}; seq {n} {n + 5}")
            cursor = (await t.screen_status())["cursor"]
            try:
                await t.read_screen_deltas(0, 1)
            except Gone:
                break
        with pytest.raises(Gone) as gone:
            await t.read_screen_deltas(0, 1)
        following = gone.value.next
        assert 0 < following < cursor
        await t.wait_for("PROMPT", from_cursor=0)
        await t.live.written()
        screen = await t.read_screen()
        deltas = []
        while page := (await t.read_screen_deltas(following + len(deltas), 500)).deltas:
            deltas += page
        assert [delta["number"] for delta in deltas] == list(range(following + 1, following + len(deltas) + 1))
        assert "\n".join(applied(deltas)).rstrip() == "\n".join(screen.rows).rstrip()
        assert (await t.read_screen(since=screen.delta_cursor)).delta_cursor == screen.delta_cursor
