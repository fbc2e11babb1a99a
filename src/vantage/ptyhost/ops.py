"""What clients may ask for: a table from the name of an operation to the function that does it.

Each function answers its request now or arranges for it to be answered. `Refused` says what was expected, what came and
the way out; whatever else is raised is the host's own fault and is answered as such.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from vantage.ptyhost import processes
from vantage.ptyhost.connection import Request
from vantage.ptyhost.holes import punch_hole
from vantage.ptyhost.inputs import Check, Input
from vantage.ptyhost.protocol import MAX_INPUT, MAX_TYPED_LINE, PROTOCOL, SPOKEN, VERSION, Code, Op, decode_data
from vantage.ptyhost.pty import Program, Pty, SpawnError
from vantage.ptyhost.terminal import Terminal

if TYPE_CHECKING:
    from vantage.ptyhost.host import Host

OURS: Final = frozenset({"out", "shell", "size", "exit", "lost", "state", "reply", "gap"})
"""Kinds of records that only the host writes."""
_CHECKS: Final = ("none", "open", "secret")
_TARGETS: Final = ("foreground", "shell", "session")


class Refused(Exception):
    """The answer is no."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


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
    request.answer(protocol=PROTOCOL, version=VERSION, pid=os.getpid())


def open_(host: "Host", request: Request) -> None:
    if host.leaving:
        raise Refused(Code.LEAVING, "the host is ending: start another one when it is gone")
    argv, env = _text_list(request, "argv"), _text_map(request, "env")
    size = _number(request, "cols", 1, 65535), _number(request, "rows", 1, 65535)
    program = Program(argv, env, _text(request, "cwd"), *size)
    record = request.fields.get("record", {})
    if not isinstance(record, dict):
        raise Refused(Code.BAD_REQUEST, f"expected an object as record, got {record!r}")
    terminal = host.terminal(_text(request, "terminal"), _folder(request))
    if terminal.pty is not None:
        raise Refused(
            Code.EXISTS, f"terminal {terminal.name} runs process {terminal.pid}: attach to it, or kill it first"
        )
    _writable(terminal)
    try:
        terminal.start(program, record, host.inherited)
    except SpawnError as error:
        terminal.rest()
        raise Refused(Code.SPAWN, str(error)) from None
    pid = terminal.pid
    terminal.when_written(lambda: request.answer(pid=pid, offset=terminal.log.offset, journal=terminal.log.journal))


def attach(host: "Host", request: Request) -> None:
    terminal = host.terminal(_text(request, "terminal"), _folder(request))
    terminal.watchers.add(request.connection)
    request.connection.watching.add(terminal)
    request.answer(
        alive=terminal.pty is not None,
        pid=terminal.pty.pid if terminal.pty is not None else None,
        offset=terminal.log.offset,
        journal=terminal.log.journal,
        answered=terminal.answered,
        cols=terminal.cols,
        rows=terminal.rows,
        stalled=terminal.log.why or None,
    )


def detach(host: "Host", request: Request) -> None:
    terminal = host.known(_text(request, "terminal"))
    terminal.watchers.discard(request.connection)
    request.connection.watching.discard(terminal)
    request.answer()


def input_(host: "Host", request: Request) -> None:
    terminal, pty = _running(host, request)
    data = _data(request)
    check = request.fields.get("check", "none")
    if check not in _CHECKS:
        raise Refused(Code.BAD_REQUEST, f"expected check to be one of {', '.join(_CHECKS)}, got {check!r}")
    timeout = _number(request, "timeout_ms", 0, 3_600_000, 2000)
    record = None
    if request.fields.get("record") is not None:
        record = _record(request)
        _writable(terminal)
    if not terminal.accepts(len(data)):
        raise Refused(
            Code.INPUT_FULL,
            f"{len(data)} bytes do not fit: at most {MAX_INPUT} may wait for a program that does not read. Nothing was "
            "taken; wait for it to read, interrupt it, or send less",
        )
    longest = max(map(len, data.replace(b"\r", b"\n").split(b"\n")), default=0)
    if longest > MAX_TYPED_LINE and pty.modes().canonical:
        raise Refused(
            Code.LINE_TOO_LONG,
            f"the terminal takes lines of at most {MAX_TYPED_LINE} bytes now and would cut one of {longest}. Nothing "
            "was taken; send shorter lines, or hand the text over in a file",
        )

    only_failure = request.fields.get("answer") == "failure"

    def done(written: int, why: str) -> None:
        if why:
            request.answer(written=written, why=why)
        elif not only_failure:
            request.answer(written=written)

    def refused(code: Code) -> None:
        request.refuse(code, _CHECK_MESSAGES[code])

    deadline = time.monotonic() + timeout / 1000
    echo_off = request.fields.get("echo_off") is True
    expects = request.fields.get("expects")
    if isinstance(expects, str) and expects:
        terminal.hush(expects.encode())
    terminal.type(Input(data, cast("Check", check), record, deadline, done, refused, echo_off))


