"""A conversation followed as rows: what is folded live is what the log gives, however it is taken and resumed."""

import asyncio
import json
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import EVENT
from terminal_home import environment, host_pid, wait_until_gone
from vantage.conversation.feed import block_events, encoder, row_renderer
from vantage.conversation.feed.drawing import RenderTarget
from vantage.conversation.feed.feed import Feed
from vantage.conversation.feed.hub import Hub
from vantage.conversation.feed.row_cache import Key, RowCache
from vantage.conversation.feed.subscription import Subscription
from vantage.conversation.live.output_stream import OutputStream
from vantage.conversation.manager import Manager
from vantage.errors import NotFound
from vantage.events import AgentBlockDelta, decode_event
from vantage.terminal.output.blocks import Block, ByteRange
from vantage.timeline.fold import Timeline

TARGET = RenderTarget.of("plain", 60)
ROWS = frozenset({"rows"})
LIVE_ONLY = ("agent_block_delta", "screen_delta")
FEWER = settings.default.max_examples // 3 + 1
"""Each makes a conversation with a screen."""
EVENTS = EVENT.filter(lambda event: event.get("type") not in LIVE_ONLY)


class Client:
    """What a client of the protocol keeps: rows by id, and its position."""

    def __init__(self, feed, target=TARGET, channels=ROWS):
        self.feed, self.target, self.channels = feed, target, channels
        self.rows, self.blocks, self.screens, self.said = {}, [], [], []
        self.epoch = self.seq = None
        self.woken = asyncio.Event()
        self.wakes = 0
        self.subscription = None

    def wake(self):
        self.wakes += 1
        self.woken.set()

    async def connect(self):
        if self.subscription is not None:
            await self.coming.aclose()
            self.subscription.close()
        self.subscription = Subscription(self.feed, self.target, self.channels, self.wake)
        await self.subscription.open(self.epoch, self.seq)
        self.coming = self.subscription.messages()

    async def take(self, count):
        """Takes at most so many messages; the rest is encoded when it is taken."""
        for _ in range(count):
            message = await anext(self.coming, None)
            if message is None:
                self.coming = self.subscription.messages()
                message = await anext(self.coming, None)
                if message is None:
                    self.coming = self.subscription.messages()
                    return False
            self.apply(json.loads(message))
        return True

    async def catch_up(self):
        while await self.next(wait=False):
            pass

    async def next(self, *, wait=True):
        """Takes one message. Without `wait`, False when nothing is left."""
        while True:
            self.woken.clear()
            if await self.take(1):
                return True
            if not wait and not self.subscription.behind:
                return False
            await self.woken.wait()

    def apply(self, message):
        self.said.append(message["type"])
        kind = message["type"]
        if kind == "snapshot":
            self.rows = {each["row"]["id"]: each["text"] for each in message["rows"]}
            self.blocks = []
            self.screens += [message["screen"]] if message["screen"] else []
            self.epoch, self.seq = message["epoch"], message["seq"]
        elif kind == "resumed":
            assert (message["epoch"], message["seq"]) == (self.epoch, self.seq)
        elif kind == "row":
            self.rows[message["row"]["id"]] = message["text"]
            assert message["seq"] >= self.seq
            self.seq = message["seq"]
        elif kind == "screen_delta":
            self.screens.append(message)
        elif kind.startswith("agent_block_"):
            self.blocks.append(message)


@asynccontextmanager
async def a_conversation(**how):
    with tempfile.TemporaryDirectory() as home:
        async with Manager(Path(home)) as manager:
            hub = Hub(manager.bus, interval_s=0, **how)
            conversation = manager.create("c", cwd=home, env=environment())
            try:
                yield manager, hub, conversation
            finally:
                hub.close()


ACTIONS = st.lists(
    st.one_of(
        st.lists(EVENTS, min_size=1, max_size=4),
        st.integers(1, 5),
        st.sampled_from(["cut", "output"]),
    ),
    max_size=25,
)


