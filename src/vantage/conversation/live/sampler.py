"""Samples what a terminal cannot announce: its settings and its foreground process.

Samples are taken after output and, while a caller waits on them or the shell owes a mark, every `SAMPLE_S`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from vantage.conversation.live.host.link import HostLink
from vantage.conversation.live.tasks import Tasks
from vantage.errors import HostSilent, VantageError
from vantage.terminal.state import State

SAMPLE_S = 0.1
LOOK_WITHIN_S = 1.0
"""How long `latest` waits for the host."""


class Sample:
    """The last sample of the terminal's settings and its foreground process."""

    def __init__(self, answer: dict[str, Any] | None = None) -> None:
        answer = answer or {}
        self.awaiting_secret: bool = bool(answer.get("canonical")) and not answer.get("echo", True)
        self.canonical: bool = bool(answer.get("canonical", True))
        self.foreground: str | None = answer.get("foreground")
        self.foreground_pid: int | None = answer.get("foreground_pid")
        self.shell_waits: bool = bool(answer.get("waits_for_input"))
        """The shell itself waits for input, and has read what was typed."""
        self.cwd: str | None = answer.get("cwd")
        """The foreground process's directory as the kernel names it; None where the host does not know it."""


class Sampler:
    def __init__(
        self,
        link: HostLink,
        tasks: Tasks,
        *,
        state: Callable[[], State],
        ask: Callable[..., Awaitable[dict[str, Any]]],
        sampled: Callable[[dict[str, Any]], float | None],
        wake: Callable[[], None],
    ) -> None:
        """`ask` asks the host about an attached terminal; `sampled` gets each answer, before waiters are
        woken, and returns the seconds after which it needs another one, or None.
        """
        self.sample = Sample()
        self._link = link
        self._tasks = tasks
        self._state = state
        self._ask = ask
        self._sampled = sampled
        self._wake = wake
        self._watchers = 0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def watch(self) -> None:
        """A caller waits for settings or foreground process, until `unwatch`."""
        self._watchers += 1
        self.soon(0)

    def unwatch(self) -> None:
        self._watchers -= 1

    def soon(self, seconds: float = SAMPLE_S) -> None:
        if self._timer is None and not self._closed and self._matters():
            self._timer = asyncio.get_running_loop().call_later(seconds, self._now)

    def _matters(self) -> bool:
        return self._watchers > 0 or self._state().phase in ("sent", "running", "prompting")

    def _now(self) -> None:
        if self._matters():
            self._tasks.begin(self.look())
        else:
            self._timer = None

    async def latest(self) -> Sample:
        """A fresh sample; the last one, when the host does not answer in time."""
        if not self._link.silent:
            await asyncio.wait({self._tasks.begin(self.look())}, timeout=LOOK_WITHIN_S)
        return self.sample

    async def look(self) -> Sample:
        """A fresh sample."""
        state = self._state()
        try:
            answer = {}
            if state.phase not in ("none", "exited"):
                answer = await self._ask("state", awaiting_secret=state.awaiting_secret)
            self.sample = Sample(answer)
            if (again := self._sampled(answer)) is not None:
                asyncio.get_running_loop().call_later(again, self.soon, 0)
        except HostSilent:
            pass  # the last sample is the best there is
        except VantageError:  # the shell may have ended just now
            self.sample = Sample()
        finally:
            self._timer = None
        if self._watchers:
            self.soon()
        self._wake()
        return self.sample

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
