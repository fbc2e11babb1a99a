"""A terminal without a server: `async with open_terminal() as t`."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from vantage.conversation.manager import Manager
from vantage.conversation.verbs import AgentTerminal


@asynccontextmanager
async def open_terminal(
    conversation_id: str = "main",
    *,
    home: str | os.PathLike[str] | None = None,
    shell: str = "bash",
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    cols: int = 120,
    rows: int = 40,
    user_rc: bool = True,
    allow_secret_input: bool = False,
) -> AsyncIterator[AgentTerminal]:
    """A conversation's terminal in this process, with its shell in a host of its own.

    Without `home` everything is private and gone at the end. With a home, the conversation is taken up where it was
    left, and its shell lives on afterwards; whoever has the home has it alone.
    """
    private = home is None
    place = Path(tempfile.mkdtemp(prefix="vantage-")) if home is None else Path(home).expanduser().absolute()
    try:
        async with Manager(place) as manager:
            if any(settings.id == conversation_id for settings in manager.list()):
                conversation = manager.get(conversation_id)
                await conversation.session.join_host()
            else:
                conversation = manager.create(
                    conversation_id,
                    shell=shell,
                    cwd=os.fspath(cwd) if cwd is not None else None,
                    env=os.environ if env is None else env,
                    cols=cols,
                    rows=rows,
                    user_rc=user_rc,
                    allow_secret_input=allow_secret_input,
                )
            try:
                yield conversation.terminal
            finally:
                if private:
                    await manager.close_conversation(conversation_id)
    finally:
        if private:
            shutil.rmtree(place, ignore_errors=True)
