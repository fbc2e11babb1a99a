"""The operations of the host: a table from the name of an operation to the function that does it.

Each function answers its request now or arranges for it to be answered, or raises `Refused`. Any other exception is a
failure of the host and is answered as such. Those of agents are in `agent/ops.py`.
"""

import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from vantage.ptyhost import fields, processes
from vantage.ptyhost.agent.ops import AGENT_OPERATIONS
from vantage.ptyhost.connection import Request
from vantage.ptyhost.fields import Refused
from vantage.ptyhost.holes import punch_hole
from vantage.ptyhost.protocol import MAX_INPUT, MAX_TYPED_LINE, SPOKEN, VERSION, Code, Op
from vantage.ptyhost.shared.child import SpawnError
from vantage.ptyhost.shared.killing import answer_killed
from vantage.ptyhost.shared.stall import refuse_while_stalled
from vantage.ptyhost.terminal.awaits.sampling import EVERY_MS, SAMPLES, Sampling
from vantage.ptyhost.terminal.calls import Call
from vantage.ptyhost.terminal.hosted import HostedTerminal
from vantage.ptyhost.terminal.input.queue import NO_READER, Check, Input
from vantage.ptyhost.terminal.input.readers import reads
from vantage.ptyhost.terminal.input.replies import Reply
from vantage.ptyhost.terminal.pty import Program
from vantage.ptyhost.terminal.running import Running

if TYPE_CHECKING:
    from vantage.ptyhost.host import Host

OURS: Final = frozenset({"out", "shell", "size", "exit", "lost", "state", "reply", "gap"})
"""Kinds of records that only the host writes."""
MAX_SAMPLES: Final = 100
_CHECKS: Final = ("none", "open", "secret")
_TARGETS: Final = ("foreground", "shell", "session")
_ENDING: Final = (signal.SIGTERM, signal.SIGKILL)


Operation = Callable[["Host", Request], None]


def hello(host: "Host", request: Request) -> None:
    wanted = request.fields.get("protocol")
    if wanted not in SPOKEN:
        request.refuse(
            Code.PROTOCOL,
            f"this host (vantage {VERSION}, pid {os.getpid()}) speaks protocol {', '.join(map(str, SPOKEN))}, the "
            f"client asked for {wanted!r}: use a vantage of its version, or end its shells so that it leaves",
            speaks=list(SPOKEN),
        )
        request.connection.close_when_sent()
        return
    request.connection.greeted = True
    host.greeted = True
    request.answer(protocol=wanted, version=VERSION, pid=os.getpid(), operations=list(OPERATIONS))


def open_(host: "Host", request: Request) -> None:
    if host.leaving:
        raise Refused(Code.LEAVING, "the host is ending: start another one when it is gone")
    command = fields.command(request)
    size = fields.number(request, "cols", 1, 65535), fields.number(request, "rows", 1, 65535)
    settings = fields.text(request, "settings") if request.fields.get("settings") is not None else ""
    program = Program(command, *size, settings)
    record = fields.facts(request, "record")
    terminal = host.terminals.get(fields.text(request, "terminal"), fields.folder(request))
    if terminal.running is not None:
        raise Refused(
            Code.EXISTS, f"terminal {terminal.name} runs process {terminal.pid}: attach to it, or kill it first"
        )
    refuse_while_stalled(terminal.log)
    try:
        terminal.start(program, record, host.inherited)
    except SpawnError as error:
        terminal.rest()
        raise Refused(Code.SPAWN, str(error)) from None
    pid = terminal.pid
    terminal.stall.when_written(
        lambda: request.answer(pid=pid, offset=terminal.log.offset, journal=terminal.log.journal)
    )


def attach(host: "Host", request: Request) -> None:
    terminal = host.terminals.get(fields.text(request, "terminal"), fields.folder(request))
    terminal.watch(request.connection, _window(request))
    request.connection.watching.add(terminal)
    request.answer(
        alive=terminal.running is not None,
        pid=terminal.pid,
        offset=terminal.log.offset,
        journal=terminal.log.journal,
        answered=terminal.answered,
        cols=terminal.cols,
        rows=terminal.rows,
        stalled=terminal.log.why or None,
    )


def detach(host: "Host", request: Request) -> None:
    terminal = host.terminals.known(fields.text(request, "terminal"))
    terminal.unwatch(request.connection)
    request.connection.watching.discard(terminal)
    request.answer()


