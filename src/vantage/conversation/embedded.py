"""A conversation's terminal in this process, without a server. `vantage.open_terminal` is made of it."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from vantage.conversation.manager import Manager
from vantage.conversation.verbs.agent_terminal import AgentTerminal


@asynccontextmanager
async def private_terminal(conversation_id: str, settings: dict[str, Any]) -> AsyncIterator[AgentTerminal]:
    """A terminal in a temporary home. At the end its shell and its files are removed."""
    place = Path(tempfile.mkdtemp(prefix="vantage-"))
    try:
        async with Manager(place) as manager:
            terminal = await _terminal(manager, conversation_id, settings)
            try:
                yield terminal
            finally:
                await manager.close_conversation(conversation_id)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@asynccontextmanager
async def home_terminal(home: Path, conversation_id: str, settings: dict[str, Any]) -> AsyncIterator[AgentTerminal]:
    """A terminal of a home, taken up where it was left. Its shell lives on. Raises HomeTaken if the home is in use."""
    async with Manager(home) as manager:
        yield await _terminal(manager, conversation_id, settings)


async def _terminal(manager: Manager, conversation_id: str, settings: dict[str, Any]) -> AgentTerminal:
    if any(each.id == conversation_id for each in manager.list()):
        conversation = manager.get(conversation_id)
        await conversation.live.join_host()
    else:
        conversation = manager.create(conversation_id, **settings)
    return conversation.terminal
