"""The socket against the real server: subscriptions, displays, tokens, and messages that are wrong."""

import json

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from socket_client import open_socket
from vantage.presentation import profile
from vantage.server.security.tokens import Tokens


def say(server, conversation, *texts):
    events = [{"type": "user_message", "text": text} for text in texts]
    answer = server.post(f"/v1/conversations/{conversation}/events", events)
    assert answer.status == 200, answer.body


async def test_hello_subscribe_and_what_follows(server):
    with server.conversation() as c:
        say(server, c, "before")
        async with open_socket(server) as socket:
            snapshot = await socket.watch(c, "rows", "screen", "blocks", surface="html")
            assert snapshot["seq"] == 1
            assert "before" in snapshot["rows"][0]["html"]
            assert snapshot["screen"]["rows_count"] == 40
            assert snapshot["blocks"] == []
            assert snapshot["state"]["keyboard"] == "agent"
            await socket.state(c, keyboard="agent")
            ran = server.pty(c, "exec_block", command="echo 'from a' shell")
            await socket.on_screen(c, "from a shell")
            await socket.shown(c, "from a shell", status="ok")
            kinds = [block["type"] for block in socket.blocks if block["block_id"] == ran["block_id"]]
            assert kinds == ["agent_block_begin", "agent_block_delta", "agent_block_end"]
            assert socket.blocks[1]["text"] == "from a shell\n"


async def test_ping(server):
    async with open_socket(server) as socket:
        await socket.say("ping")
        assert await socket.hear() == {"type": "pong"}
        await socket.say("ping", id=7)
        assert await socket.hear() == {"type": "pong", "id": 7}


async def test_two_conversations_on_one_socket(server):
    with server.conversation() as one, server.conversation() as two:
        async with open_socket(server) as socket:
            for conversation in (one, two):
                await socket.watch(conversation)
            say(server, one, "for one")
            say(server, two, "for two")
            await socket.shown(one, "for one")
            await socket.shown(two, "for two")
            await socket.say("unsubscribe", one)
            await socket.say("ping")
            await socket.until(lambda message: message["type"] == "pong")
            say(server, one, "not followed any more")
            say(server, two, "but this")
            await socket.shown(two, "but this")
            assert len(socket.rows[one]) == 1


async def test_a_conversation_that_is_deleted(server):
    with server.conversation() as kept:
        async with open_socket(server) as socket:
            with server.conversation() as c:
                await socket.watch(c)
                await socket.watch(kept)
            error = await socket.error()
            assert (error["code"], error["conversation_id"]) == ("deleted", c)
            say(server, kept, "still here")
            await socket.shown(kept, "still here")
            error = await socket.watch(c)
            assert (error["code"], error["about"]) == ("not_found", "subscribe")
            with server.conversation(id=c):
                assert (await socket.watch(c))["seq"] == 0


async def test_subscribing_again_begins_again(server):
    with server.conversation() as c:
        async with open_socket(server) as socket:
            assert (await socket.watch(c, surface="plain"))["type"] == "snapshot"
            say(server, c, "hello")
            await socket.shown(c, "hello")
            again = await socket.watch(c, surface="terminal")
            assert "hello" in again["rows"][0]["text"]


@pytest.mark.parametrize("surface", ["html", "terminal", "plain", "telegram", "slack"])
async def test_every_surface(server, surface):
    field = {"html": "html", "telegram": "messages", "slack": "messages"}.get(surface, "text")
    with server.conversation() as c:
        say(server, c, "**bold**")
        async with open_socket(server) as socket:
            [row] = (await socket.watch(c, surface=surface))["rows"]
            assert "bold" in json.dumps(row[field])
            assert set(row) == {"seq", "row", field}


