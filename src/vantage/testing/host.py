"""Answers in place of the PTY host, for terminals that have no processes."""

import asyncio
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vantage.conversation.live.host.client import HostClient, refusal
from vantage.ptyhost.protocol import Code, Happening, decode_data
from vantage.testing.shell import PID, FakeShell, Program

_Fields = dict[str, Any]


class FakeHost(HostClient):
    """Answers the requests of `vantage.ptyhost.ops`, each by the function that its table has for the operation.

    It has one method for each operation, hence their number.
    """

    def __init__(self, programs: Mapping[str, Program]) -> None:
        super().__init__()
        self.pid = PID
        self.failures: list[Exception] = []
        """Exceptions that programs have raised."""
        self._programs = programs
        self._shells: dict[str, FakeShell] = {}
        self._ops: dict[str, Callable[[_Fields], _Fields | None]] = {
            "list": self._list,
            "attach": self._attach,
            "open": self._open,
            "input": self._input,
            "reply": self._reply,
            "state": self._state,
            "awaits": self._awaits,
            "journal": self._journal,
            "resize": self._resize,
            "interrupt": self._interrupt,
            "signal": self._signal,
            "kill": self._kill,
            "punch": self._punch,
            "forget": self._forget,
        }

    async def reached(self, home: Path) -> HostClient:  # noqa: ARG002
        """Returns itself: it replaces the connection to a host."""
        return self

    def ask(self, op: str, **fields: Any) -> "asyncio.Future[dict[str, Any]]":
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        try:
            said = self._ops[op](fields) or {}
        except Exception as error:  # noqa: BLE001 -- the caller gets it as an answer
            answer.set_exception(error)
        else:
            if fields.get("answer") != "failure":
                answer.set_result({"ok": True, **said})
        return answer

    def _tell(self, terminal: str, what: Happening) -> None:
        asyncio.get_running_loop().call_soon(self._told, terminal, what)

    def _told(self, terminal: str, what: Happening) -> None:
        if terminal in self._shells:
            log = self._shells[terminal].log
            self.on_event({"event": what, "terminal": terminal, "offset": log.offset, "journal": log.journal})

    def _shell(self, fields: _Fields) -> FakeShell:
        name = fields["terminal"]
        if name not in self._shells:
            self._shells[name] = FakeShell(
                fields["folder"], self._programs, lambda what: self._tell(name, what), self.failures.append
            )
        return self._shells[name]

    def _living(self, fields: _Fields) -> FakeShell:
        shell = self._shell(fields)
        if not shell.alive:
            raise refusal(Code.NOT_RUNNING, "nothing runs in this terminal")
        return shell

    # what a host is asked for

    def _list(self, _: _Fields) -> _Fields:
        return {"terminals": []}

    def _attach(self, fields: _Fields) -> _Fields:
        shell = self._shell(fields)
        return {"offset": shell.log.offset, "journal": shell.log.journal, "answered": shell.answered}

    def _open(self, fields: _Fields) -> _Fields:
        rc = fields["argv"][fields["argv"].index("--rcfile") + 1]
        size = fields["cols"], fields["rows"]
        self._shell(fields).start(Path(rc).parent, fields["record"], fields["cwd"], size)
        return {"pid": PID}

    def _input(self, fields: _Fields) -> _Fields:
        shell = self._living(fields)
        record, data = fields.get("record"), decode_data(fields["data"])
        if record is not None:
            shell.record(record)
            shell.given(record["cmd"])
        elif fields["check"] == "open" and shell.asks_for_secret:
            raise refusal(Code.SECRET_PROMPT, "the program asks for a secret. Nothing was typed")
        elif fields["check"] == "secret" and not shell.asks_for_secret:
            raise refusal(Code.NO_SECRET_PROMPT, "the program does not ask for a secret. Nothing was typed")
        else:
            shell.input.type(data)
        return {"written": len(data)}

    def _reply(self, fields: _Fields) -> _Fields:
        shell = self._living(fields)
        shell.answered = fields["query"]
        shell.record({"t": "reply", "query": fields["query"]})
        shell.input.type(decode_data(fields["data"]))
        return {"sent": True}

    def _state(self, fields: _Fields) -> _Fields:
        shell = self._living(fields)
        shell.settle(fields.get("awaiting_secret", shell.asks_for_secret))
        return {"alive": True, "pid": PID, "isig": True, "cwd": shell.cwd, **shell.settings()}

    def _awaits(self, fields: _Fields) -> _Fields:
        shell = self._living(fields)
        settings, waits = shell.settings(), shell.input.waits
        what = "secret" if shell.asks_for_secret else "line" if settings["canonical"] else "key"
        return {
            "waits": "yes" if waits else "no",
            "why": "read" if waits else "elsewhere",
            "offset": shell.log.offset,
            "what": what if waits else None,
            "process": settings["foreground"],
            "pid": settings["foreground_pid"],
            "call": "read" if waits else "",
            "echo": settings["echo"],
            "canonical": settings["canonical"],
            "line_editor": False,
        }

    def _journal(self, fields: _Fields) -> None:
        self._shell(fields).record(fields["record"])

    def _resize(self, fields: _Fields) -> None:
        shell = self._living(fields)
        shell.size = fields["cols"], fields["rows"]
        shell.record({"t": "size", "cols": fields["cols"], "rows": fields["rows"]})

    def _interrupt(self, fields: _Fields) -> None:
        self._living(fields).interrupt()

    def _signal(self, fields: _Fields) -> None:
        self._living(fields).signal(signal.Signals[f"SIG{fields['signal']}"])

    def _kill(self, fields: _Fields) -> None:
        if self._shell(fields).alive:
            self._shell(fields).end(None, signal.SIGHUP)

    def _punch(self, _: _Fields) -> None:
        raise refusal(Code.UNSUPPORTED, "a fake terminal keeps everything")

    def _forget(self, fields: _Fields) -> None:
        self._shells.pop(fields["terminal"]).log.close()