@settings(max_examples=FEWER)
@given(ACTIONS)
def test_rows_followed_live_are_those_of_the_log(actions):
    """Events, takes of a few messages and broken connections, in any order.

    In the end the client has what a fresh one gets, in its order, and that is what `Timeline` makes of the log.
    """

    async def follow():
        async with a_conversation() as (manager, hub, conversation):
            client = Client(await hub.feed("c"))
            await client.connect()
            for action in actions:
                if isinstance(action, list):
                    conversation.append([decode_event(event) for event in action])
                elif isinstance(action, int):
                    await client.take(action)
                elif action == "cut":
                    await client.connect()
                else:
                    manager.bus.publish("c", [AgentBlockDelta(block_id="a", text="x", spool=[0, 1])])
            await client.catch_up()
            assert client.said.count("snapshot") == 1 or "cut" in actions

            fresh = Client(await Hub(manager.bus, interval_s=0).feed("c"))
            await fresh.connect()
            await fresh.catch_up()
            assert list(client.rows.items()) == list(fresh.rows.items())

            timeline = Timeline()
            for event in conversation.events.read(0, 10_000):
                timeline.add(event)
            assert list(fresh.rows) == [row.id for row in timeline.rows]
            for row in timeline.rows:
                followed = await client.feed.renderer.row(row.id)
                if followed.tool != "terminal":
                    assert followed == row

    asyncio.run(follow())


@settings(max_examples=FEWER)
@given(st.lists(EVENTS, max_size=12), st.data())
def test_resuming_anywhere_gives_what_a_fresh_snapshot_gives(events, data):
    """Also from a feed that another process folded: numbers and rows are the log's."""

    async def follow():
        async with a_conversation() as (manager, hub, conversation):
            client = Client(await hub.feed("c"))
            await client.connect()
            cut = data.draw(st.integers(0, len(events)))
            conversation.append([decode_event(event) for event in events[:cut]])
            await client.catch_up()
            client.subscription.close()
            conversation.append([decode_event(event) for event in events[cut:]])
            again = Client(await Hub(manager.bus, interval_s=0).feed("c"))
            again.rows, again.epoch, again.seq = dict(client.rows), client.epoch, client.seq
            fresh = Client(again.feed)
            for each in (again, fresh):
                await each.connect()
                await each.catch_up()
            assert again.said[0] == "resumed"
            assert again.rows == fresh.rows

    asyncio.run(follow())


def say(count, start=0):
    return [
        decode_event({"type": "user_message", "text": f"message {number}"}) for number in range(start, start + count)
    ]


async def snapshot_of(follower, *channels):
    [snapshot] = (
        await encoder.FeedEncoder(follower.replica, follower.renderer, TARGET)
        .snapshot(frozenset(channels or ROWS))
        .messages()
    )
    return json.loads(snapshot)


async def test_a_snapshot_has_the_last_200_rows_and_says_where_it_begins():
    async with a_conversation() as (_, hub, conversation):
        conversation.append(say(250))
        follower = await hub.feed("c")
        snapshot = await snapshot_of(follower)
        assert len(snapshot["rows"]) == 200
        assert (snapshot["seq"], snapshot["first"]) == (250, 51)
        earlier = follower.rows.before(snapshot["first"], 500)
        assert [follower.rows.begin(row_id) for row_id in earlier] == list(range(1, 51))


async def test_a_snapshot_is_never_huge(monkeypatch):
    monkeypatch.setattr(encoder, "SNAPSHOT_SIZE", 1000)
    async with a_conversation() as (_, hub, conversation):
        conversation.append(say(50))
        snapshot = await snapshot_of(await hub.feed("c"))
        rows = snapshot["rows"]
        assert "message 49" in rows[-1]["text"]
        assert 1 < len(rows) < 50
        assert snapshot["first"] == rows[0]["row"]["begin"]


async def test_a_subscriber_that_falls_far_behind_gets_a_fresh_snapshot():
    async with a_conversation() as (_, hub, conversation):
        client = Client(await hub.feed("c"))
        await client.connect()
        await client.catch_up()
        conversation.append(say(200))
        await client.catch_up()
        assert client.said.count("snapshot") == 1
        conversation.append(say(201, 200))
        await client.catch_up()
        assert client.said.count("snapshot") == 2
        assert len(client.rows) == 200


@pytest.mark.parametrize(("epoch", "after"), [("other", 3), (None, 3), ("same", 100), ("same", None)])
async def test_a_position_that_does_not_apply_gives_a_snapshot(epoch, after):
    async with a_conversation() as (_, hub, conversation):
        conversation.append(say(5))
        client = Client(await hub.feed("c"))
        client.epoch, client.seq = (client.feed.replica.epoch if epoch == "same" else epoch), after
        await client.connect()
        await client.catch_up()
        assert client.said[0] == "snapshot"