@pytest.mark.parametrize("surface", ["html", "terminal", "plain", "telegram", "slack"])
async def test_a_table_that_streams_is_shown_when_it_has_ended(server, surface):
    field = {"html": "html", "telegram": "messages", "slack": "messages"}.get(surface, "text")
    pieces = [
        "Before.\n\n| na",
        "me | colour |\n",
        "|---|",
        "---|\n| apple ",
        "| red |\n| pe",
        "ar | green |\n",
        "\nAfter",
    ]
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c, surface=surface)
            shown = []
            for piece in pieces:
                event = {"type": "assistant_delta", "message_id": "m", "text": piece}
                seq = server.post(f"/v1/conversations/{c}/events", event).json["seq"]
                row = await socket.until(lambda message, seq=seq: message["type"] == "row" and message["seq"] >= seq)
                shown.append(json.dumps(row[field]))
    assert all("Before." in each for each in shown)
    for half in shown[:-1]:
        assert not [word for word in ("name", "apple", "pear", "green") if word in half], half
    assert all(word in shown[-1] for word in ("name", "apple", "pear", "green", "After"))


# displays


async def test_rows_are_drawn_again_for_another_width(server):
    with server.conversation() as c:
        say(server, c, "word " * 40)
        async with open_socket(server, hello=False) as socket:
            await socket.hello(presentation={"content_width": 100})
            wide = (await socket.watch(c))["rows"][0]["text"]
            for width in (90, 80, 70, 60, 50, 40):
                await socket.say("client_config", terminal_width=width)
            narrow = wide
            while max(map(len, narrow.splitlines())) > 40:
                snapshot = await socket.until(lambda message: message["type"] == "snapshot")
                narrow = snapshot["rows"][0]["text"]
            assert max(map(len, wide.splitlines())) > 90
            assert narrow.split() == wide.split()
            # 6 changes, and not so many times all rows
            assert socket.heard.count("snapshot") <= 4
            await socket.say("client_config", terminal_width="wide")
            assert (await socket.error())["code"] == "validation"
            await socket.say("client_config", presentation={"content_width": -1})
            assert (await socket.error())["code"] == "bad_input"


async def test_unknown_fields_of_a_presentation_give_warnings(server):
    async with open_socket(server, hello=False) as socket:
        welcome = await socket.hello(presentation={"client_type": "telegram", "supports_tabels": True})
        assert ["supports_tabels" in each and "supports_tables" in each for each in welcome["warnings"]] == [True]
        assert "warnings" not in await socket.hello(presentation={"client_type": "telegram"})
        await socket.say("client_config", presentation={"contentWidht": 40})
        said = await socket.until(lambda message: message["type"] == "warnings")
        assert (said["about"], len(said["warnings"])) == ("client_config", 1)


async def test_fields_of_a_display_in_camel_case_and_unknown_ones(server):
    async with open_socket(server, hello=False) as socket:
        await socket.say("hello", token=server.token, clientId="phone", terminalWidth=44, colour="red")
        welcome = await socket.until(lambda message: message["type"] == "welcome")
        assert welcome["client_id"] == "phone"
        assert ["colour" in each for each in welcome["warnings"]] == [True]
        await socket.say("client_config", terminal_widht=40)
        said = await socket.until(lambda message: message["type"] == "warnings")
        assert ["terminal_widht" in each and "terminal_width" in each for each in said["warnings"]] == [True]


async def test_an_agents_display_is_not_the_clients(server):
    with server.conversation() as c:

        def told(query=""):
            return server.get(f"/v1/conversations/{c}/instructions{query}").json["text"]

        async with open_socket(server, hello=False) as socket:
            await socket.hello(presentation={"client_type": "telegram"})
            await socket.watch(c)
            agent = {"id": "sub", "depth": 1}
            for conversation in ({}, {"conversation_id": c}):
                await socket.say("client_config", agent=agent, presentation={"client_type": "api"}, **conversation)
                await socket.say("ping")
                await socket.until(lambda message: message["type"] == "pong")
                assert told() == profile("telegram").to_system_instruction()
                assert told("?agent=sub") == profile("api").to_system_instruction()
                await socket.say("client_config", agent=agent, **conversation)
                await socket.say("ping")
                await socket.until(lambda message: message["type"] == "pong")
                assert told("?agent=sub") == told(), "without a display it writes for the clients again"
            listed = server.get(f"/v1/conversations/{c}/clients").json["clients"]
            assert [each["connected"] for each in listed] == [True]
        [left] = server.get(f"/v1/conversations/{c}/clients").json["clients"]
        assert left["last_seen"] >= listed[0]["last_seen"], "it stays present for a while after its socket has closed"


