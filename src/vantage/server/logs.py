"""The server's own log: JSON lines in `<home>/server.log`, and words on a terminal.

A request is logged as a path without its query, a status and a duration: tokens, bodies and answers are never logged. A
failure has a number, which the client gets too; its log line has the places in the code that were running.
"""

import logging
import logging.handlers
import os
import sys
from collections.abc import MutableMapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import msgspec
import structlog

from vantage.server.config import Config

FILE_NAME = "server.log"
_KEPT = 2
"""Older files that are kept beside the current one."""
_WAIT = 100
"""Records that are kept in memory until they can be written."""


def start_logging(config: Config, *, terminal: TextIO | None = None) -> None:
    """Sends all records to the log and, if one is given, to a terminal."""
    level = config.log_level.upper()
    handlers: list[logging.Handler] = [_File(config.home / FILE_NAME, config.log_bytes)]
    handlers[0].setFormatter(_formatter(_as_json))
    if terminal is not None:
        handlers.append(logging.StreamHandler(terminal))
        handlers[1].setFormatter(_formatter(structlog.dev.ConsoleRenderer(colors=terminal.isatty())))
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    # their records about a request may repeat its content
    for name in ("uvicorn.error", "uvicorn.access", "mcp", "websockets", "asyncio"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level)))
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_COMMON, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


class _File(logging.handlers.RotatingFileHandler):
    """A log file of mode 0600. Records that cannot be written are kept, and written with the next one."""

    def __init__(self, path: Path, size: int) -> None:
        super().__init__(path, maxBytes=size, backupCount=_KEPT, encoding="utf-8", delay=False)
        self._unwritten: list[logging.LogRecord] = []
        self._complained = False

    def emit(self, record: logging.LogRecord) -> None:
        waiting, self._unwritten = [*self._unwritten, record], []
        for each in waiting:
            super().emit(each)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Keeps a record that could not be written (a full disk). The first failure is reported on stderr, in one
        line.
        """
        if len(self._unwritten) < _WAIT:
            self._unwritten.append(record)
        if not self._complained:
            self._complained = True
            print(f"vantage: {self.baseFilename} cannot be written: {sys.exc_info()[1]}", file=sys.stderr, flush=True)

    def _open(self) -> TextIO:  # type: ignore[override]
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")


def _where(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An exception as its type and its places. Its message is left out, because it may quote what a client sent."""
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    elif isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if isinstance(info, tuple) and info[0] is not None:
        event["error"] = info[0].__name__
        event["at"] = places(info[2])
    return event


def places(traceback: TracebackType | None) -> list[str]:
    """`file:line function`, outermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append(f"{_short(code.co_filename)}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return found


def _short(path: str) -> str:
    return "/".join(Path(path).parts[-3:])


_COMMON: list[Any] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
    _where,
]


def _as_json(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode("utf-8")


def _formatter(renderer: Any) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_COMMON,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
