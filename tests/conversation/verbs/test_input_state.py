"""State that is kept between two inputs, each object alone: keyboard, prompts, held input, secrets."""

from types import SimpleNamespace

import pytest

from vantage.conversation.verbs.terminal import held_input
from vantage.conversation.verbs.terminal.held_input import HeldInput
from vantage.conversation.verbs.terminal.keyboard import AGENT, Keyboard, person
from vantage.conversation.verbs.terminal.prompts import Prompts
from vantage.conversation.verbs.terminal.secret_input import SecretInput
from vantage.errors import Conflict, KeyboardTaken, NoSecretPrompt, NotRunning, SecretGone

ADA = person("ada")


class Live:
    """A live terminal whose state the test sets; a wait ends at once, and `on_wait` is what happens meanwhile."""

    def __init__(self, phase="idle"):
        self.state = SimpleNamespace(phase=phase, shell_id="sh-1", cycle=1, kind="bash", pid=7, last_exit_code=0)
        self.alive = True
        self.secret = False
        self.on_wait = lambda: None
        self.waiters = self.sampler = self

    async def until(self, holds, timeout=None):
        self.on_wait()
        return holds()

    def wake(self):
        pass

    async def look(self):
        return SimpleNamespace(awaiting_secret=self.secret, canonical=True, foreground_pid=1)


def test_the_keyboard_has_one_holder():
    keyboard = Keyboard()
    keyboard.check()
    keyboard.take("ada")
    keyboard.check(ADA)
    for by in (AGENT, person("bob")):
        with pytest.raises(KeyboardTaken, match="client:ada has the keyboard"):
            keyboard.check(by)
    with pytest.raises(KeyboardTaken):
        keyboard.take("bob")
    assert not keyboard.release("bob")
    assert keyboard.release("ada")
    assert keyboard.holder == AGENT


def test_a_line_is_pending_until_the_shell_prints_a_mark():
    live = Live()
    prompts = Prompts(live)
    assert not prompts.line_pending
    prompts.line_entered(prompts.current)
    assert prompts.line_pending
    live.state.cycle = 2
    assert not prompts.line_pending


async def test_input_at_the_prompt_is_not_held():
    live = Live()
    held = HeldInput(live, Prompts(live))
    assert await held.hold(b"ls\r", held.interrupts) == ""
    assert held.holds is None


async def test_input_is_held_until_the_prompt():
    live = Live("prompting")
    held = HeldInput(live, Prompts(live))
    live.on_wait = lambda: setattr(live.state, "phase", "idle")
    assert await held.hold(b"ls\r", held.interrupts) == ""


async def test_a_prompt_that_does_not_come_is_a_note_and_is_waited_for_once(monkeypatch):
    live = Live("prompting")
    held = HeldInput(live, Prompts(live))
    assert "no prompt within 2 s" in await held.hold(b"l", held.interrupts)
    monkeypatch.setattr(held_input.time, "monotonic", lambda: held.holds[1] + 1)
    live.on_wait = lambda: pytest.fail("the time for this prompt is over")
    assert "no prompt within 2 s" in await held.hold(b"s", held.interrupts)


async def test_an_interrupt_drops_what_is_held():
    live = Live("prompting")
    held = HeldInput(live, Prompts(live))
    live.on_wait = held.drop
    with pytest.raises(Conflict, match="Ctrl-C came"):
        await held.hold(b"ls\r", held.interrupts)


async def test_a_shell_that_ends_while_input_is_held():
    live = Live("prompting")
    held = HeldInput(live, Prompts(live))
    live.on_wait = lambda: setattr(live, "alive", False)
    with pytest.raises(NotRunning, match="nothing was typed"):
        await held.hold(b"ls\r", held.interrupts)


async def test_a_secret_at_the_prompt_is_refused():
    secrets = SecretInput(Live("idle"))
    with pytest.raises(NoSecretPrompt):
        await secrets.is_secret(b"hunter2\r", True, AGENT)
    assert not await secrets.is_secret(b"ls\r", False, AGENT)


async def test_the_rest_of_a_secret_is_secret_up_to_enter():
    live = Live("running")
    live.secret = True
    secrets = SecretInput(live)
    secrets.typed(b"hun", ADA)
    assert await secrets.is_secret(b"ter2", False, ADA)
    assert not await secrets.is_secret(b"ls", False, AGENT)
    secrets.typed(b"\r", ADA)
    assert not await secrets.is_secret(b"ls", False, ADA)


async def test_the_rest_of_a_secret_whose_program_has_gone_is_dropped():
    live = Live("idle")
    secrets = SecretInput(live)
    secrets.typed(b"hun", ADA)
    with pytest.raises(SecretGone):
        await secrets.is_secret(b"ter2", False, ADA)
    with pytest.raises(SecretGone):
        await secrets.is_secret(b"\r", False, ADA)
    assert not await secrets.is_secret(b"ls\r", False, ADA)


async def test_the_rest_of_a_refused_secret_is_dropped_for_a_person_and_not_for_the_agent():
    live = Live("running")
    secrets = SecretInput(live)
    for by, goes_on in ((ADA, True), (AGENT, False)):
        secrets.refused(b"hun", by)
        if goes_on:
            with pytest.raises(SecretGone):
                await secrets.is_secret(b"ter2", False, by)
        else:
            assert not await secrets.is_secret(b"ter2", False, by)
    secrets.cancelled(ADA)
    assert not await secrets.is_secret(b"ls", False, ADA)