async def test_a_presentation_starts_from_its_clients_profile(server):
    with server.conversation() as c:
        async with open_socket(server, hello=False) as socket:
            await socket.hello(presentation={"client_type": "telegram"})
            await socket.watch(c)
            told = server.get(f"/v1/conversations/{c}/instructions").json["text"]
            assert told == profile("telegram").to_system_instruction()


async def test_the_agent_is_told_of_the_display(server):
    with server.conversation() as c:

        def instruction():
            return server.get(f"/v1/conversations/{c}/instructions").json["text"]

        async with open_socket(server, hello=False) as socket:
            await socket.hello(terminal_width=44)
            await socket.watch(c)
            assert "44" in instruction()
            await socket.say("client_config", terminal_width=55)
            await socket.say("ping")
            await socket.until(lambda message: message["type"] == "pong")
            assert "55" in instruction()
            # a client that is sent no rows does not count for how wide they may be
            async with open_socket(server, "attached") as other:
                await other.say("client_config", terminal_width=33)
                await other.watch(c, "screen")
                assert "55" in instruction()


# tokens


async def test_without_a_token(server):
    async with open_socket(server, token="", hello=False) as socket:
        await socket.say("ping")
        assert await socket.closed() == 4401
    async with open_socket(server, token="", hello=False) as socket:
        await socket.connection.send("nonsense")
        assert await socket.closed() == 4401
    async with open_socket(server, token="", hello=False) as socket:
        await socket.say("hello", client_id="x", token="wrong")
        assert await socket.closed() == 4401
    async with open_socket(server, token="", hello=False) as socket:
        await socket.say("hello", client_id="x")
        assert await socket.closed() == 4401
    with pytest.raises(InvalidStatus):
        async with open_socket(server, token="wrong"):
            pass


async def test_a_token_with_hello(server):
    async with open_socket(server, token="", hello=False) as socket:
        welcome = await socket.hello(token=server.token)
        assert welcome == {"type": "welcome", "client_id": "ada", "scope": "full"}


async def test_hello_comes_first(server):
    with server.conversation() as c:
        async with open_socket(server, hello=False) as socket:
            error = await socket.watch(c)
            assert (error["code"], error["about"]) == ("validation", "subscribe")
            assert "hello" in error["hint"]
            await socket.hello()
            await socket.hello(terminal_width=30)
            await socket.say("hello", client_id="bob")
            assert (await socket.error())["code"] == "validation"
            assert (await socket.watch(c))["type"] == "snapshot"


async def test_a_token_that_only_watches(server):
    known, token = Tokens(server.home).new(scope="read")
    try:
        with server.conversation() as c:
            async with open_socket(server, token=token) as socket:
                assert (await socket.watch(c))["type"] == "snapshot"
                for message in (
                    {"kind": "take_keyboard", "conversation": c},
                    {"kind": "release_keyboard", "conversation": c},
                    {"kind": "input", "conversation": c, "data": "rm -rf /\n"},
                    {"kind": "client_config", "primary": True},
                ):
                    await socket.say(**message)
                    error = await socket.error()
                    assert (error["code"], error["about"]) == ("read_only", message["kind"])
                await socket.say("client_config", terminal_width=40)
                say(server, c, "seen")
                await socket.shown(c, "seen")
    finally:
        Tokens(server.home).revoke(known.id)


async def test_a_token_that_is_taken_back(server):
    known, token = Tokens(server.home).new()
    with server.conversation() as c:
        async with open_socket(server, token=token) as talking, open_socket(server, token=token) as listening:
            await listening.watch(c)
            Tokens(server.home).revoke(known.id)
            await talking.say("ping")
            assert await talking.closed() == 4401
            say(server, c, "not for you")
            assert await listening.closed() == 4401


# nonsense

