"""A program asks for a secret in the terminal: a request, open as long as the prompt is, and without the value."""

import asyncio
import os
import signal
import time
from contextlib import asynccontextmanager

import pytest

from home_files import holding
from server_home import serving
from terminal_home import PATIENCE, environment, host_pid, wait_until_gone
from vantage.conversation.manager import Manager
from vantage.conversation.verbs.terminal import inputs
from vantage.conversation.verbs.terminal.keyboard import person
from vantage.errors import RequestSecret

SECRET = "sesam-oeffnedich"
ASKS = "read -r -s -p 'Pass''word for ada: ' x; echo; echo got ${#x}"
GO = "until [ -e go ]; do sleep 0.05; done"
GOES_ON = "; until [ -e end ]; do sleep 0.05; done"


class Asking:
    """A conversation, and the requests of its terminal."""

    def __init__(self, manager):
        self.manager = manager
        self.conversation = manager.create("work", env=environment(), user_rc=False, cwd=str(manager.home))
        self.t = self.conversation.terminal

    @property
    def entries(self):
        return [each for each in self.conversation.requests.entries() if each.request.kind == "secret"]

    def ended(self):
        """How each request stands: who answered it, or why it was closed."""
        return [each.answer.by if each.answer else each.closed.why if each.closed else "open" for each in self.entries]

    async def until(self, *wanted):
        """Waits by the conversation's events alone: a caller that waits on the terminal makes the server look."""
        changed = asyncio.Event()
        following = await self.manager.bus.subscribe("work", 0, lambda _: changed.set())
        try:
            async with asyncio.timeout(PATIENCE):
                while self.ended() != list(wanted):
                    changed.clear()
                    await changed.wait()
        except TimeoutError:
            pytest.fail(f"expected {wanted}: {self.ended()}")
        finally:
            following.end()

    async def begin(self, command):
        """Starts a program that asks."""
        ran = await self.t.exec_interactive(command, wait_for={"secret_prompt": True})
        await self.until("open")
        return ran


@asynccontextmanager
async def terminal_of(home):
    async with Manager(home) as manager:
        yield Asking(manager)
        await manager.delete("work")


async def by_hand(t, data, *, secret=True):
    return await inputs.type_bytes(t.pty, data.encode(), inputs.Typing(by=person("p"), secret=secret))


async def test_a_prompt_is_a_request_until_it_is_answered(private_home):
    async with terminal_of(private_home) as asking:
        ran = await asking.t.exec_interactive(ASKS)
        await asking.until("open")
        (entry,) = asking.entries
        request = entry.request
        assert (request.title, request.cwd) == ("Password for ada:", str(private_home))
        assert request.args == {"foreground": "bash", "block_id": "b1"}
        shown = await asking.t.read_screen(at_offset=request.screen_offset)
        assert "Password for ada:" in shown.text
        attention = asking.conversation.attention
        assert (attention.state, attention.because[0].source) == ("needs_person", "terminal")
        with pytest.raises(RequestSecret):
            await asking.manager.handle(
                "work", "answer_request", {"request_id": request.request_id, "hash": request.hash, "text": SECRET}
            )
        await asking.t.send(SECRET + "\n", secret=True)
        assert asking.ended() == ["agent"]
        assert (await asking.t.wait_for(f"got {len(SECRET)}", from_cursor=ran.cursor)).matched
        await asking.t.wait_for({"prompt": True})
        assert asking.ended() == ["agent"]
        assert asking.conversation.attention.state != "needs_person"
        answer = asking.entries[0].answer
        assert (answer.option, answer.text, answer.values) == (None, None, None)
        await asking.conversation.live.written()
        assert not holding(private_home, SECRET)


async def test_a_person_answers_it_key_by_key(private_home):
    async with terminal_of(private_home) as asking:
        await asking.begin(ASKS)
        asking.t.pty.keyboard.take("p")
        for key in SECRET:
            await by_hand(asking.t, key)
        assert asking.ended() == ["open"]
        await by_hand(asking.t, "\r")
        assert asking.ended() == ["client:p"]
        assert (await asking.t.wait_for(f"got {len(SECRET)}", from_cursor=0)).matched
        assert not holding(private_home, SECRET)


async def test_enter_alone_answers_it(private_home):
    async with terminal_of(private_home) as asking:
        await asking.begin(ASKS)
        await asking.t.keys("Enter")
        assert asking.ended() == ["agent"]


async def test_a_secret_that_is_typed_at_once_has_its_request_too(private_home):
    """Its sender waits for the prompt by what the program has printed, and is faster than the samples."""
    async with terminal_of(private_home) as asking:
        await asking.t.exec_interactive("stty -echo; printf 'Pass''word: '; read -r x; stty echo; echo got ${#x}")
        await asking.t.wait_for("Password: ")
        await asking.t.send(SECRET + "\n", secret=True)
        await asking.t.wait_for({"prompt": True})
        assert asking.ended() == ["agent"]


async def test_a_program_that_is_over_before_its_answer_is_known_to_be_typed(private_home, monkeypatch):
    async with terminal_of(private_home) as asking:
        await asking.begin(ASKS)
        live = asking.conversation.live
        ask = live.link.ask

        async def late(op, **fields):
            answer = await ask(op, **fields)
            if op == "input":
                assert await live.waiters.until(lambda: live.state.block is None, PATIENCE)
                await asyncio.wait_for(live.sampler.look(), PATIENCE)
            return answer

        monkeypatch.setattr(live.link, "ask", late)
        await asking.t.send(SECRET + "\n", secret=True)
        assert asking.ended() == ["agent"]


