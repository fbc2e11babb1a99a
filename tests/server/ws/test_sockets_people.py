"""People at their sockets: the keyboard, secrets, presence, client ids, limits."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from socket_client import open_socket, serving_here
from terminal_home import environment
from vantage.events import UserMessage
from vantage.server.security.tokens import Tokens
from vantage.server.ws.limits import Limits


async def test_the_keyboard_goes_from_hand_to_hand(server):
    with server.conversation() as c:
        async with open_socket(server, "ada") as ada, open_socket(server, "bob") as bob:
            for person in (ada, bob):
                await person.watch(c, "rows", "screen")
            server.pty(c, "exec_block", command="true")

            await ada.say("take_keyboard", c)
            await bob.state(c, keyboard="client:ada")
            refused = server.post(f"/v1/conversations/{c}/pty/exec_block", {"command": "true"})
            assert (refused.status, refused.code) == (409, "keyboard_taken")
            await bob.say("take_keyboard", c)
            error = await bob.error()
            assert (error["code"], error["about"]) == ("keyboard_taken", "take_keyboard")
            await bob.say("input", c, data="echo never\n")
            assert (await bob.error())["code"] == "keyboard_taken"
            await bob.say("release_keyboard", c)  # it is not bob's to give

            await ada.say("input", c, data="echo by $((20 + 2)) hands\n")
            row = await bob.shown(c, "by 22 hands", status="ok")
            assert row["row"]["title"] == "Ran echo by $((20 + 2)) hands"

            await ada.say("release_keyboard", c)
            await bob.state(c, keyboard="agent")
            await bob.say("take_keyboard", c)
            await ada.state(c, keyboard="client:bob")
            await ada.say("input", c, data="echo never\n")
            assert (await ada.error())["code"] == "keyboard_taken"
            await bob.say("input", c, keys=["e", "c", "h", "o", "Space", "k", "e", "y", "s", "Enter"])
            await ada.shown(c, "keys", status="ok")
            await bob.say("input", c, keys=["Hyper"])
            assert (await bob.error())["about"] == "input"
            await bob.say("release_keyboard", c)
            await ada.state(c, keyboard="agent")
            assert server.pty(c, "exec_block", command="echo agent")["output"] == "agent\n"
            assert "never" not in json.dumps(ada.rows)


async def test_typing_needs_the_keyboard(server):
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c)
            await socket.say("input", c, data="x")
            error = await socket.error()
            assert (error["code"], error["conversation_id"]) == ("keyboard_taken", c)
            assert "take_keyboard" in error["hint"]
            await socket.say("take_keyboard", c)
            for wrong in ({}, {"data": "x", "keys": ["x"]}):
                await socket.say("input", c, **wrong)
                assert (await socket.error())["code"] == "validation"
            await socket.say("input", c, data="x")
            assert (await socket.error())["code"] == "not_running"


async def test_typed_bytes_reach_the_program_unchanged(server):
    """Ctrl-J is no Enter."""
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c, "screen")
            server.pty(c, "exec_interactive", command="stty raw -echo; echo ready; head -c 2 | od -An -tx1; stty sane")
            server.pty(c, "wait_for", match="ready")
            await socket.say("take_keyboard", c)
            await socket.say("input", c, data="\n\r")
            await socket.on_screen(c, "0a 0d")


async def test_a_secret_is_typed_as_one_and_sent_to_no_client(server):
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c, "rows", "screen", "blocks")
            server.pty(c, "exec_block", command="read -s -p 'Pass''word: ' p; echo; echo got ${#p}", timeout_ms=0)
            await socket.say("take_keyboard", c)
            await socket.on_screen(c, "Password:")
            await socket.state(c, awaiting_secret=True, mode="block_running")
            await socket.say("input", c, data="hunter2\n")
            error = await socket.error()
            assert (error["code"], error["about"]) == ("secret_prompt", "input")
            await socket.say("input", c, data="hunter2\n", secret=True)
            await socket.shown(c, "got 7", status="ok")
            await socket.state(c, awaiting_secret=False, mode="idle")
            await socket.say("input", c, data="hunter2\n", secret=True)
            assert (await socket.error())["code"] == "no_secret_prompt"
            said = json.dumps([socket.rows, socket.screens, socket.blocks, socket.errors])
            assert "hunter2" not in said
            assert "hunter2" not in server.get(f"/v1/conversations/{c}/events").body.decode()


# presence


def a_conversation(here, home):
    return here.manager.create("c", cwd=str(home), env=environment(), user_rc=False)


async def test_a_second_secret_is_asked_for_too(server):
    """The state is the same as for the first one, and is sent again."""
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c, "rows", "screen", "blocks")
            for prompt in ("First", "Second"):
                server.pty(c, "exec_block", command=f"read -s -p '{prompt}''? ' p", timeout_ms=0)
                await socket.on_screen(c, f"{prompt}?")
                await socket.state(c, awaiting_secret=True, mode="block_running")
                server.pty(c, "ctrl_c")
                await socket.state(c, awaiting_secret=False, mode="idle")


async def test_a_client_without_a_socket_is_dropped_after_a_while(private_home):
    """Its display does not count any more, and others hear that the agent has the keyboard."""
    async with serving_here(private_home, Limits(linger_s=0.01)) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("bob") as bob:
            await bob.watch("c")
            async with here.socket("ada") as ada:
                await ada.say("client_config", terminal_width=33)
                await ada.watch("c")
                await ada.say("take_keyboard", "c")
                await bob.state("c", keyboard="client:ada")
                assert set(conversation.displays.contexts.clients) == {"ada", "bob"}
            await bob.state("c", keyboard="agent")
            assert set(conversation.displays.contexts.clients) == {"bob"}


async def test_a_client_that_comes_back_in_time_finds_everything_unchanged(private_home):
    async with serving_here(private_home) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("ada") as ada:
            await ada.say("client_config", terminal_width=33)
            await ada.watch("c")
            await ada.say("take_keyboard", "c")
            await ada.state("c", keyboard="client:ada")
        assert conversation.displays.contexts.clients["ada"].content_width == 33
        async with here.socket("ada") as ada:
            await ada.say("client_config", terminal_width=33)
            snapshot = await ada.watch("c")
            assert snapshot["state"]["keyboard"] == "client:ada"
            await ada.say("input", "c", data="x")
            assert (await ada.error())["code"] == "not_running"


async def test_a_client_with_two_sockets_leaves_with_the_last(private_home):
    async with serving_here(private_home, Limits(linger_s=0)) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("bob") as bob:
            await bob.watch("c")
            async with here.socket("ada") as one:
                await one.watch("c")
                await one.say("take_keyboard", "c")
                await bob.state("c", keyboard="client:ada")
                async with here.socket("ada") as two:
                    await two.watch("c")
                await bob.say("ping")
                await bob.until(lambda message: message["type"] == "pong")
                assert "ada" in conversation.displays.contexts.clients
                assert conversation.pty.keyboard.holder == "client:ada"
                await one.say("unsubscribe", "c")
                await bob.state("c", keyboard="agent")
                assert "ada" not in conversation.displays.contexts.clients


async def test_a_conversation_that_is_deleted_while_its_clients_linger(private_home):
    async with serving_here(private_home, Limits(linger_s=0)) as here:
        a_conversation(here, private_home)
        async with here.socket("ada") as ada:
            await ada.watch("c")
            await here.manager.delete("c")
            assert (await ada.error())["code"] == "deleted"
        async with here.socket("ada") as ada:
            assert (await ada.watch("c"))["code"] == "not_found"


# client ids


def reader(here):
    """A read-only token."""
    return here.services.tokens.new(scope="read")[1]


def another(here):
    return here.services.tokens.new()[1]


async def settled(socket):
    """Waits until the server has handled the messages sent before."""
    await socket.say("ping", id="settled")
    await socket.until(lambda message: message == {"type": "pong", "id": "settled"})


async def test_a_read_only_display_does_not_change_what_the_agent_is_told(private_home):
    async with serving_here(private_home) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("ada") as ada, here.socket() as watcher:
            await ada.say("client_config", terminal_width=90)
            await ada.watch("c")
            before = conversation.displays.contexts.instruction()
            await watcher.hello("eve", token=reader(here), terminal_width=31)
            await watcher.watch("c")
            await watcher.say("client_config", terminal_width=30, presentation={"supports_markdown": False})
            await settled(watcher)
            assert set(conversation.displays.contexts.clients) == {"ada"}
            assert conversation.displays.contexts.instruction() == before
            conversation.append([UserMessage(text="drawn for a narrow display " * 3)])
            row = await watcher.shown("c", "drawn for")
            assert max(map(len, row["text"].splitlines())) <= 30, "its own rows are drawn for it"


async def test_a_conversation_may_let_read_only_displays_count(private_home):
    async with serving_here(private_home, Limits(linger_s=0)) as here:
        conversation = a_conversation(here, private_home)

        async def counts(value):
            answer = await here.manager.bus.request("c", "change", read_only_displays=value)
            assert answer["read_only_displays"] is value

        async with here.socket() as watcher:
            await watcher.hello("eve", token=reader(here), terminal_width=31)
            await watcher.watch("c")
            assert "31" not in conversation.displays.contexts.instruction()
            await counts(True)
            assert "31" in conversation.displays.contexts.instruction()
            await watcher.say("client_config", terminal_width=32)
            await settled(watcher)
            assert "32" in conversation.displays.contexts.instruction()
            await counts(False)
            assert not conversation.displays.contexts.clients
            assert json.loads(conversation.folder.settings.read_bytes())["read_only_displays"] is False


@pytest.mark.parametrize("rights", [reader, another])
async def test_a_client_id_belongs_to_its_token(private_home, rights):
    """Another token cannot be that client: neither be its display, nor type for it, nor keep its keyboard."""
    async with serving_here(private_home, Limits(linger_s=0)) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("bob") as bob, here.socket() as other:
            await bob.watch("c")
            await other.hello("ada", token=rights(here))
            async with here.socket("ada") as ada:
                await ada.say("client_config", terminal_width=66)
                await ada.watch("c")
                await ada.say("take_keyboard", "c")
                await bob.state("c", keyboard="client:ada")
                for channel in ("rows", "screen"):
                    error = await other.watch("c", channel)
                    assert (error["code"], error["about"]) == ("client_taken", "subscribe")
                await other.say("client_config", terminal_width=30)
                for kind, fields in (("take_keyboard", {}), ("release_keyboard", {}), ("input", {"data": "x"})):
                    await other.say(kind, "c", **fields)
                    assert (await other.error())["code"] in ("client_taken", "read_only")
                assert conversation.displays.contexts.clients["ada"].content_width == 66
                assert conversation.pty.keyboard.holder == "client:ada"
            await bob.state("c", keyboard="agent")
            assert set(conversation.displays.contexts.clients) == {"bob"}
            assert (await other.watch("c"))["type"] == "snapshot", "the id is free again"


async def test_a_client_id_over_http_belongs_to_its_token_too(server):
    _, token = Tokens(server.home).new()
    with server.conversation() as c:
        path = f"/v1/conversations/{c}/clients/wall"
        assert server.ask("PUT", path, {"terminal_width": 70}).status == 200
        answer = server.ask("PUT", path, {"terminal_width": 30}, token=token)
        assert (answer.status, answer.code) == (409, "client_taken")
        forged = {"terminal_width": 30, "owner": "main", "read_only": True}
        assert server.ask("PUT", path, forged, token=token).code == "client_taken"
        async with open_socket(server, "wall", token=token) as socket:
            assert (await socket.watch(c))["code"] == "client_taken"
        assert "70" in server.get(f"/v1/conversations/{c}/instructions").json["text"]
        assert server.ask("DELETE", path, token=token).status == 200, "a full token may take it away"
        assert server.ask("PUT", path, {"terminal_width": 30}, token=token).status == 200


# limits


async def test_a_socket_without_a_token_is_closed_in_time(private_home):
    async with serving_here(private_home, Limits(hello_s=0.01)) as here, here.socket() as socket:
        assert await socket.closed() == 4401


async def test_as_many_sockets_as_there_may_be(private_home):
    async with serving_here(private_home, Limits(sockets=2)) as here:
        async with here.socket("one"), here.socket("two"), here.socket() as third:
            await third.say("hello", client_id="three", token=here.services.tokens.main)
            assert await third.closed() == 1013
        async with here.socket("three") as third:
            await third.say("ping")
            assert (await third.hear())["type"] == "pong"


async def test_sockets_without_a_token_take_no_place_of_others(private_home):
    """Sockets that say nothing do not keep sockets that say hello out, however many they are."""
    async with serving_here(private_home, Limits(sockets=3)) as here, AsyncExitStack() as open_:
        for _ in range(12):
            await open_.enter_async_context(here.socket())
        for name in ("one", "two", "three"):
            known = await open_.enter_async_context(here.socket(name))
            await known.say("ping")
            assert (await known.hear())["type"] == "pong"
        fourth = await open_.enter_async_context(here.socket())
        await fourth.say("hello", client_id="four", token=here.services.tokens.main)
        assert await fourth.closed() == 1013, "those with a token have their own limit"


async def test_of_too_many_anonymous_sockets_the_oldest_is_closed(private_home):
    limits = Limits(anonymous=4, anonymous_of_peer=4, hello_s=60)
    async with serving_here(private_home, limits) as here, AsyncExitStack() as open_:
        silent = [await open_.enter_async_context(here.socket()) for _ in range(12)]
        for oldest in silent[:8]:
            assert await oldest.closed() == 1013
        assert (await silent[-1].hello("late", token=here.services.tokens.main))["scope"] == "full"


async def test_seventy_clients_beside_three_hundred_anonymous_sockets(server):
    """The page's sockets say their token with hello: all of them get in, at once, while others hold theirs open."""
    async with AsyncExitStack() as open_:
        for _ in range(300):
            await open_.enter_async_context(open_socket(server, token="", hello=False))

        async def greet(number):
            socket = await open_.enter_async_context(open_socket(server, token="", hello=False))
            return await socket.hello(f"tab-{number}", token=server.token)

        welcomes = await asyncio.gather(*(greet(number) for number in range(70)))
        assert len(welcomes) == 70


