"""What was typed at which prompt: lines whose command has not begun, and interrupts that are not answered yet.

Each shell counts its own prompts, so a prompt is named by shell and number. A line typed at a prompt is taken when the
shell runs it or shows another prompt; an interrupt is taken when the shell shows another prompt.
"""

import asyncio
import signal
import time
from typing import NamedTuple

from vantage.conversation.live.terminal import LiveTerminal
from vantage.ptyhost import processes, shells

LINE_TIMEOUT_S = 2.0
"""Seconds that a typed line may take to begin."""
INTERRUPT_S = 1.0
INTERRUPT_TRIES = 3
"""Seconds that a shell gets to show a prompt after an interrupt, and between repeated interrupts."""
INTERRUPTED = 128 + 2
LATE_MS = 500
"""A command that ends by itself before its Ctrl-C, or this soon after it, may not have got it."""
EDITOR_S = 0.5
"""How long input waits for a shell whose line editor has the terminal: a builtin may read keys too (`read -n 1`)."""
START_S = 2.0
"""How old a command is at most whose program may not have the terminal yet; an interrupt waits so long for that."""
HANDOVER_S = 0.2
"""How long an interrupt watches a program that has the terminal."""
KEY_S = 0.003


class Prompt(NamedTuple):
    shell_id: str
    cycle: int


