"""Search over all conversations: what was said, run or printed is found by any part of it, as soon as it is there."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import EVENT, TEXT
from terminal_home import environment
from vantage.conversation.manager import Manager
from vantage.conversation.search import index as search_index
from vantage.conversation.search.documents import MAX_TEXT, clean
from vantage.conversation.search.index import SearchIndex
from vantage.conversation.search.query import Query, plain
from vantage.conversation.store.event_log import EventLog
from vantage.errors import InputError
from vantage.events import decode_event
from vantage.timeline.fold import Timeline
from written_conversation import Written


@asynccontextmanager
async def an_index(home):
    index = SearchIndex(home)
    try:
        yield index
    finally:
        await index.close()


@pytest.fixture
def place():
    with tempfile.TemporaryDirectory(prefix="vantage-test-") as folder:
        yield Path(folder)


def shown(found) -> list[str]:
    return [hit.text for hit in found.hits]


def marked(hit) -> str:
    """The snippet with its matches between brackets."""
    text = hit.text
    for each in reversed(hit.ranges):
        text = f"{text[: each.start]}[{text[each.start : each.end]}]{text[each.end :]}"
    return text


SAID = [
    {"type": "user_message", "text": "Why does it fail?"},
    {"type": "assistant_reasoning", "text": "Probably the **deserializer**"},
    {"type": "tool_start", "tool": "bash", "toolCallId": "t", "args": {"command": ["cat", "src/app/main.py"]}},
    {"type": "tool_end", "toolCallId": "t", "output": "import json\nraise KeyError(0x7fff)\n"},
    {"type": "assistant_text", "text": "It is RequestHandler.do_GET in /srv/http.py, line 42."},
    {"type": "error", "message": "connection lost (ECONNRESET)"},
]

# what is looked for → what of it is found, the newest first
FINDS = {
    "fail": ["Why does it [fail]?"],
    "SERIALIZ": ["Probably the **de[serializ]er**"],
    "app/main": ["bash command: cat src/[app/main].py"],
    "0x7fff": ["raise KeyError([0x7fff])"],
    "handler": ["It is Request[Handler].do_GET in /srv/http.py, line 42."],
    "handler 42": ["It is Request[Handler].do_GET in /srv/http.py, line [42]."],
    '"line 42"': ["It is RequestHandler.do_GET in /srv/http.py, [line 42]."],
    '"42 line"': [],
    "cat keyerror": ["raise [KeyError](0x7fff)"],
    "ECONN": ["Error: connection lost ([ECONN]RESET)"],
    "do_GET NOT": [],
    "re*": [],
    "(0x": ["raise KeyError[(0x]7fff)"],
    "": [],
    "it": [
        "[It] is RequestHandler.do_GET in /srv/http.py, line 42.",
        "Why does [it] fail?",
    ],
}


async def test_parts_of_words_paths_and_numbers_are_found(place):
    Written(place).say(*SAID)
    async with an_index(place) as index:
        for query, expected in FINDS.items():
            found = await index.find(query)
            assert [marked(hit) for hit in found.hits] == expected, query


async def test_a_hit_says_where_it_is(place):
    one = Written(place)
    one.say(*SAID)
    one.run("make all", "cc -c x.c\nx.c:7: error: expected ';'\n")
    async with an_index(place) as index:
        hit = (await index.find("x.c:7")).hits[0]
        assert (hit.conversation_id, hit.seq, hit.kind, hit.block_id, hit.cursor) == ("one", 7, "output", "b1", 0)
        assert marked(hit) == "[x.c:7]: error: expected ';'"
        hit = (await index.find("keyerror")).hits[0]
        assert (hit.seq, hit.kind) == (3, "output")  # the row of a call begins with its start
        hit = (await index.find("make")).hits[0]
        assert (hit.seq, hit.kind) == (7, "command")
        assert (await index.find("make expected")).hits[0].kind == "output"


async def test_a_request_is_found_by_its_call_its_options_and_its_answer(place):
    Written(place).say(
        {
            "type": "request",
            "request_id": "r1-9",
            "title": "May it?",
            "tool": "bash",
            "args": {"command": "rm -rf dist"},
            "options": [{"id": "allow", "label": "Allow once"}],
        },
        {"type": "answer", "request_id": "r1-9", "option": "allow", "text": "but be quick", "by": "cli"},
        {"type": "request_closed", "request_id": "r1-9", "why": "too_late"},
        {"type": "agent_state", "state": "exited", "error": "no key"},
    )
    async with an_index(place) as index:
        for query in ("may it", "rm dist", "allow once", "be quick", "too_late"):
            (hit,) = (await index.find(query)).hits
            assert (hit.seq, hit.kind) == (1, "request"), query
        (hit,) = (await index.find("no key")).hits
        assert marked(hit) == "Agent exited: [no] [key]"


async def test_output_reads_as_it_was_displayed(place):
    one = Written(place)
    one.run("curl", "10 %\r50 %\r100 %\ndone\b\b\b\bover\n")
    one.say({"type": "tool_end", "tool": "x", "toolCallId": "a", "output": "\x1b[31mred \x1b[0malert\x07"})
    async with an_index(place) as index:
        assert shown(await index.find("100")) == ["100 %\nover"]
        assert (await index.find('"50 %"')).hits == []
        assert shown(await index.find('"red alert"')) == ["red alert"]


async def test_newest_first_in_pages(place):
    one, two = Written(place, "one"), Written(place, "two")
    for n in range(30):
        (one if n % 3 else two).say({"type": "user_message", "text": f"needle {n}", "ts": 5000 + n})
    async with an_index(place) as index:
        seen, before = [], None
        for _ in range(100):
            page = await index.find("needle", limit=7, before=before)
            seen += shown(page)
            before = page.next
            if before is None:
                break
        assert seen == [f"needle {n}" for n in reversed(range(30))]
        assert len((await index.find("needle", conversation="two")).hits) == 10
        assert (await index.find("needle", conversation="three")).hits == []
        with pytest.raises(InputError, match="next"):
            await index.find("needle", before="yesterday")


async def test_a_search_is_continued_from_its_last_page(place, monkeypatch):
    """Words too short for the index are looked for in the texts, so many at a time."""
    one = Written(place)
    one.say(*[{"type": "user_message", "text": f"{'x7' if n == 3 else 'nothing'} {n}"} for n in range(100)])
    monkeypatch.setattr(search_index, "EXAMINED", 10)
    async with an_index(place) as index:
        page, pages = await index.find("x7"), 1
        while not page.hits:
            assert page.next is not None
            page, pages = await index.find("x7", before=page.next), pages + 1
        assert shown(page) == ["x7 3"]
        assert pages > 5


async def test_new_text_is_found_at_once(place):
    one = Written(place)
    async with an_index(place) as index:
        assert (await index.find("hello")).hits == []
        one.say({"type": "assistant_delta", "message_id": "m", "text": "hel"})
        assert (await index.find("hello")).hits == []
        one.say({"type": "assistant_delta", "message_id": "m", "text": "lo world"})
        assert shown(await index.find("hello")) == ["hello world"]
        one.say({"type": "assistant_text", "message_id": "m", "text": "Good morning."})
        assert (await index.find("hello")).hits == []
        hit = (await index.find("morning")).hits[0]
        assert (hit.seq, hit.text) == (1, "Good morning.")


async def test_a_line_that_is_half_written_waits(place):
    one = Written(place)
    one.say({"type": "user_message", "text": "first"})
    with one.folder.events.open("ab") as log:
        log.write(b'{"type":"user_message","seq":2,"ts":9,"te')
    async with an_index(place) as index:
        assert shown(await index.find("first")) == ["first"]
        with one.folder.events.open("ab") as log:
            log.write(b'xt":"second"}\n')
        assert shown(await index.find("second")) == ["second"]


async def test_deleted_conversations_are_not_found(place):
    one, two = Written(place, "one"), Written(place, "two")
    for each in (one, two):
        each.say({"type": "user_message", "text": "needle"})
        each.run("echo needle", "needle\n" * 3000)
    async with an_index(place) as index:
        assert len((await index.find("needle")).hits) == 4
        shutil.rmtree(one.folder.path)
        assert {hit.conversation_id for hit in (await index.find("needle")).hits} == {"two"}
        await index.forget("two")
        shutil.rmtree(two.folder.path)
        assert (await index.find("needle")).hits == []
        # the same name again is another conversation
        Written(place, "one", epoch="f").say({"type": "user_message", "text": "needle again"})
        assert shown(await index.find("needle")) == ["needle again"]
    with sqlite3.connect(place / "search.db") as database:
        assert database.execute("SELECT count(*) FROM texts").fetchone() == (1,)
    database.close()


async def test_a_log_that_was_made_anew_is_read_anew(place):
    one = Written(place)
    one.say({"type": "user_message", "text": "old needle"}, {"type": "user_message", "text": "old hay"})
    async with an_index(place) as index:
        assert len((await index.find("old")).hits) == 2
        shutil.rmtree(one.folder.path)
        Written(place, epoch="other").say({"type": "user_message", "text": "new needle"})
        assert shown(await index.find("needle")) == ["new needle"]
        assert (await index.find("old")).hits == []


async def test_a_large_output_is_searched_at_both_ends_and_says_so(place):
    one = Written(place)
    lines = "".join(f"line {n:08}\n" for n in range(MAX_TEXT // 8))
    one.run("seq", lines)
    last = MAX_TEXT // 8 - 1
    async with an_index(place) as index:
        found = await index.find(f"{last:08}")
        assert [marked(hit) for hit in found.hits] == [f"line [{last:08}]"]
        assert found.hits[0].cursor < len(lines) <= found.hits[0].cursor + (64 << 10)
        assert found.cut == 1
        assert (await index.find("00000001")).hits
        assert (await index.find(f"{last // 2:08}")).hits == []  # in the middle
        assert (await index.find("seq", conversation="other")).cut == 0


async def test_every_block_is_found_when_there_are_many(place):
    one = Written(place)
    for n in range(1500):
        one.run("echo", f"result-{n}-\n")
    async with an_index(place) as index:
        for n in (0, 1, 700, 1499):
            assert [hit.block_id for hit in (await index.find(f"result-{n}-")).hits] == [f"b{n + 1}"]


async def test_a_search_does_not_wait_for_a_large_index(place, monkeypatch):
    one = Written(place)
    one.say({"type": "user_message", "text": "needle"})
    one.say(*[{"type": "user_message", "text": f"hay {n}" * 100} for n in range(3000)])
    monkeypatch.setattr(search_index, "TIMEOUT_S", 0.0)
    async with an_index(place) as index:
        found = await index.find("needle")
        assert found.behind > 0
        await index.catch_up()
        assert shown(await index.find("needle")) == ["needle"]


async def test_searches_and_appends_at_the_same_time(place):
    one = Written(place)
    async with an_index(place) as index:

        async def write():
            for n in range(50):
                one.say({"type": "user_message", "text": f"needle {n}."})
                await asyncio.sleep(0)

        async def search():
            counts = [len((await index.find("needle", limit=100)).hits) for _ in range(20)]
            assert counts == sorted(counts)

        await asyncio.gather(write(), *[search() for _ in range(5)])
        assert len((await index.find("needle", limit=100)).hits) == 50


async def test_a_real_terminal(private_home):
    async with Manager(private_home) as manager, an_index(private_home) as index:
        conversation = manager.create("one", cwd=str(private_home), env=environment(), user_rc=False)
        await conversation.terminal.exec_block("printf 'a%sb\\n' needle; seq 1 20000")
        conversation.append([decode_event({"type": "assistant_text", "text": "All 20000 lines are there."})])
        hits = (await index.find("aneedleb")).hits
        assert [(hit.kind, hit.block_id, marked(hit)) for hit in hits] == [("output", "b1", "[aneedleb]\n1\n2…")]
        assert [hit.kind for hit in (await index.find("20000")).hits] == ["message", "command"]
        await manager.delete("one")
        assert (await index.find("20000")).hits == []


# broken files


def rubbish(path):
    path.write_bytes(os.urandom(20_000))


def torn(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def a_page_overwritten(path):
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 200] = bytes(200)
    path.write_bytes(data)


def no_header(path):
    path.write_bytes(bytes(100) + path.read_bytes()[100:])


def a_folder(path):
    path.unlink()
    path.mkdir()


def another_version(path):
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


def a_table_missing(path):
    database = sqlite3.connect(path)
    database.execute("DROP TABLE texts")
    database.close()


def a_text_missing(path):
    database = sqlite3.connect(path)
    with database:
        database.execute("DELETE FROM texts")
    database.close()


def empty(path):
    path.write_bytes(b"")


BREAKS = [rubbish, torn, a_page_overwritten, no_header, a_folder, another_version, a_table_missing, a_text_missing]


@pytest.mark.parametrize("broken", BREAKS)
async def test_a_broken_database_is_made_anew(place, broken):
    one = Written(place)
    one.say(*SAID)
    one.run("seq", "".join(f"{n}\n" for n in range(20_000)))
    async with an_index(place) as index:
        await index.catch_up()
        assert not index.rebuilt
    broken(place / "search.db")
    async with an_index(place) as index:
        assert [hit.seq for hit in (await index.find("19998 19999")).hits] == [7]
        assert shown(await index.find("app/main")) == ["bash command: cat src/app/main.py"]
        assert index.rebuilt
    assert (place / "search.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("missing", [empty, Path.unlink])
async def test_a_missing_database_is_made(place, missing):
    Written(place).say(*SAID)
    async with an_index(place) as index:
        await index.catch_up()
    missing(place / "search.db")
    async with an_index(place) as index:
        assert shown(await index.find("econnreset")) == ["Error: connection lost (ECONNRESET)"]


async def test_broken_while_it_is_open(place):
    one = Written(place)
    one.say(*SAID)
    async with an_index(place) as index:
        await index.catch_up()
        database = sqlite3.connect(place / "search.db")
        with database:
            database.execute("DROP TABLE documents")
        database.close()
        assert len((await index.find("json")).hits) == 1
        assert "documents" in index.rebuilt


# laws


@given(st.lists(st.one_of(TEXT, st.text(), st.sampled_from(['"', "AND", "NEAR(", "*", "^", ":", "-", "a:b"]))))
def test_no_query_is_wrong(words):
    query = " ".join(words)

    async def search(home):
        one = Written(home)
        one.say({"type": "user_message", "text": query}, *SAID)
        async with an_index(home) as index:
            found = await index.find(query)
            for hit in found.hits:
                assert all(0 <= each.start < each.end <= len(hit.text) for each in hit.ranges)
            assert not index.rebuilt

    with tempfile.TemporaryDirectory(prefix="vantage-test-") as home:
        asyncio.run(search(Path(home)))


@given(TEXT, st.data())
def test_any_part_of_a_text_is_found_as_a_phrase(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    part = text[start:end].replace('"', "")
    query = Query(f'"{part}"')
    if query.words and '"' not in text:
        cleaned = clean(text)
        assert query.matches(cleaned) == (query.words[0] in plain(cleaned))


@given(st.text())
def test_plain_text_has_its_characters_in_their_places(text):
    assert len(plain(text)) == len(text)
    assert plain(plain(text)) == plain(text)


PRINTED = TEXT.map(lambda text: text.encode("utf-8", "replace").decode())
"""A terminal prints bytes that are made text: half a character cannot be among them."""
COMMAND = st.tuples(PRINTED, PRINTED)
DELTA = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant_delta", "reasoning_delta"]), "text": TEXT},
    optional={"agent": st.fixed_dictionaries({"id": st.sampled_from("ab"), "depth": st.integers(0, 1)})},
)
LOGGED = EVENT.filter(lambda event: event.get("type") not in ("agent_block_delta", "screen_delta"))
LOG = st.lists(st.one_of(LOGGED, DELTA, COMMAND), max_size=25)


@given(LOG, st.data())
def test_an_index_that_grew_equals_one_that_is_made_anew(log, data):
    looks = data.draw(st.sets(st.integers(0, len(log))))

    async def everything(index):
        return [await index.find(query, limit=500) for query in ("a", "e", " ", "the", "needle")]

    async def grow(home):
        one = Written(home)
        async with an_index(home) as grown:
            for n, item in enumerate(log):
                if isinstance(item, tuple):
                    one.run(*item)
                else:
                    one.say(item)
                if n in looks:
                    await grown.catch_up()
            then = await everything(grown)
            assert not grown.rebuilt
        for path in home.glob("search.db*"):
            path.unlink()
        async with an_index(home) as anew:
            assert await everything(anew) == then
        return {hit.seq for found in then for hit in found.hits}, one

    with tempfile.TemporaryDirectory(prefix="vantage-test-") as home:
        begun, one = asyncio.run(grow(Path(home)))
        assert begun <= row_begins(one)


def row_begins(one) -> set[int]:
    """The events that the timeline's rows begin with."""
    log = EventLog(one.folder.events)
    timeline = Timeline()
    for event in log.read(0, 10_000):
        timeline.add(event)
    log.close()
    return {row.begin for row in timeline.rows}