async def test_as_many_subscriptions_as_there_may_be(private_home):
    async with serving_here(private_home, Limits(subscriptions=2)) as here:
        for name in "abc":
            here.manager.create(name, cwd=str(private_home))
        async with here.socket("ada") as socket:
            await socket.watch("a")
            await socket.watch("b")
            error = await socket.watch("c")
            assert (error["code"], error["conversation_id"]) == ("too_many", "c")
            assert (await socket.watch("b"))["type"] == "snapshot"
            await socket.say("unsubscribe", "a")
            assert (await socket.watch("c"))["type"] == "snapshot"


@pytest.mark.parametrize("reads", [True, False])
async def test_a_peer_that_does_not_answer_pings_is_dropped(private_home, reads):
    """Also a socket that reads nothing: messages that are still to be written to it are not waited for."""
    limits = Limits(linger_s=0)
    async with serving_here(private_home, limits, ws_ping_interval=0.05, ws_ping_timeout=0.05) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("bob") as bob, here.socket("mute", ping_interval=None) as mute:
            await bob.watch("c")
            await mute.watch("c")
            await mute.say("take_keyboard", "c")
            await mute.state("c", keyboard="client:mute")
            if reads:
                mute.connection.protocol.send_frame = lambda _: None
            else:
                mute.connection.transport.pause_reading()
                conversation.append([UserMessage(text=f"{number} " * 5000) for number in range(100)])
            await bob.state("c", keyboard="client:mute")
            await bob.state("c", keyboard="agent")
            mute.connection.transport.abort()