_CHECK_MESSAGES: Final = {
    Code.SECRET_PROMPT: "the terminal asks for a secret (no echo, whole lines): send it as one, or interrupt. Nothing "
    "was typed",
    Code.NO_SECRET_PROMPT: "the terminal does not ask for a secret, so it would be shown. Nothing was typed",
}


def reply(host: "Host", request: Request) -> None:
    terminal, pty = _running(host, request)
    query, data = _number(request, "query", 0, 1 << 62), _data(request)
    if query <= terminal.answered or terminal.stalled or not terminal.idle_input:
        request.answer(sent=False)
        return
    terminal.answered = query
    if not terminal.record({"t": "reply", "query": query}):
        request.answer(sent=False)
        return
    written = 0
    with contextlib.suppress(OSError):
        written = os.write(pty.master, data)
    request.answer(sent=written == len(data))


def resize(host: "Host", request: Request) -> None:
    terminal, pty = _running(host, request)
    cols, rows = _number(request, "cols", 1, 65535), _number(request, "rows", 1, 65535)
    if (cols, rows) == (pty.cols, pty.rows):
        request.answer(changed=False)
        return
    _writable(terminal)
    if not terminal.drain():
        _writable(terminal)
    terminal.cols, terminal.rows = cols, rows

    def set_size() -> None:
        if pty.master >= 0:
            pty.resize(cols, rows)
        request.answer(changed=True)

    terminal.record({"t": "size", "cols": cols, "rows": rows})
    terminal.when_written(set_size)


def interrupt(host: "Host", request: Request) -> None:
    terminal, _ = _running(host, request)
    how, dropped = terminal.interrupt()
    request.answer(how=how, dropped=dropped)


def signal_(host: "Host", request: Request) -> None:
    _, pty = _running(host, request)
    name, target = _text(request, "signal"), request.fields.get("to", "foreground")
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
            os.killpg(group, number)
    except OSError as error:
        raise Refused(Code.FAILED, f"cannot signal the {target}: {error.strerror}") from None
    request.answer(signaled=1)


def state(host: "Host", request: Request) -> None:
    """Journals what is new since the last time, or to whoever asks and says what it knows of secrets."""
    terminal = host.known(_text(request, "terminal"))
    pty = terminal.pty
    if pty is None:
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
    modes, group = pty.modes(), pty.foreground()
    name, pid = processes.command_name(group) if group is not None else (None, None)
    seen = {"echo": modes.echo, "canonical": modes.canonical, "foreground": name, "foreground_pid": pid}
    is_news = seen != terminal.state or request.fields.get("awaiting_secret", modes.secret) != modes.secret
    if is_news and not terminal.stalled:
        terminal.state = seen
        terminal.record({"t": "state", **seen})
    cwd = (processes.working_directory(pid) if pid is not None else None) or processes.working_directory(pty.pid)
    request.answer(alive=True, pid=pty.pid, isig=modes.isig, cwd=cwd, **seen)


def journal(host: "Host", request: Request) -> None:
    terminal, record = host.known(_text(request, "terminal")), _record(request)
    _writable(terminal)
    terminal.record(record)

    def answer() -> None:
        request.answer(offset=terminal.log.offset, journal=terminal.log.journal)
        terminal.rest()

    terminal.when_written(answer)


def kill(host: "Host", request: Request) -> None:
    terminal = host.known(_text(request, "terminal"))
    grace = _number(request, "grace_ms", 0, 600_000, 1000)

    def done(left: list[int]) -> None:
        if left:
            request.refuse(
                Code.STILL_RUNNING,
                f"processes {', '.join(map(str, left))} did not end by SIGKILL: they belong to another user, or "
                "hang in the kernel",
                pids=left,
            )
        else:
            request.answer(offset=terminal.log.offset, journal=terminal.log.journal)

    terminal.kill(grace / 1000, done)


