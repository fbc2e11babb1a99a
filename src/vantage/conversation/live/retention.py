"""Keeps a terminal's raw output within its limit: the host punches a hole into the oldest part and journals it."""

from collections.abc import Awaitable, Callable
from typing import Any

from vantage.conversation.live.tasks import Tasks
from vantage.conversation.store.derived.derivation import Derivation
from vantage.errors import VantageError


class Retention:
    def __init__(self, limit: int, tasks: Tasks, ask: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        self.limit = limit
        self.dropping = False
        self._tasks = tasks
        self._ask = ask

    def checkpointed(self, derivation: Derivation) -> None:
        """A checkpoint was written, so output before the previous one may be dropped."""
        if derivation.terminal.raw > self.limit and not self.dropping:
            self.dropping = True
            self._tasks.begin(self._drop(derivation))

    async def _drop(self, derivation: Derivation) -> None:
        try:
            old = derivation.droppable(self.limit)
            if old is not None:
                why = f"the oldest output, to keep it within {self.limit:,} bytes"
                await self._ask("punch", start=old.start, end=old.end, why=why)
        except VantageError:
            return  # the file system cannot punch holes: everything is kept
        finally:
            self.dropping = False