async def test_resuming_over_more_than_200_rows_gives_a_snapshot():
    async with a_conversation() as (_, hub, conversation):
        conversation.append(say(250))
        client = Client(await hub.feed("c"))
        for seq, first in ((49, "snapshot"), (50, "resumed")):
            client.epoch, client.seq, client.said = client.feed.replica.epoch, seq, []
            await client.connect()
            await client.catch_up()
            assert client.said[0] == first


async def test_rows_of_one_event_are_never_parted():
    """A tool call that ends a message changes two rows: a client that has only one of them resumes before both."""
    async with a_conversation() as (_, hub, conversation):
        client = Client(await hub.feed("c"))
        await client.connect()
        await client.catch_up()
        conversation.append([decode_event({"type": "assistant_delta", "message_id": "m", "text": "so"})])
        await client.catch_up()
        conversation.append([decode_event({"type": "tool_start", "tool": "x", "toolCallId": "1"})])
        await client.next()
        assert (client.said[-1], client.seq) == ("row", 1)
        await client.next()
        assert (client.said[-1], client.seq) == ("row", 2)
        follower = client.feed
        assert follower.rows.after(1, 1) == ["r1", "r2"]


async def test_subscribers_are_woken_at_the_leading_and_the_trailing_edge():
    """The first change wakes on the spot; of a hundred more, those within the interval wake once."""
    async with a_conversation() as (manager, _, conversation):
        follower = Feed(manager.bus, "c", interval_s=0.02)
        await follower.start()
        client = Client(follower)
        await client.connect()
        await client.catch_up()
        before = client.wakes
        began = asyncio.get_running_loop().time()
        conversation.append(say(1))
        await client.catch_up()
        assert client.wakes == before + 1
        for number in range(100):
            conversation.append(say(1, number))
        await client.catch_up()
        assert client.wakes == before + 2
        assert asyncio.get_running_loop().time() - began >= 0.02
        assert len(client.rows) == 101
        follower.stop()


async def test_a_row_is_drawn_once_for_each_target(monkeypatch):
    drawn = []
    draw = row_renderer.draw_row

    async def counted(row, target):
        drawn.append((row.id, target.context.content_width))
        await asyncio.sleep(0)
        return await draw(row, target)

    monkeypatch.setattr(row_renderer, "draw_row", counted)
    async with a_conversation() as (_, hub, conversation):
        follower = await hub.feed("c")
        clients = [Client(follower, RenderTarget.of("plain", 40 + 20 * (number % 2))) for number in range(20)]
        for client in clients:
            await client.connect()
        await asyncio.gather(*(client.catch_up() for client in clients))
        conversation.append(say(1))
        await asyncio.gather(*(client.catch_up() for client in clients))
        assert sorted(drawn) == [("r1", 40), ("r1", 60)]
        assert all(len(client.rows) == 1 for client in clients)


async def test_a_row_that_cannot_be_drawn_says_so_and_others_are_shown(monkeypatch):
    draw = row_renderer.draw_row

    async def failing(row, target):
        if any("message 1" in getattr(block, "content", "") for block in row.blocks):
            raise ZeroDivisionError
        return await draw(row, target)

    monkeypatch.setattr(row_renderer, "draw_row", failing)
    async with a_conversation() as (_, hub, conversation):
        conversation.append(say(3))
        client = Client(await hub.feed("c"))
        await client.connect()
        await client.catch_up()
        assert "cannot be drawn: ZeroDivisionError()" in client.rows["r2"]
        assert "message 2" in client.rows["r3"]


async def test_events_of_commands_that_are_not_kept_any_more(monkeypatch):
    """A subscriber gets a snapshot when events that it has not seen are dropped, and when it resumes before them."""
    monkeypatch.setattr(block_events, "KEPT_EVENTS", 10)
    begin = [decode_event({"type": "agent_block_begin", "block_id": f"b{number}"}) for number in range(20)]
    async with a_conversation() as (_, hub, conversation):
        client = Client(await hub.feed("c"), channels=frozenset({"blocks"}))
        await client.connect()
        await client.catch_up()
        conversation.append(begin[:10])
        await client.catch_up()
        assert [message["seq"] for message in client.blocks] == list(range(1, 11))
        conversation.append(begin[10:])
        conversation.append(begin[:1])
        await client.catch_up()
        assert (client.said.count("snapshot"), client.blocks) == (2, [])
        for seq, first, count in ((10, "snapshot", 0), (11, "resumed", 10)):
            client.seq, client.said, client.blocks = seq, [], []
            await client.connect()
            await client.catch_up()
            assert (client.said[0], len(client.blocks)) == (first, count)


