"""One agent's side of the connection to the PTY host: its process, and the numbered messages that it is sent."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vantage.conversation.live.host.client import REPLACE, HostClient
from vantage.errors import InputFull, NotRunning, TooLarge, Unavailable, VantageError
from vantage.ptyhost.protocol import MAX_PENDING, Op, encode_data

_HINTS: Mapping[type[VantageError], str] = {
    NotRunning: "its process has ended; a new run continues its session where its protocol can",
    InputFull: "the agent does not read its input: interrupt it, or end it",
}
"""The way out, where it is another one than in a terminal."""


class Lengths(NamedTuple):
    """How long the agent's files are: the host has written so much, and the three fit together."""

    offset: int
    """Of `stream.raw`."""
    journal: int
    """Of `stream.index`."""
    stderr: int
    """Of `stderr.log`."""


class Started(NamedTuple):
    """A run that was started."""

    pid: int
    run: str
    lengths: Lengths


class Attached(NamedTuple):
    """An agent as the host has it, with its last run."""

    alive: bool
    pid: int | None
    run: str | None
    """None when it has never run."""
    n: int
    """The number of the last message that the run was sent."""
    pending: int
    """Bytes of messages that the agent has not read yet."""
    stalled: str
    """Why the host cannot write the files, and so reads no more; empty when it can."""
    lengths: Lengths


class AgentLink:
    def __init__(self, agent: str, folder: str, connect: Callable[[], Awaitable[HostClient]]) -> None:
        """`folder` gets the files. `connect` gives the home's host, starting one when none runs."""
        self.agent = agent
        self.folder = folder
        self._connect = connect

    async def open(
        self,
        argv: Sequence[str],
        *,
        run: str,
        env: Mapping[str, str],
        cwd: str,
        record: Mapping[str, Any] | None = None,
    ) -> Started:
        """Starts a run. `record` is kept with the run's id in the journal. Attach first to be told what it prints."""
        answer = await self._ask(
            Op.AGENT_OPEN,
            folder=self.folder,
            argv=list(argv),
            env=dict(env),
            cwd=cwd,
            record={**(record or {}), "run": run},
        )
        return Started(answer["pid"], answer["run"], _lengths(answer))

    async def attach(self) -> Attached:
        """Joins the agent where it is; from now on the host tells of what happens to it.

        A run whose host was killed is journaled as `lost`, and what is left of its processes is ended.
        """
        answer = await self._ask(Op.AGENT_ATTACH, folder=self.folder)
        return Attached(
            alive=answer["alive"],
            pid=answer["pid"],
            run=answer["run"],
            n=answer["n"],
            pending=answer["pending"],
            stalled=answer["stalled"] or "",
            lengths=_lengths(answer),
        )

    async def detach(self) -> None:
        """Ends the events. The agent runs on."""
        await self._ask(Op.AGENT_DETACH)

    async def write(self, n: int, data: bytes, record: Mapping[str, Any] | None = None) -> int:
        """Sends message `n`, and returns the length of the journal that has it: from then on it is delivered.

        `record` is kept with it. Raises OutOfOrder when `n` is not the next number: another server has sent one, or an
        answer was lost. The journal says which; `facts["last"]` is the last number. Nothing was sent then.
        """
        if len(data) > MAX_PENDING:
            raise TooLarge(f"a message to an agent has at most {MAX_PENDING:,} bytes, this one {len(data):,}")
        answer = await self._ask(Op.AGENT_WRITE, n=n, data=encode_data(data), record=dict(record or {}))
        return int(answer["journal"])

    async def close_input(self) -> None:
        """The agent reads the end of its input, after all messages."""
        await self._ask(Op.AGENT_CLOSE_INPUT)

    async def kill(self, grace_ms: int = 1000) -> None:
        """Ends the agent with all its processes: SIGTERM, after the grace period SIGKILL. Returns when they have."""
        await self._ask(Op.AGENT_KILL, grace_ms=grace_ms)

    async def forget(self) -> None:
        """The host forgets an agent that does not run; its files stay."""
        await self._ask(Op.AGENT_FORGET)

    async def _ask(self, op: Op, **fields: Any) -> dict[str, Any]:
        host = await self._connect()
        if not host.runs_agents:
            raise Unavailable(
                f"the PTY host (process {host.pid}) is of an earlier version and cannot run agents", hint=REPLACE
            )
        try:
            return await host.request(op, agent=self.agent, **fields)
        except (NotRunning, InputFull) as error:
            raise type(error)(error.message, hint=_HINTS[type(error)]) from None


def _lengths(answer: Mapping[str, Any]) -> Lengths:
    return Lengths(answer["offset"], answer["journal"], answer["stderr"])
