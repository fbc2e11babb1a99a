"""Who answers in place of the PTY host, for terminals that have no processes."""

import asyncio
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vantage.conversation.host import Host, refusal
from vantage.ptyhost.protocol import Code, Happening, decode_data
from vantage.testing.shell import PID, FakeShell, Program

_Fields = dict[str, Any]


class FakeHost(Host):
    """Takes the requests of `vantage.ptyhost.ops`, each by the method of its name."""

    def __init__(self, programs: Mapping[str, Program]) -> None:
        super().__init__()
        self.pid = PID
        self.failures: list[Exception] = []
        """What programs have raised."""
        self._programs = programs
        self._shells: dict[str, FakeShell] = {}

    async def reached(self, home: Path) -> Host:  # noqa: ARG002
        """In place of a connection."""
        return self

    def ask(self, op: str, **fields: Any) -> "asyncio.Future[dict[str, Any]]":
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        try:
            said = getattr(self, f"_{op}")(fields) or {}
        except Exception as error:  # noqa: BLE001 -- whoever asked is told
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
            shell.type(data)
        return {"written": len(data)}

    def _reply(self, fields: _Fields) -> _Fields:
        shell = self._living(fields)
        shell.answered = fields["query"]
        shell.record({"t": "reply", "query": fields["query"]})
        shell.type(decode_data(fields["data"]))
        return {"sent": True}

    def _state(self, fields: _Fields) -> _Fields:
        shell = self._living(fields)
        shell.settle(fields.get("awaiting_secret", shell.asks_for_secret))
        return {"alive": True, "pid": PID, "isig": True, "cwd": shell.cwd, **shell.settings()}

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
