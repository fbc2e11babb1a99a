"""Which block a given command became, and which block an interactive session is."""

from collections.abc import Iterable

from vantage.conversation.store.block_log import BlockLog
from vantage.terminal.output.blocks import Block

MAX_KNOWN = 1000
"""How many commands are remembered with the request that gave them."""


class GivenCommands:
    def __init__(self) -> None:
        self._begun: dict[str, str | None] = {}
        """Request id → block id, None until the shell has begun the command."""
        self._sessions: dict[str, str] = {}
        """Session id → block id."""
        self._requests: dict[str, str] = {}
        """Request id → block id, of the last commands that have begun."""
        self._has_read_log = False

    def expect(self, request: str) -> None:
        """A command is about to be given to the shell."""
        self._begun[request] = None

    def begun(self, request: str) -> str | None:
        """The block of a command that was given, once the shell has begun it."""
        return self._begun.get(request)

    def forget(self, request: str) -> str | None:
        """As `begun`, and stops expecting the request."""
        return self._begun.pop(request, None)

    def began(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if block.exec_id is not None and block.exec_id in self._begun:
                self._begun[block.exec_id] = block.block_id
            if block.exec_id is not None:
                self._requests[block.exec_id] = block.block_id
                if len(self._requests) > MAX_KNOWN:
                    del self._requests[next(iter(self._requests))]
            if block.session_id is not None:
                self._sessions[block.session_id] = block.block_id

    def block_for(self, request: str, log: BlockLog, active: Block | None) -> str | None:
        """The block of a request that is running or has ended, given by this server or by an earlier one."""
        if not self._has_read_log:
            self._has_read_log = True
            since, self._requests = self._requests, {}
            self.began(log.after(max(log.count - MAX_KNOWN, 0), MAX_KNOWN))
            self._requests |= since
            self.began([active] if active is not None else [])
        return self._requests.get(request)

    def block_of(self, session_id: str, log: BlockLog, active: Block | None) -> str | None:
        """The block of an interactive session that runs or has ended; sessions of earlier servers are in the log."""
        if session_id not in self._sessions:
            self.began(log.after(0, log.count))
            self.began([active] if active is not None else [])
        return self._sessions.get(session_id)