class _Part(NamedTuple):
    """The part of a call that a request is: the units from `at` up to `end` of `size`."""

    call: Call
    at: int
    end: int
    size: int

    def ends(self, written: int, *, whole: bool, why: str) -> None:
        """Notes that `written` bytes of the part were written. A part that is not counted in bytes is one unit."""
        taken = self.end if whole else min(self.at + written, self.end - 1)
        self.call.end(taken, "" if why == NO_READER else why)  # which was written all the same


def input_(host: "Host", request: Request) -> None:
    data, part, known = fields.data(request), _part(host, request), 0
    if part is not None:
        if part.call.busy:
            # In a turn of its own: this one writes input.
            part.call.settled(lambda: host.perform_soon(request))
            return
        known = min(max(part.call.taken - part.at, 0), len(data))
        if part.call.why or part.call.taken >= part.end:
            _answer_input(request, known if part.call.taken < part.end else len(data), part.call.why)
            return
    _type(host, request, data, part, known)


def _answer_input(request: Request, written: int, why: str, *, echo: bool = False) -> None:
    """`echo`: the terminal echoes what is typed, so that it is in the output before anything a program says to it."""
    if why:
        request.answer(written=written, why=why)
    elif request.fields.get("answer") != "failure":
        request.answer(written=written, echo=echo)


def _type(host: "Host", request: Request, whole: bytes, part: _Part | None, known: int) -> None:
    """Types the part of an input that is not `known` to be written."""
    terminal, running = _running(host, request)
    data = whole[known:]
    check = request.fields.get("check", "none")
    if check not in _CHECKS:
        raise Refused(Code.BAD_REQUEST, f"expected check to be one of {', '.join(_CHECKS)}, got {check!r}")
    timeout = fields.number(request, "timeout_ms", 0, 3_600_000, 2000)
    record = None
    if request.fields.get("record") is not None:
        record = _record(request)
        refuse_while_stalled(terminal.log)
    if not running.input.accepts(len(data)):
        raise Refused(
            Code.INPUT_FULL,
            f"{len(data)} bytes do not fit: at most {MAX_INPUT} may wait for a program that does not read. Nothing was "
            "taken; wait for it to read, interrupt it, or send less",
        )
    longest = max(map(len, data.replace(b"\r", b"\n").split(b"\n")), default=0)
    modes = running.pty.modes()
    echo = modes.echo and modes.canonical
    if longest > MAX_TYPED_LINE and modes.canonical:
        raise Refused(
            Code.LINE_TOO_LONG,
            f"the terminal takes lines of at most {MAX_TYPED_LINE} bytes now and would cut one of {longest}. Nothing "
            "was taken; send shorter lines, or hand the text over in a file",
        )

    def done(written: int, why: str) -> None:
        if part is not None:
            part.ends(known + written, whole=written >= len(data), why=why)
        _answer_input(request, known + written, why, echo=echo)

    def refused(code: Code) -> None:
        if part is not None:
            part.call.end(part.call.taken)
        request.refuse(code, _CHECK_MESSAGES[code])

    deadline = time.monotonic() + timeout / 1000
    echo_off = request.fields.get("echo_off") is True
    expects = request.fields.get("expects")
    if isinstance(expects, str) and expects:
        terminal.events.coalesce_until(expects.encode())
    seen = fields.number(request, "seen", 0, 1 << 62) if request.fields.get("seen") is not None else None
    if part is not None:
        part.call.begin(part.size)
    running.input.type(Input(data, cast("Check", check), record, deadline, done, refused, echo_off, seen))


_CHECK_MESSAGES: Final = {
    Code.SECRET_PROMPT: "the terminal asks for a secret (no echo, whole lines): send it as one, or interrupt. Nothing "
    "was typed",
    Code.NO_SECRET_PROMPT: "the terminal does not ask for a secret, so it would be shown. Nothing was typed",
    Code.SECRET_GONE: "the program that asked for the secret has gone. What was typed of it was thrown away",
}


