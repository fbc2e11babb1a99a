"""Brings a shell's hooks back after a command has removed them (`PROMPT_COMMAND=`, `exec bash`, `trap - DEBUG`).

A shell that is in its line editor without having printed a prompt's mark has lost its hooks, or is in `read -e`. It is
poked: a key sequence that its editor is bound to makes it confirm the poke, and print a prompt with marks if those are
missing.

A shell cannot be followed any more if it answers no poke (`set -r`, no free descriptors), if it reads from the terminal
instead of beginning its command, or if another shell has replaced it. A record in the journal then ends its block, and
the next command is refused.
"""

import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path, PurePath
from typing import Any

import msgspec

from vantage.conversation.live.pump import Pump
from vantage.conversation.live.tasks import Tasks
from vantage.errors import VantageError
from vantage.ptyhost import processes, protocol, shells
from vantage.terminal.modes import Phase
from vantage.terminal.state import State

LOST_AFTER_S = 0.25
"""Seconds after which a shell in its line editor, without a prompt of ours, has lost its hooks."""
MAX_POKES = 3
"""Pokes for one command: `read -e` is in the same line editor, and pokes do not help there."""
UNHOOKED = {"t": "unhooked"}
"""The journal's record of a shell that cannot be followed any more."""


class _Poked(msgspec.Struct, frozen=True):
    """How often the shell was poked since a block began."""

    blocks: int = 0
    times: int = 0
    read_before: int = 0
    """How many pokes the shell had answered before the first poke of this block."""