class Prompts:
    def __init__(self, live: LiveTerminal) -> None:
        self._live = live
        self._entered: Prompt | None = None
        """The prompt at which a line was typed last: what the shell says next is about that line."""
        self._unfinished: Prompt | None = None
        """The prompt at which keys were typed that end no line: the shell has them in its line editor."""
        self._ahead = False
        """The last keys for the command before this prompt end no line: the shell has what it did not read."""
        self._ahead_raw = False
        """The terminal gave them to the command key by key."""
        self._interrupted: Prompt | None = None
        """The prompt at which the shell was interrupted: it may lose input until it shows another one."""
        self._interrupt_sent: float | None = None
        """When the last Ctrl-C was sent, in ms, if a command ran then or was about to."""
        self._editor_left_at: Prompt | None = None
        """The prompt whose command is known to have the terminal."""

    @property
    def current(self) -> Prompt:
        """The shell's last prompt."""
        state = self._live.state
        return Prompt(state.shell_id, state.cycle)

    @property
    def at_prompt(self) -> bool:
        return self._live.state.phase in ("starting", "prompting", "idle")

    @property
    def line_pending(self) -> bool:
        """Whether a line was typed at this prompt that the shell has not begun."""
        return self.at_prompt and self.current == self._entered

    @property
    def idle(self) -> bool:
        """Whether the shell is ready for a command, and none is on its way: no other prompt is to come."""
        return self._live.state.phase == "idle" and not self.line_pending and self._interrupted != self.current

    def line_entered(self, prompt: Prompt) -> None:
        self._entered, self._unfinished, self._ahead = prompt, None, False

    def line_begun(self, prompt: Prompt) -> None:
        self._unfinished = prompt

    def command_typed(self, *, line: bool) -> None:
        """Notes that a command which runs got input; `line` says that it ended with a line's end."""
        self._ahead, self._ahead_raw = not line, not self._live.sampler.sample.canonical

    def interrupt_sent(self) -> None:
        """Notes where the shell is when a Ctrl-C is sent."""
        self._interrupted, self._unfinished = self.current, None
        into_command = not self.at_prompt or self._entered == self._interrupted
        if not self.at_prompt:
            self.command_typed(line=False)
        self._interrupt_sent = time.time() * 1000 if into_command else None

    async def interrupt_handed_over(self, group: int | None) -> None:
        """Repeats a Ctrl-C that was lost between the shell and the program that it was about to start.

        A shell reports that a command begins before it has given the terminal to it, and a child of the shell gets the
        terminal before it is the program: both catch an interrupt and drop it. A program that lives, though it dies of
        an interrupt, has not got it.
        """
        live, block, began = self._live, self._live.state.block, time.monotonic()
        if group is None or block is None or time.time() - block.ts_begin / 1000 > START_S:
            return
        repeatable = (group,) if not live.hooks.is_shell(group) else ()
        while True:
            pid = (await live.sampler.look()).foreground_pid
            if live.state.block is None or live.state.block.block_id != block.block_id:
                return
            starting = live.hooks.is_shell(pid)
            if time.monotonic() - began > (START_S if starting else HANDOVER_S):
                return
            if pid is not None and not starting:
                if repeatable and pid not in repeatable:
                    return  # the program that was interrupted has ended, and the shell has begun another
                repeatable = (pid,)
                if processes.dies_of(pid, signal.SIGINT):
                    await live.ask("signal", signal="INT", to="foreground", only=pid)
            await asyncio.sleep(KEY_S)

    async def line_taken(self) -> None:
        """Until the shell has begun the line that was typed last, and has answered an interrupt."""
        begun = await self._live.waiters.until(self._line_is_read, LINE_TIMEOUT_S)
        if not begun and (await self._live.sampler.look()).shell_waits:
            self._unfinished = self._entered
        self._entered = None
        await self.interrupt_taken()

    def _line_is_read(self) -> bool:
        return not self.line_pending or self._live.state.continues

    async def line_emptied(self) -> None:
        """Interrupts a shell that has a part of a line: half a word, a search, half a key sequence, an open quote.

        Given after it, a command would be read as its rest.
        """
        if self._has_part_of_line():
            self.interrupt_sent()
            await self._live.ask("interrupt")
            await self.interrupt_taken()
        self._ahead = False

    def _has_part_of_line(self) -> bool:
        """A line editor shows keys that a command left to it; sh has none, and does not show what came key by key."""
        state = self._live.state
        if state.phase != "idle":
            return False
        left = self._ahead and (self._ahead_raw if state.kind == "sh" else bool(state.echo.strip()))
        return left or state.continues or self._unfinished == self.current

    async def interrupt_taken(self) -> None:
        """Until a shell that was interrupted shows another prompt, unless it ignores interrupts.

        bash keeps a Ctrl-C that comes between a prompt and the reading of keys until the next key, and loses that key:
        so the interrupt is repeated. One that comes while a prompt is made leaves none.
        """
        if self._interrupted is None or self._live.state.phase not in ("prompting", "idle"):
            return
        await self._prompted_again()
        if self._interrupt_was_late():
            self._interrupted = self.current
            await self._prompted_again()
        self._interrupted = None

    async def _prompted_again(self) -> None:
        live = self._live
        for _ in range(INTERRUPT_TRIES):
            if await live.waiters.until(self._prompts_again, INTERRUPT_S):
                return
            if live.state.phase == "idle":
                await live.ask("interrupt")
                continue
            sample = await live.sampler.look()
            if not sample.canonical and live.hooks.is_shell(sample.foreground_pid):
                await live.hooks.poke()

    def _prompts_again(self) -> bool:
        state = self._live.state
        if state.phase == "idle":
            return self.current != self._interrupted or state.kind in shells.KEEP_THEIR_PROMPT
        return not self.at_prompt

    def _interrupt_was_late(self) -> bool:
        """Whether the command that was to be interrupted has ended by itself: then its prompt gets the interrupt."""
        sent, self._interrupt_sent = self._interrupt_sent, None
        if sent is None or self._live.state.last_exit_code == INTERRUPTED:
            return False
        blocks = self._live.derivation.blocks
        last = blocks.get(f"b{blocks.count}") if blocks.count else None
        return last is None or last.ts_end is None or last.ts_end < sent + LATE_MS

    async def editor_left(self) -> None:
        """Until a command that has begun has the terminal, once for each command.

        fish reports that a command begins before its line editor has restored the terminal's settings: with those of
        the editor an Enter or a Ctrl-D is a character, and ends neither a line nor the input.
        """
        live, end = self._live, time.monotonic() + EDITOR_S
        if live.state.phase != "running" or self._editor_left_at == self.current:
            return
        self._editor_left_at = self.current
        while live.state.phase == "running" and time.monotonic() < end:
            sample = await live.sampler.look()
            if sample.canonical or sample.foreground_pid != live.state.pid:
                return
            await asyncio.sleep(KEY_S)