LEAVING = {
    "Ctrl-C": (ASKS, lambda t, home: t.ctrl_c()),
    "Ctrl-D": ("sh -c 'stty -echo; cat; stty echo'", lambda t, home: t.ctrl_d()),
    "nothing is printed": (f"sh -c 'stty -echo; {GO}; stty echo; cat'", None),
    "the program is killed": (f"sh -c 'stty -echo; {GO}; kill -9 $$'", None),
    "the terminal is reset": (ASKS, lambda t, home: t.reset()),
}


@pytest.mark.parametrize("how", LEAVING)
async def test_a_prompt_that_goes_away_is_withdrawn(private_home, how):
    async with terminal_of(private_home) as asking:
        command, leave = LEAVING[how]
        await asking.begin(command)
        if leave is not None:
            await leave(asking.t, private_home)
        (private_home / "go").touch()
        await asking.until("withdrawn")
        assert asking.conversation.attention.state != "needs_person"


TWICE = {
    "each with its line": ("read -r -s -p 'first: ' a; read -r -s -p 'second: ' b; echo", ["first:", "first: second:"]),
    "the echo stays off": ("stty -echo; printf 'first: '; read a; printf 'second: '; read b; stty echo", None),
    "no line at all": ("stty -echo; read a; read b; stty echo", None),
}


@pytest.mark.parametrize("how", TWICE)
async def test_a_program_that_asks_again_makes_another_request(private_home, how):
    async with terminal_of(private_home) as asking:
        command, titles = TWICE[how]
        await asking.begin(command)
        await asking.t.send("first\n", secret=True)
        await asking.until("agent", "open")
        if titles:
            assert [each.request.title for each in asking.entries] == titles
        await asking.t.send("second\n", secret=True)
        await asking.t.wait_for({"prompt": True})
        assert asking.ended() == ["agent", "agent"]


async def test_output_beside_a_prompt_makes_no_other_request(private_home):
    async with terminal_of(private_home) as asking:
        noise = f"({GO}; echo noise; echo more) & "
        await asking.begin(noise + ASKS)
        (private_home / "go").touch()
        await asking.t.wait_for("more\n")
        await asking.conversation.live.sampler.look()
        assert asking.ended() == ["open"]


# over a restart


def secrets_of(server):
    found = server.get("/v1/requests?state=all&conversation=work").json["requests"]
    return [(each["request_id"], each.get("closed") or each["state"]) for each in found if each["kind"] == "secret"]


def until(server, *wanted):
    deadline = time.monotonic() + PATIENCE
    while [state for _, state in secrets_of(server)] != list(wanted):
        assert time.monotonic() < deadline, secrets_of(server)
    return secrets_of(server)


def until_there(path):
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


def begin(server, command):
    server.post("/v1/conversations", {"id": "work", "cwd": str(server.home)})
    server.pty("work", "exec_interactive", command=command)
    return until(server, "open")


def attention(server):
    return server.get("/v1/conversations/work").json["attention"]["state"]


def test_a_prompt_that_outlives_the_server_is_not_asked_twice(private_home):
    with serving(private_home) as server:
        before = begin(server, ASKS)
        server.kill()
        server.start()
        assert attention(server) == "needs_person"
        server.pty("work", "wait_for", match={"secret_prompt": True})
        assert secrets_of(server) == before
        server.pty("work", "send", data=SECRET + "\n", secret=True)
        assert secrets_of(server) == [(before[0][0], "answered")]
        server.pty("work", "wait_for", match={"prompt": True})
        server.kill()
        server.start()
        assert secrets_of(server) == [(before[0][0], "answered")]
        assert not holding(private_home, SECRET)


@pytest.mark.parametrize("printed", ["; echo gone", ""])
def test_a_prompt_that_went_away_meanwhile_is_withdrawn(private_home, printed):
    with serving(private_home) as server:
        begin(server, f"sh -c 'stty -echo; {GO}; stty echo{printed}; touch gone{GOES_ON}'")
        server.kill()
        (private_home / "go").touch()
        until_there(private_home / "gone")
        server.start()
        until(server, "withdrawn")
        assert attention(server) != "needs_person"
        (private_home / "end").touch()


def test_a_prompt_that_came_meanwhile_is_asked(private_home):
    with serving(private_home) as server:
        server.post("/v1/conversations", {"id": "work", "cwd": str(private_home)})
        command = f"{GO}; stty -echo; touch asks; {ASKS}; stty echo"
        server.pty("work", "exec_interactive", command=command)
        server.kill()
        (private_home / "go").touch()
        until_there(private_home / "asks")
        server.start()
        until(server, "open")


def test_a_prompt_that_went_with_its_host_is_withdrawn(private_home):
    with serving(private_home) as server:
        begin(server, ASKS)
        server.kill()
        host = host_pid(private_home)
        os.kill(host, signal.SIGKILL)
        wait_until_gone(host)
        server.start()
        until(server, "withdrawn")
        assert attention(server) != "needs_person"