def reply(host: "Host", request: Request) -> None:
    """Answers a query, once. When the answer is written, it is checked that the program still reads it."""
    terminal, running = _running(host, request)
    query, data = fields.number(request, "query", 0, 1 << 62), fields.data(request)
    if query <= terminal.answered or terminal.log.stalled or running.input.waiting:
        request.answer(sent=False)
        return
    terminal.answered = query
    if not terminal.record({"t": "reply", "query": query}):
        request.answer(sent=False)
        return
    by_shell = request.fields.get("by_shell") is True
    running.answers.add(Reply(query, data, by_shell, lambda sent: request.answer(sent=sent)))


def flow(host: "Host", request: Request) -> None:
    """Lets output flow again that a Ctrl-S has stopped."""
    _, running = _running(host, request)
    running.pty.resume_output()
    request.answer()


def window(host: "Host", request: Request) -> None:
    """The client can take output up to `upto`: reading pauses there. Without `upto` it does not pause."""
    terminal = host.terminals.known(fields.text(request, "terminal"))
    if request.connection not in terminal.watchers:
        raise Refused(Code.BAD_REQUEST, f"only an attached client has a window of terminal {terminal.name}: attach")
    terminal.watch(request.connection, _window(request))
    request.answer()


def resize(host: "Host", request: Request) -> None:
    terminal, running = _running(host, request)
    pty = running.pty
    cols, rows = fields.number(request, "cols", 1, 65535), fields.number(request, "rows", 1, 65535)
    if (cols, rows) == (pty.cols, pty.rows):
        request.answer(changed=False)
        return
    refuse_while_stalled(terminal.log)
    if not running.drain():
        refuse_while_stalled(terminal.log)
    terminal.cols, terminal.rows = cols, rows

    def set_size() -> None:
        if pty.master >= 0:
            pty.resize(cols, rows)
        request.answer(changed=True)

    terminal.record({"t": "size", "cols": cols, "rows": rows})
    terminal.stall.when_written(set_size)


def interrupt(host: "Host", request: Request) -> None:
    part = _part(host, request)
    if part is not None and part.call.taken:
        request.answer(how="before", to=None, dropped=0)
        return
    _, running = _running(host, request)
    if part is not None:
        part.call.begin(part.size)
        part.ends(1, whole=True, why="")
    done = running.interrupt()
    request.answer(how=done.how, to=done.to, dropped=done.dropped)


def signal_(host: "Host", request: Request) -> None:
    """Signals the foreground, the shell or the session.

    For the foreground, `spare_shell` signals nothing when the shell is there, and `only` nothing when that process is
    not there.
    """
    _, running = _running(host, request)
    pty = running.pty
    name, target = fields.text(request, "signal"), request.fields.get("to", "foreground")
    try:
        number = signal.Signals["SIG" + name.removeprefix("SIG")]
    except KeyError:
        raise Refused(Code.BAD_REQUEST, f'expected the name of a signal like "TERM", got {name!r}') from None
    if target not in _TARGETS:
        raise Refused(Code.BAD_REQUEST, f"expected to to be one of {', '.join(_TARGETS)}, got {target!r}")
    if target == "session":
        request.answer(signaled=processes.send(pty.members(), number))
        return
    try:
        if target == "shell":
            os.kill(pty.pid, number)
        else:
            group = pty.foreground()
            if group is None:
                raise Refused(Code.FAILED, "the terminal has no foreground process group: signal the session instead")
            only = request.fields.get("only")
            spared = group == pty.pid and request.fields.get("spare_shell") is True
            if spared or (only is not None and processes.group(only) != group):
                request.answer(signaled=0)
                return
            if number in _ENDING:
                pty.discard_input()  # the shell would read what this program has not
            os.killpg(group, number)
    except ProcessLookupError:  # it has just ended
        request.answer(signaled=0)
        return
    except OSError as error:
        raise Refused(Code.FAILED, f"cannot signal the {target}: {error.strerror}") from None
    request.answer(signaled=1)


