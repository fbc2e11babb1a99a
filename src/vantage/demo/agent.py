"""What a scripted agent can do: speak, call tools, drive its terminal. Each is one call, with time to watch it."""

import asyncio
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vantage.conversation.bus import Bus

WORDS_A_SECOND = 45.0


class ScriptedAgent:
    """Speaks into one conversation through the bus, as any agent would."""

    def __init__(self, bus: Bus, conversation_id: str, pace: float = 1.0) -> None:
        self._bus = bus
        self.id = conversation_id
        self._pace = pace
        self._names = itertools.count(1)
        self._agent: dict[str, Any] | None = None

    async def pause(self, seconds: float) -> None:
        """Pauses, so that a viewer can follow; a pace of 0 does not wait."""
        await asyncio.sleep(seconds * self._pace)

    def patience(self, seconds: float) -> int:
        """Milliseconds for a viewer, scaled by the pace."""
        return round(seconds * 1000 * self._pace)

    @contextmanager
    def sub_agent(self, name: str) -> Iterator[None]:
        """Events inside the block come from a sub-agent."""
        self._agent = {"id": name, "name": name, "depth": 1}
        try:
            yield
        finally:
            self._agent = None

    async def emit(self, type: str, **fields: Any) -> None:
        event = {"type": type, **fields}
        if self._agent is not None:
            event["agent"] = self._agent
        await self._bus.request(self.id, "append", events=[event])

    async def say(self, text: str) -> None:
        """A message, word by word."""
        await self._stream("assistant_delta", "assistant_text", text)

    async def think(self, text: str) -> None:
        await self._stream("reasoning_delta", "assistant_reasoning", text)

    async def _stream(self, delta: str, whole: str, text: str) -> None:
        message = f"m{next(self._names)}"
        for word in re.findall(r"\S+\s*", text):
            await self.emit(delta, message_id=message, text=word)
            await self.pause(1 / WORDS_A_SECOND)
        await self.emit(whole, message_id=message, text=text)
        await self.pause(0.4)

    async def call(self, tool: str, args: Any, *, takes: float = 0.6, **end: Any) -> None:
        """A tool call, from its start to its end."""
        name = f"t{next(self._names)}"
        spec = {"renderSpec": end.pop("spec")} if "spec" in end else {}
        partial = end.pop("partial", ())
        await self.emit("tool_start", tool=tool, toolCallId=name, args=args, **spec)
        for output in partial:
            await self.pause(takes / len(partial))
            await self.emit("tool_output", toolCallId=name, output=output, mode="replace")
        await self.pause(takes if not partial else 0.3)
        await self.emit("tool_end", toolCallId=name, **end)
        await self.pause(0.4)

    async def pty(self, verb: str, **fields: Any) -> dict[str, Any]:
        """A verb of the terminal."""
        return await self._bus.request(self.id, f"pty_{verb}", **fields)

    async def run(self, command: str) -> dict[str, Any]:
        ran = await self.pty("exec_block", command=command)
        await self.pause(0.6)
        return ran

    async def type_slowly(self, text: str) -> None:
        """Types as a person would."""
        if not self._pace:
            await self.pty("send", data=text)
            return
        for piece in re.findall(r"\S+\s*|\s+", text):
            await self.pty("send", data=piece)
            await self.pause(0.12)