class ShellHooks:
    def __init__(
        self,
        run: Path,
        tasks: Tasks,
        *,
        pump: Callable[[], Pump],
        ask: Callable[..., Awaitable[dict[str, Any]]],
    ) -> None:
        """`run` is the folder in which each shell has a folder with its hooks."""
        self._run = run
        self._tasks = tasks
        self._pump = pump
        self._ask = ask
        self._suspected, self._suspected_at = (-1, -1), 0.0
        """Blocks and raw offset when the shell was first seen in its editor without a mark, and the time."""
        self._poked = _Poked()

    @property
    def _state(self) -> State:
        return self._pump().derivation.terminal.state

    def folder(self, shell_id: str) -> Path:
        return self._run / shell_id

    @contextlib.contextmanager
    def ending(self) -> Iterator[None]:
        """While it is entered, the hooks put the terminal's settings back after every command, whatever its status
        is.
        """
        ended = self.folder(self._state.shell_id) / shells.ENDED
        with contextlib.suppress(OSError):
            ended.write_bytes(b"1")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                ended.unlink(missing_ok=True)

    def is_shell(self, pid: int | None) -> bool:
        """Whether this is the shell that was started with our hooks, or a fork of it before `exec`."""
        return pid is not None and _started_with(pid, self.folder(self._state.shell_id))

    def sampled(self, answer: dict[str, Any]) -> float | None:
        """Pokes a shell that is in its line editor without a mark.

        Returns the seconds after which another sample is needed to decide.
        """
        state, pid = self._state, answer.get("pid")
        if pid and answer.get("foreground_pid") == pid and self._was_replaced(pid):
            return self._replaced(answer)
        if not self._owes_mark(answer) or not pid or answer.get("foreground_pid") != pid or not self.is_shell(pid):
            return None
        if self._poked.blocks != state.blocks:
            self._poked = _Poked(state.blocks, 0, state.pokes_read)
        hears = not answer.get("canonical", True)
        if hears and not self.in_editor():
            return None
        if self.reads_in_editor:
            return None
        if self._is_new_evidence(answer):
            return LOST_AFTER_S
        if hears and self._poked.times < MAX_POKES:
            self._poked = msgspec.structs.replace(self._poked, times=self._poked.times + 1)
            self._tasks.begin(self.poke())
            return LOST_AFTER_S
        self._tasks.begin(self._give_up())
        return None

    def _was_replaced(self, pid: int) -> bool:
        """Whether a command has replaced the shell with one without hooks (`exec bash`) that will not end by itself.

        If a client asked for a program to talk to, the new shell is that program, and its end is the block's.
        """
        state = self._state
        if state.phase != Phase.RUNNING or state.unhooked or state.block is None or state.block.origin == "interactive":
            return False
        return not self.is_shell(pid) and _is_bare_shell(pid)

    def _replaced(self, answer: dict[str, Any]) -> float | None:
        """Ends the block of the command that replaced the shell, once the new one waits at its prompt."""
        if not answer.get("waits_for_input"):
            return None
        if self._is_new_evidence(answer):
            return LOST_AFTER_S
        self._tasks.begin(self._give_up())
        return None

    def _owes_mark(self, answer: dict[str, Any]) -> bool:
        """Whether the shell has not yet reported that it is in its editor.

        Before the echo it may not have read its command, unless it waits for more input. In canonical mode, where
        `read` may be what runs, only a given command counts.
        """
        state = self._state
        if state.unhooked:
            return False
        if answer.get("canonical", True):
            return state.pending is not None and bool(answer.get("waits_for_input"))
        if state.pending is not None and (not state.pending.lines or answer.get("waits_for_input")):
            return True
        return state.phase in ("running", "prompting")

    async def _give_up(self) -> None:
        with contextlib.suppress(VantageError):
            await self._ask("journal", record=UNHOOKED)

    def _is_new_evidence(self, answer: dict[str, Any]) -> bool:
        """Whether the mark may still be under way: in the terminal, in the host, or in output that is not derived yet.

        The host may see the shell in its editor before the prompt's bytes are here. No mark will come only if two
        samples agree, `LOST_AFTER_S` apart, with everything derived and nothing printed in between.
        """
        now = time.monotonic()
        pump = self._pump()
        seen = (self._state.blocks, pump.derivation.terminal.raw)
        if pump.behind or bool(answer.get("unread_output")) or seen != self._suspected:
            self._suspected, self._suspected_at = seen, now
            return True
        return now - self._suspected_at < LOST_AFTER_S

    def in_editor(self) -> bool:
        """Whether the shell reads with its line editor: only an editor asks for bracketed pastes, while `read -n 1` has
        the same mode otherwise.

        fish reads everything with its editor, and may do so without brackets.
        """
        screen = self._pump().derivation.terminal.screen
        return self._state.kind == "fish" or (screen is not None and screen.modes.bracketed_paste)

    @property
    def reads_in_editor(self) -> bool:
        """Whether the shell has answered all pokes of this command and stays in its editor, as in `read -e`."""
        poked, state = self._poked, self._state
        return poked.blocks == state.blocks and poked.times == MAX_POKES and state.pokes_read > poked.read_before

    async def poke(self) -> None:
        """Makes a shell in its line editor print a prompt if its marks are missing."""
        typed = shells.poke(shells.Shell(self._state.kind, ""), self.folder(self._state.shell_id))
        try:
            await self._ask("input", data=protocol.encode_data(typed.data), check="none", echo_off=typed.echo_off)
        except VantageError:
            return


def _is_bare_shell(pid: int) -> bool:
    """Whether a process is a shell without a script or command as argument: it reads from the terminal."""
    arguments = processes.arguments(pid)
    if not arguments or PurePath(arguments[0].lstrip("-")).name not in shells.KINDS:
        return False
    return all(each.startswith("-") and each not in ("-c", "-s") for each in arguments[1:])


def _started_with(pid: int, folder: Path) -> bool:
    """Whether a process was started with the hooks of a folder; `exec bash` makes it another program."""
    try:
        started = b"".join(Path(f"/proc/{pid}/{what}").read_bytes() for what in ("cmdline", "environ"))
    except OSError:
        return False
    return os.fsencode(folder) in started