def state(host: "Host", request: Request) -> None:
    """Journals what is new since the last time, or what differs from the client's `awaiting_secret`."""
    terminal = host.terminals.known(fields.text(request, "terminal"))
    if terminal.running is None:
        request.answer(
            alive=False,
            pid=None,
            echo=None,
            canonical=None,
            isig=None,
            foreground=None,
            foreground_pid=None,
            cwd=None,
        )
        return
    pty = terminal.running.pty
    modes, group = pty.modes(), pty.foreground()
    name, pid = processes.command_name(group) if group is not None else (None, None)
    seen = {"echo": modes.echo, "canonical": modes.canonical, "foreground": name, "foreground_pid": pid}
    is_news = seen != terminal.state or request.fields.get("awaiting_secret", modes.secret) != modes.secret
    if is_news and not terminal.log.stalled:
        terminal.state = seen
        terminal.record({"t": "state", **seen})
    cwd = (processes.working_directory(pid) if pid is not None else None) or processes.working_directory(pty.pid)
    # Whether the shell itself waits. Finding other waiting processes would need a search.
    waits = group == pty.pid and not pty.has_unread_input() and reads(group, pty.tty) == "yes"
    request.answer(
        alive=True,
        pid=pty.pid,
        isig=modes.isig,
        cwd=cwd,
        unread_output=pty.unread_output(),
        waits_for_input=waits,
        **seen,
    )


def awaits(host: "Host", request: Request) -> None:
    """Whether the foreground waits for input: `yes` after some samples, `no` or `unknown` as soon as one says so.

    The answer has `waits`, `why`, `offset` (longer output outdates it), and for `yes` also `what` (`secret`, `line` or
    `key`), with `process`, `pid`, `call`, `echo`, `canonical` and `line_editor` as evidence.
    """
    terminal, running = _running(host, request)
    samples = fields.number(request, "samples", 1, MAX_SAMPLES, SAMPLES)
    every = fields.number(request, "every_ms", 1, 10_000, EVERY_MS) / 1000
    Sampling(host.loop, running, terminal.log, samples, every, lambda found: request.answer(**found.fields())).take()


def remember(host: "Host", request: Request) -> None:
    """How far a call came, and the facts that were kept with it, once no part of it waits to be written.

    `facts` are kept if the call has none yet; with `replace` in any case. `age_ms` is how long the process has been
    running.
    """
    terminal = host.terminals.known(fields.text(request, "terminal"))
    call_id, facts = fields.text(request, "call"), request.fields.get("facts")
    call = terminal.calls.get(call_id)
    known = call is not None
    if isinstance(facts, dict):
        call = terminal.calls.add(call_id)
        if not call.facts or request.fields.get("replace") is True:
            call.facts = facts

    def answer() -> None:
        running = terminal.running
        age = round((time.monotonic() - running.began) * 1000) if running is not None else None
        found = call or Call()
        request.answer(
            known=known, facts=found.facts, taken=found.taken, size=found.size, why=found.why or None, age_ms=age
        )

    if call is None:
        answer()
    else:
        call.settled(answer)


def journal(host: "Host", request: Request) -> None:
    terminal, record = host.terminals.known(fields.text(request, "terminal")), _record(request)
    refuse_while_stalled(terminal.log)
    terminal.record(record)

    def answer() -> None:
        request.answer(offset=terminal.log.offset, journal=terminal.log.journal)
        terminal.rest()

    terminal.stall.when_written(answer)


def kill(host: "Host", request: Request) -> None:
    terminal = host.terminals.known(fields.text(request, "terminal"))
    grace = fields.number(request, "grace_ms", 0, 600_000, 1000)
    terminal.kill(grace / 1000, answer_killed(request, terminal.log))


def punch(host: "Host", request: Request) -> None:
    terminal = host.terminals.known(fields.text(request, "terminal"))
    length = terminal.log.offset
    start = fields.number(request, "start", 0, length)
    end = fields.number(request, "end", start + 1, length)
    why = fields.text(request, "why")
    refuse_while_stalled(terminal.log)
    descriptor = terminal.log.raw_descriptor()
    # Tries a hole after the file's end first: where the file system refuses it, no record of a hole is written.
    _punch(descriptor, length, 1)

    def make_hole() -> None:
        _punch(terminal.log.raw_descriptor(), start, end - start)
        request.answer(offset=terminal.log.offset, journal=terminal.log.journal)
        terminal.rest()

    terminal.record({"t": "gap", "from": start, "to": end, "why": why})
    terminal.stall.when_written(make_hole)


def forget(host: "Host", request: Request) -> None:
    terminal = host.terminals.known(fields.text(request, "terminal"))
    host.terminals.forget(terminal, host.connections)
    request.answer()


def list_(host: "Host", request: Request) -> None:
    request.answer(
        terminals=[
            {
                "terminal": terminal.name,
                "folder": terminal.folder,
                "pid": terminal.pid,
                "alive": terminal.running is not None,
                "offset": terminal.log.offset,
            }
            for terminal in host.terminals
        ],
        agents=[
            {
                "agent": agent.name,
                "folder": agent.folder,
                "pid": agent.pid,
                "alive": agent.running is not None,
                "offset": agent.files.log.offset,
            }
            for agent in host.agents
        ],
    )