NONSENSE = [
    "",
    "x",
    "null",
    "[]",
    "{}",
    '"hello"',
    '{"type": 3}',
    '{"type": "sing"}',
    '{"type": "subscribe"}',
    '{"type": "subscribe", "conversation_id": 5}',
    '{"type": "subscribe", "conversation_id": "c", "channels": ["smells"]}',
    '{"type": "subscribe", "conversation_id": "c", "channels": "rows"}',
    '{"type": "subscribe", "conversation_id": "c", "surface": "stone"}',
    '{"type": "subscribe", "conversation_id": "c", "after": -1}',
    '{"type": "subscribe", "conversation_id": "c", "after": 1e400}',
    '{"type": "subscribe", "conversation_id": "../../etc"}',
    '{"type": "subscribe", "conversation_id": "' + "a" * 65 + '"}',
    '{"type": "subscribe", "conversation_id": "\\u0000"}',
    '{"type": "hello"}',
    '{"type": "hello", "client_id": ""}',
    '{"type": "hello", "client_id": "' + "a" * 101 + '"}',
    '{"type": "hello", "client_id": "ada", "presentation": {"content_width": "x"}}',
    '{"type": "client_config", "terminal_width": 1e300}',
    '{"type": "client_config", "presentation": {"content_width": 99999999999999999999}}',
    '{"type": "input", "conversation_id": "missing", "data": "x"}',
    '{"type": "input", "conversation_id": "missing"}',
    '{"type": "take_keyboard", "conversation_id": ""}',
    '{"type": "ping", "id": {}}',
    '{"type": "ping", "id": "\\ud800"}',
    "[" * 100_000,
    '{"type":' * 10_000,
    '{"type": "hello", "client_id": "ada", "presentation": {"a": ' + "[" * 5000 + "]" * 5000 + "}}",
    b"\x00\x01\x02",
    b"\xff\xfe{}",
]


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (
            {"surface": "paper"},
            "`surface`: 'paper' is not known",
            "is one of html, plain, slack, telegram",
        ),
        (
            {"channels": ["news"]},
            "`channels[0]`: 'news' is not known",
            "is one of blocks, events, requests, rows, screen",
        ),
        (
            {"after": "x"},
            "`after`: expected a whole number from 0 on, got a text",
            "it takes conversation_id, channels?, surface?",
        ),
    ],
)
async def test_an_error_about_a_message_lists_its_fields(server, said, message, hint):
    async with open_socket(server) as socket:
        await socket.say("subscribe", conversation_id="demo", **said)
        error = await socket.error()
        assert (error["about"], error["conversation_id"]) == ("subscribe", "demo"), "so that its sender knows it again"
        assert message in error["message"]
        assert hint in error["hint"]


async def test_nonsense_is_answered_and_the_socket_stays(server):
    async with open_socket(server) as socket:
        for number, message in enumerate(NONSENSE):
            await socket.connection.send(message)
            error = await socket.hear()
            assert error["type"] == "error", message[:80]
            assert error["code"] in ("validation", "bad_input", "not_found"), message[:80]
            assert error["message"]
            assert error["hint"]
            await socket.say("ping", id=number)
            assert await socket.hear() == {"type": "pong", "id": number}
    assert server.running


async def test_unknown_fields_are_ignored(server):
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.connection.send(
                json.dumps({"type": "subscribe", "conversation_id": c, "colour": "blue", "channels": ["rows", "rows"]})
            )
            assert (await socket.hear())["type"] == "snapshot"


async def test_a_message_that_is_too_long_closes_the_socket(server):
    async with open_socket(server) as socket:
        with pytest.raises(ConnectionClosed):
            await socket.connection.send("x" * (2 << 20))
            await socket.hear()
        assert await socket.closed() == 1009


async def test_text_that_is_no_text_closes_the_socket(server):
    async with open_socket(server) as socket:
        await socket.connection.send(b"\xff\xff", text=True)
        assert await socket.closed() == 1007


def test_over_http_it_says_what_it_is(server):
    answer = server.get("/v1/ws")
    assert (answer.status, answer.code) == (426, "upgrade_required")