async def test_subscribers_hear_of_a_deletion_and_a_new_conversation_of_that_name_begins_anew():
    async with a_conversation() as (manager, hub, conversation):
        conversation.append(say(3))
        client = Client(await hub.feed("c"))
        await client.connect()
        await client.catch_up()
        client.woken.clear()
        await manager.delete("c")
        assert client.woken.is_set()
        assert client.subscription.gone
        with pytest.raises(NotFound):
            await hub.feed("c")
        manager.create("c", cwd="/").append(say(1))
        again = await hub.feed("c")
        assert (again.rows.seq, again.replica.epoch == client.epoch) == (1, False)


async def test_a_feed_is_kept_while_it_is_followed_and_then_dropped():
    expired = asyncio.Event()

    class Expiring(Hub):
        def _expire(self, conversation_id):
            super()._expire(conversation_id)
            expired.set()

    async with a_conversation() as (manager, _, _):
        hub = Expiring(manager.bus, linger_s=0.01)
        follower = await hub.feed("c")
        client = Client(follower)
        await client.connect()
        dropped = asyncio.Event()
        stop = follower.stop
        follower.stop = lambda: (stop(), dropped.set())
        await expired.wait()
        assert await hub.feed("c") is follower
        client.subscription.close()
        await dropped.wait()
        assert not manager.bus.followed("c")