def punch(host: "Host", request: Request) -> None:
    terminal = host.known(_text(request, "terminal"))
    length = terminal.log.offset
    start = _number(request, "start", 0, length)
    end = _number(request, "end", start + 1, length)
    why = _text(request, "why")
    _writable(terminal)
    descriptor = terminal.log.raw_descriptor()
    # Whether the file system can: asked behind the end, so that a refusal leaves no record of a hole.
    _punch(descriptor, length, 1)

    def make_hole() -> None:
        _punch(terminal.log.raw_descriptor(), start, end - start)
        request.answer(offset=terminal.log.offset, journal=terminal.log.journal)
        terminal.rest()

    terminal.record({"t": "gap", "from": start, "to": end, "why": why})
    terminal.when_written(make_hole)


def forget(host: "Host", request: Request) -> None:
    terminal = host.known(_text(request, "terminal"))
    if terminal.busy:
        raise Refused(Code.EXISTS, f"terminal {terminal.name} is in use by process {terminal.pid}: kill it first")
    host.forget(terminal)
    request.answer()


def list_(host: "Host", request: Request) -> None:
    request.answer(
        terminals=[
            {
                "terminal": terminal.name,
                "folder": terminal.folder,
                "pid": terminal.pty.pid if terminal.pty is not None else None,
                "alive": terminal.pty is not None,
                "offset": terminal.log.offset,
            }
            for terminal in host.terminals.values()
        ]
    )


OPERATIONS: Final[dict[str, Operation]] = {
    Op.HELLO: hello,
    Op.OPEN: open_,
    Op.ATTACH: attach,
    Op.DETACH: detach,
    Op.INPUT: input_,
    Op.REPLY: reply,
    Op.RESIZE: resize,
    Op.INTERRUPT: interrupt,
    Op.SIGNAL: signal_,
    Op.STATE: state,
    Op.JOURNAL: journal,
    Op.KILL: kill,
    Op.PUNCH: punch,
    Op.FORGET: forget,
    Op.LIST: list_,
}


def perform(host: "Host", request: Request) -> None:
    """Does what was asked, or says why not."""
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
        request.refuse(refused.code, str(refused))
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


def _running(host: "Host", request: Request) -> tuple[Terminal, Pty]:
    terminal = host.known(_text(request, "terminal"))
    if terminal.pty is None:
        raise Refused(Code.NOT_RUNNING, f"terminal {terminal.name} has no process: open it first")
    return terminal, terminal.pty


def _writable(terminal: Terminal) -> None:
    if terminal.stalled:
        raise Refused(Code.STALLED, f"the log cannot be written ({terminal.log.why}): make room. Nothing was done")


def _folder(request: Request) -> str:
    folder = _text(request, "folder")
    if not os.path.isabs(folder):
        raise Refused(Code.BAD_REQUEST, f"expected an absolute path as folder, got {folder!r}")
    return os.path.normpath(folder)


def _text(request: Request, name: str) -> str:
    value = request.fields.get(name)
    if not isinstance(value, str) or not value or "\0" in value:
        raise Refused(Code.BAD_REQUEST, f"expected text as {name}, got {value!r}")
    return value


def _number(request: Request, name: str, low: int, high: int, default: int | None = None) -> int:
    value = request.fields.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Refused(Code.BAD_REQUEST, f"expected a number from {low} to {high} as {name}, got {value!r}")
    return value


def _text_list(request: Request, name: str) -> list[str]:
    value = request.fields.get(name)
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(item, str) and "\0" not in item for item in value)
    ):
        raise Refused(Code.BAD_REQUEST, f"expected a list of texts as {name}, got {value!r}")
    return value


def _text_map(request: Request, name: str) -> dict[str, str]:
    value = request.fields.get(name)
    # The values stay out of the message: environments hold secrets.
    if not isinstance(value, dict):
        raise Refused(Code.BAD_REQUEST, f"expected an object as {name}, got {type(value).__name__}")
    for key, item in value.items():
        if not isinstance(item, str) or not key or "=" in key or "\0" in key + item:
            raise Refused(Code.BAD_REQUEST, f"expected names and texts in {name}, got another thing at {key!r}")
    return value


def _data(request: Request) -> bytes:
    value = request.fields.get("data")
    try:
        return decode_data(value if isinstance(value, str) else "?")
    except ValueError:
        # Without the value: it may be a secret.
        raise Refused(Code.BAD_REQUEST, "expected base64 text as data, got something else") from None


def _record(request: Request) -> dict[str, Any]:
    record = request.fields.get("record")
    if not isinstance(record, dict) or not isinstance(record.get("t"), str):
        raise Refused(Code.BAD_REQUEST, f"expected an object with a text t as record, got {record!r}")
    if record["t"] in OURS:
        raise Refused(Code.BAD_REQUEST, f"records of kind {record['t']} are written by the host itself")
    return record
