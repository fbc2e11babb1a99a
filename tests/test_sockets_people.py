"""People at their sockets: the keyboard goes from hand to hand, secrets stay secret, who leaves may come back."""

import json

import pytest

from socket_client import open_socket, serving_here
from terminal_home import environment
from vantage.events import UserMessage
from vantage.server.sockets import Limits


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


async def test_what_a_person_types_goes_as_it_is(server):
    """Ctrl-J is no Enter."""
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c, "screen")
            server.pty(c, "exec_interactive", command="stty raw -echo; echo ready; head -c 2 | od -An -tx1; stty sane")
            server.pty(c, "wait_for", match="ready")
            await socket.say("take_keyboard", c)
            await socket.say("input", c, data="\n\r")
            await socket.on_screen(c, "0a 0d")


async def test_a_secret_is_typed_as_one_and_told_to_nobody(server):
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


# who leaves, and who comes back


def a_conversation(here, home):
    return here.manager.create("c", cwd=str(home), env=environment(), user_rc=False)


async def test_a_second_secret_is_asked_for_too(server):
    """The terminal looks as it did when the first one was: nothing has changed, and yet it is news."""
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c, "rows", "screen", "blocks")
            for prompt in ("First", "Second"):
                server.pty(c, "exec_block", command=f"read -s -p '{prompt}''? ' p", timeout_ms=0)
                await socket.on_screen(c, f"{prompt}?")
                await socket.state(c, awaiting_secret=True, mode="block_running")
                server.pty(c, "ctrl_c")
                await socket.state(c, awaiting_secret=False, mode="idle")


async def test_who_has_gone_is_forgotten_after_a_while(private_home):
    """Its context ends and the keyboard is the agent's again: others are told."""
    async with serving_here(private_home, Limits(linger_s=0.01)) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("bob") as bob:
            await bob.watch("c")
            async with here.socket("ada") as ada:
                await ada.say("client_config", terminal_width=33)
                await ada.watch("c")
                await ada.say("take_keyboard", "c")
                await bob.state("c", keyboard="client:ada")
                assert set(conversation.contexts.clients) == {"ada", "bob"}
            await bob.state("c", keyboard="agent")
            assert set(conversation.contexts.clients) == {"bob"}


async def test_who_comes_back_in_time_finds_everything_as_it_was(private_home):
    async with serving_here(private_home) as here:
        conversation = a_conversation(here, private_home)
        async with here.socket("ada") as ada:
            await ada.say("client_config", terminal_width=33)
            await ada.watch("c")
            await ada.say("take_keyboard", "c")
            await ada.state("c", keyboard="client:ada")
        assert conversation.contexts.clients["ada"].content_width == 33
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
                assert "ada" in conversation.contexts.clients
                assert conversation.terminal.keyboard == "client:ada"
                await one.say("unsubscribe", "c")
                await bob.state("c", keyboard="agent")
                assert "ada" not in conversation.contexts.clients


async def test_a_conversation_that_is_deleted_while_its_clients_linger(private_home):
    async with serving_here(private_home, Limits(linger_s=0)) as here:
        a_conversation(here, private_home)
        async with here.socket("ada") as ada:
            await ada.watch("c")
            await here.manager.delete("c")
            assert (await ada.error())["code"] == "deleted"
        async with here.socket("ada") as ada:
            assert (await ada.watch("c"))["code"] == "not_found"


# limits


async def test_who_shows_no_token_in_time(private_home):
    async with serving_here(private_home, Limits(hello_s=0.01)) as here, here.socket() as socket:
        assert await socket.closed() == 4401


async def test_as_many_sockets_as_there_may_be(private_home):
    async with serving_here(private_home, Limits(sockets=2)) as here:
        async with here.socket("one"), here.socket("two"), here.socket() as third:
            assert await third.closed() == 1013
        async with here.socket("three") as third:
            await third.say("ping")
            assert (await third.hear())["type"] == "pong"


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
    """Also one that reads nothing: what is still to be written to it is not waited for."""
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