async def test_a_caller_that_is_canceled_does_not_cancel_a_feed_for_others():
    async with a_conversation() as (_, hub, conversation):
        conversation.append(say(2000))
        waiting = [asyncio.ensure_future(hub.feed("c")) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        feeds = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(feeds[0], asyncio.CancelledError)
        assert {each.rows.seq for each in feeds[1:]} == {2000}
        assert len(set(feeds[1:])) == 1


async def test_a_spec_draws_no_call_that_came_before_it():
    """Not live, and not when the log is read again."""
    spec = {"collapsed": {"title": "with a spec"}}
    call = {"type": "tool_start", "tool": "gadget", "toolCallId": "1"}
    async with a_conversation() as (manager, hub, conversation):
        client = Client(await hub.feed("c"))
        conversation.append([decode_event(call)])
        conversation.set_tool("gadget", spec)
        conversation.append([decode_event({**call, "toolCallId": "2"})])
        await client.connect()
        await client.catch_up()
        assert ["with a spec" in text for text in client.rows.values()] == [False, True]
        fresh = Client(await Hub(manager.bus).feed("c"))
        await fresh.connect()
        await fresh.catch_up()
        assert fresh.rows == client.rows


def test_the_row_cache_stays_within_its_size():
    kept = RowCache(100)
    keys = [Key(None, f"r{number}", TARGET) for number in range(5)]
    for key in keys:
        kept.keep(key, 1, "x" * 30)
    assert [kept.find(key, 1) is not None for key in keys] == [False, False, True, True, True]
    assert kept.find(keys[2], 2) is None
    kept.keep(keys[2], 2, "y" * 101)
    assert [kept.find(key, 2 if key is keys[2] else 1) for key in keys] == [None] * 5


# what running commands print


@settings(max_examples=50)
@given(st.lists(st.text("aé漢👍\x1e\n", max_size=8), max_size=12), st.data())
def test_pieces_of_output_are_what_the_spool_has(texts, data):
    """Cut anywhere, also inside a character; what a piece leaves out of a flood shows in its numbers."""

    async def tell():
        spool = "".join(texts).encode()
        told, grown = [], 0
        teller = OutputStream(lambda start, end: spool[start:end], told.append, lambda: True, interval_s=0)
        nothing = ByteRange(0, 0)
        block = Block("b", 1, "cmd", None, "exec", ts_begin=0, spool=nothing, raw=nothing, shell_id="s")
        while grown < len(spool):
            grown = data.draw(st.integers(grown + 1, len(spool)))
            teller.printed(block, grown)
        block.spool = ByteRange(0, len(spool))
        teller.ended(block)
        at = 0
        for piece in told:
            start, end = piece.spool
            assert spool[at:start].replace(b"\x1e", b"") == b""
            assert piece.text == spool[start:end].decode().replace("\x1e", "")
            at = end
        assert spool[at:].replace(b"\x1e", b"") == b""

    asyncio.run(tell())


@asynccontextmanager
async def a_shell(home):
    async with Manager(home) as manager:
        hub = Hub(manager.bus, interval_s=0)
        conversation = manager.create(cwd=str(home), env=environment(), user_rc=False)
        try:
            yield manager, hub, conversation
        finally:
            await manager.delete(conversation.id)
            hub.close()


async def test_output_of_a_real_shell(home):
    """The row of a command that runs shows what it has printed so far, and so it does for a client that resumes."""
    async with a_shell(home) as (_, hub, conversation):
        terminal = conversation.terminal
        client = Client(await hub.feed(conversation.id), channels=frozenset({"rows", "blocks"}))
        await client.connect()
        await client.catch_up()
        started = await terminal.exec_block("echo one; read x; echo two", timeout_ms=0)
        await terminal.wait_for("one\n", from_cursor=started.cursor)
        await client.catch_up()
        again = Client(client.feed)
        again.epoch, again.seq = client.epoch, client.seq
        await again.connect()
        await again.catch_up()
        assert again.said[0] == "resumed"
        assert "one" in again.rows["r1"]
        running = (await snapshot_of(client.feed, "blocks"))["blocks"]
        assert [(block["type"], block["block_id"]) for block in running] == [("agent_block_begin", started.block_id)]
        await terminal.enter()
        await terminal.wait_for("PROMPT")
        await client.catch_up()
        assert "two" in client.rows["r1"]
        first, *pieces, last = client.blocks
        assert (first["type"], last["type"]) == ("agent_block_begin", "agent_block_end")
        assert "".join(piece["text"] for piece in pieces).split() == ["one", "two"]
        spans = [piece["spool"] for piece in pieces]
        assert spans[0][0] == started.cursor
        assert [end for _, end in spans[:-1]] == [start for start, _ in spans[1:]]


async def test_the_screen_is_followed_as_deltas_that_add_up(home):
    """Two subscribers that read at different times end with the terminal's screen."""
    async with a_shell(home) as (_, hub, conversation):
        terminal = conversation.terminal
        clients = [Client(await hub.feed(conversation.id), channels=frozenset({"screen"})) for _ in range(2)]
        shown = [{}, {}]

        async def look(number):
            for message in clients[number].screens:
                if "rows" in message:
                    shown[number].update({row["row"]: row["text"] for row in message["rows"]})
            clients[number].screens.clear()

        for client in clients:
            await client.connect()
        for command in ("echo one", "seq 50", "clear; echo last"):
            await terminal.exec_block(command)
            await terminal.read_screen()
            await clients[0].catch_up()
            await look(0)
        await terminal.wait_for("PROMPT")
        screen = await terminal.read_screen()
        for number in range(2):
            await clients[number].catch_up()
            await look(number)
            assert [shown[number][row] for row in range(screen.rows_count)] == screen.rows
        assert shown[0][0] == "last"


async def test_a_conversation_without_a_shell_is_watched_without_a_host(private_home):
    """Following a conversation that has ended starts no process."""
    async with Manager(private_home) as manager:
        conversation = manager.create("c", cwd=str(private_home), env=environment(), user_rc=False)
        await conversation.terminal.exec_block("echo remembered")
        await manager.close_conversation("c")
    wait_until_gone(host_pid(private_home))
    async with Manager(private_home) as manager:
        hub = Hub(manager.bus)
        client = Client(await hub.feed("c"), channels=frozenset({"rows", "screen", "blocks"}))
        await client.connect()
        await client.catch_up()
        assert "remembered" in client.rows["r1"]
        assert "remembered" in client.screens[0]["rows"][1]["text"]
        terminal = manager.get("c").terminal
        assert (await terminal.status()).mode == "exited"
        assert (await terminal.search("remembered")).hits
        assert (await terminal.read_spool()).text
        assert (await terminal.blocks()).blocks
        assert host_pid(private_home) is None
        hub.close()
        await manager.delete("c")
        assert host_pid(private_home) is None