OPERATIONS: Final[dict[str, Operation]] = {
    Op.HELLO: hello,
    Op.OPEN: open_,
    Op.ATTACH: attach,
    Op.DETACH: detach,
    Op.INPUT: input_,
    Op.REPLY: reply,
    Op.FLOW: flow,
    Op.WINDOW: window,
    Op.RESIZE: resize,
    Op.INTERRUPT: interrupt,
    Op.SIGNAL: signal_,
    Op.STATE: state,
    Op.AWAITS: awaits,
    Op.REMEMBER: remember,
    Op.JOURNAL: journal,
    Op.KILL: kill,
    Op.PUNCH: punch,
    Op.FORGET: forget,
    Op.LIST: list_,
    **AGENT_OPERATIONS,
}


def perform(host: "Host", request: Request) -> None:
    """Calls the operation's function, and answers with the error if it refuses."""
    name = request.fields.get("op")
    if not request.connection.greeted and name != Op.HELLO:
        request.refuse(Code.PROTOCOL, f"expected hello first, got {name!r}", speaks=list(SPOKEN))
        request.connection.close_when_sent()
        return
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        request.refuse(Code.UNKNOWN_OP, f"expected one of {', '.join(OPERATIONS)}, got {name!r}")
        return
    try:
        operation(host, request)
    except Refused as refused:
        request.refuse(refused.code, str(refused), **refused.facts)
    except OSError as error:
        request.refuse(Code.FAILED, f"{name}: {error}")
    except UnicodeEncodeError:
        request.refuse(Code.BAD_REQUEST, f"{name}: expected text that the system can take, got half a character in it")
    except Exception as error:  # noqa: BLE001 - shells depend on this process
        host.loop.report()
        request.refuse(Code.INTERNAL, f"{name} failed in the host: {error!r}; its log has the details")


def _punch(descriptor: int, start: int, length: int) -> None:
    try:
        punch_hole(descriptor, start, length)
    except OSError as error:
        raise Refused(Code.UNSUPPORTED, f"the file system cannot free a part of a file: {error.strerror}") from None


def _running(host: "Host", request: Request) -> tuple[HostedTerminal, Running]:
    terminal = host.terminals.known(fields.text(request, "terminal"))
    if terminal.running is None:
        raise Refused(Code.NOT_RUNNING, f"terminal {terminal.name} has no process: open it first")
    return terminal, terminal.running


def _window(request: Request) -> int | None:
    return fields.number(request, "upto", 0, 1 << 62) if request.fields.get("upto") is not None else None


def _part(host: "Host", request: Request) -> _Part | None:
    """The part of a call that a request is, if it names one. The facts of a call that has not begun are kept."""
    named = request.fields.get("call")
    if named is None:
        return None
    if not isinstance(named, dict) or not isinstance(named.get("id"), str):
        raise Refused(Code.BAD_REQUEST, f"expected an object with a text id as call, got {named!r}")
    at, end, size = (named.get(name) for name in ("at", "end", "size"))
    if not (isinstance(at, int) and isinstance(end, int) and isinstance(size, int) and 0 <= at < end <= size):
        raise Refused(Code.BAD_REQUEST, f"expected 0 <= at < end <= size of a call, got {at!r}, {end!r}, {size!r}")
    call = host.terminals.known(fields.text(request, "terminal")).calls.add(named["id"])
    if (call.begun or call.busy) and call.size != size:
        raise Refused(Code.CHANGED, f"this call had {call.size} units when it began, and has {size} now")
    if not call.begun and not call.busy:
        facts = named.get("facts")
        call.facts = facts if isinstance(facts, dict) else {}
    return _Part(call, at, end, size)


def _record(request: Request) -> dict[str, Any]:
    record = request.fields.get("record")
    if not isinstance(record, dict) or not isinstance(record.get("t"), str):
        raise Refused(Code.BAD_REQUEST, f"expected an object with a text t as record, got {record!r}")
    if record["t"] in OURS:
        raise Refused(Code.BAD_REQUEST, f"records of kind {record['t']} are written by the host itself")
    return record
