"""The operations of agents: a table that joins the one of all operations."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from vantage.ptyhost import fields
from vantage.ptyhost.agent.hosted import HostedAgent
from vantage.ptyhost.agent.running import RunningAgent
from vantage.ptyhost.connection import Request
from vantage.ptyhost.fields import Refused
from vantage.ptyhost.protocol import MAX_PENDING, Code, Op
from vantage.ptyhost.shared.child import SpawnError
from vantage.ptyhost.shared.killing import answer_killed
from vantage.ptyhost.shared.stall import refuse_while_stalled

if TYPE_CHECKING:
    from vantage.ptyhost.host import Host

OURS: Final = frozenset({"t", "at", "ts", "n", "data", "pid", "started", "boot", "cwd", "stderr"})
"""Fields of records that only the host writes."""
GRACE_S: Final = 1.0
"""Seconds that processes of the run before get when the next one is to start."""


def open_(host: "Host", request: Request) -> None:
    """Starts a run. Waits until what is left of a run before it has ended, if that is under way."""
    if host.leaving:
        raise Refused(Code.LEAVING, "the host is ending: start another one when it is gone")
    command, record = fields.command(request), _record(request)
    run = record.get("run")
    if not isinstance(run, str) or not run:
        raise Refused(Code.BAD_REQUEST, f"expected the run's id as text in record.run, got {run!r}")
    agent = host.agents.get(fields.text(request, "agent"), fields.folder(request))
    if agent.running is not None:
        raise Refused(Code.EXISTS, f"agent {agent.name} runs as process {agent.pid}: attach to it, or kill it first")
    if agent.killing.active:
        agent.kill(GRACE_S, _once_ended(host, request, agent))
        return
    refuse_while_stalled(agent.files)
    try:
        agent.start(command, run, record, host.inherited)
    except SpawnError as error:
        agent.rest()
        raise Refused(Code.SPAWN, str(error)) from None
    pid = agent.pid
    agent.stall.when_written(lambda: request.answer(pid=pid, run=run, **agent.files.lengths()))


def attach(host: "Host", request: Request) -> None:
    agent = host.agents.get(fields.text(request, "agent"), fields.folder(request))
    agent.watch(request.connection)
    request.connection.watching.add(agent)
    request.answer(
        alive=agent.running is not None,
        pid=agent.pid,
        run=agent.run,
        n=agent.sent,
        pending=agent.running.input.pending if agent.running is not None else 0,
        stalled=agent.files.why or None,
        **agent.files.lengths(),
    )


def detach(host: "Host", request: Request) -> None:
    agent = host.agents.known(fields.text(request, "agent"))
    agent.unwatch(request.connection)
    request.connection.watching.discard(agent)
    request.answer()


def write(host: "Host", request: Request) -> None:
    """Takes the next message, whole, or refuses it: then nothing of it was taken."""
    agent, running = _running(host, request)
    n, data, record = fields.number(request, "n", 1, 1 << 62), fields.data(request), _record(request)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Refused(Code.BAD_REQUEST, "expected UTF-8 text as data, got other bytes") from None
    refuse_while_stalled(agent.files)
    if n != agent.sent + 1:
        raise Refused(
            Code.ORDER,
            f"expected message {agent.sent + 1} of run {agent.run}, got {n}: the journal has what was sent. "
            "Nothing was taken",
            last=agent.sent,
        )
    if not running.input.open:
        raise Refused(Code.INPUT_CLOSED, f"the input of agent {agent.name} is closed. Nothing was taken")
    if not running.input.fits(len(data)):
        raise Refused(
            Code.INPUT_FULL,
            f"{len(data)} bytes do not fit: at most {MAX_PENDING} may wait for an agent that does not read, and "
            f"{running.input.pending} do. Nothing was taken; wait for it to read, or kill it",
        )
    agent.write(n, data, text, record, lambda: request.answer(n=n, journal=agent.files.log.journal))


def close_input(host: "Host", request: Request) -> None:
    """The agent gets the end of its input, after what it was sent."""
    _, running = _running(host, request)
    running.input.close_when_written()
    request.answer()


def kill(host: "Host", request: Request) -> None:
    agent = host.agents.known(fields.text(request, "agent"))
    grace = fields.number(request, "grace_ms", 0, 600_000, 1000)
    agent.kill(grace / 1000, answer_killed(request, agent.files.log))


def forget(host: "Host", request: Request) -> None:
    host.agents.forget(host.agents.known(fields.text(request, "agent")), host.connections)
    request.answer()


AGENT_OPERATIONS: Final[dict[str, Callable[["Host", Request], None]]] = {
    Op.AGENT_OPEN: open_,
    Op.AGENT_ATTACH: attach,
    Op.AGENT_DETACH: detach,
    Op.AGENT_WRITE: write,
    Op.AGENT_CLOSE_INPUT: close_input,
    Op.AGENT_KILL: kill,
    Op.AGENT_FORGET: forget,
}


def _once_ended(host: "Host", request: Request, agent: HostedAgent) -> Callable[[list[int]], None]:
    """Performs the request again, unless some processes could not be ended."""
    refuse = answer_killed(request, agent.files.log)
    return lambda left: refuse(left) if left else host.perform_soon(request)


def _running(host: "Host", request: Request) -> tuple[HostedAgent, RunningAgent]:
    agent = host.agents.known(fields.text(request, "agent"))
    if agent.running is None:
        raise Refused(Code.NOT_RUNNING, f"agent {agent.name} has no process: open it first")
    return agent, agent.running


def _record(request: Request) -> dict[str, Any]:
    """What the caller keeps with a record."""
    record = fields.facts(request, "record")
    if taken := sorted(OURS & record.keys()):
        raise Refused(Code.BAD_REQUEST, f"the host itself writes {', '.join(taken)} of a record: use another name")
    return record
