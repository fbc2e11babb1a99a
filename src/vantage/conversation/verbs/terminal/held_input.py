"""Holds input that comes while the shell does not read keys: until the prompt, for a bounded time.

Before the line editor is ready, the tty would swallow a Ctrl-D and echo the rest twice. The time is counted for each
prompt, not for each input. A Ctrl-C drops held input.
"""

import time

from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.verbs.terminal.prompts import Prompt, Prompts
from vantage.errors import Conflict, Do, NotRunning

HOLD_S = 2.0
"""How long input is held between a command's end and the next prompt."""
END_OF_INPUT = b"\x04"


def ended_before_input() -> NotRunning:
    steps = [Do("exec_block", "starts a fresh one")]
    return NotRunning("the shell has ended: nothing was typed", do=steps)


class HeldInput:
    def __init__(self, live: LiveTerminal, prompts: Prompts) -> None:
        self._live = live
        self._prompts = prompts
        self._interrupts = 0
        self._until: tuple[Prompt, float] | None = None
        """The prompt after which input was last held, and until when."""

    @property
    def holds(self) -> tuple[Prompt, float] | None:
        return self._until

    @property
    def interrupts(self) -> int:
        """The number of interrupts: input that began before the last one is dropped."""
        return self._interrupts

    def interrupted(self) -> None:
        self._interrupts += 1

    def drop(self) -> None:
        """Drops input that is held or about to be: a Ctrl-C follows it on the same keyboard."""
        self.interrupted()
        self._live.waiters.wake()

    async def hold(self, typed: bytes, interrupts: int) -> str:
        """Waits until the shell reads keys. Returns a note for the caller when the prompt did not come in time.

        `interrupts` is the count when the input came: a higher count drops it.
        """
        if not self._between_prompts(typed):
            return ""
        prompt, now = self._prompts.current, time.monotonic()
        if self._until is None or self._until[0] != prompt:
            self._until = (prompt, now + HOLD_S)
        left = self._until[1] - now

        def over() -> bool:
            return self._interrupts != interrupts or not self._between_prompts(typed)

        ready = left > 0 and await self._live.waiters.until(over, left)
        if self._interrupts != interrupts:
            raise Conflict("nothing was typed: Ctrl-C came while it waited for the prompt", hint="type it again")
        if not self._live.alive:
            raise ended_before_input()
        if ready or self._live.state.phase == "idle":
            return ""
        return f"the shell showed no prompt within {HOLD_S:g} s: this was typed anyway"

    def _between_prompts(self, typed: bytes) -> bool:
        """Whether the shell does not read keys yet. A Ctrl-D after a line belongs to the command that the line starts.

        sh has no line editor: there the host holds a Ctrl-D until the line before it was read.
        """
        state = self._live.state
        if state.phase in ("starting", "prompting"):
            return True
        return self._prompts.line_pending and typed.startswith(END_OF_INPUT) and state.kind != "sh"
