"""What the server writes down about itself: JSON lines in `<home>/server.log`, or words on a terminal.

Neither tokens nor what was asked or answered is in it: a path without its query, a status, a duration. Whoever
reports a failure has its number, and the number leads to the lines of code that were running.
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
"""Older files beside the one that is written."""
_WAIT = 100
"""Records that are kept for when there is room."""


def start_logging(config: Config, *, terminal: TextIO | None = None) -> None:
    """From now on everything goes to the log; with a terminal, there too."""
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
    # what they say about each request may repeat what was sent
    for name in ("uvicorn.error", "uvicorn.access", "mcp", "websockets", "asyncio"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level)))
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_COMMON, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


class _File(logging.handlers.RotatingFileHandler):
    """A file that only its owner reads."""

    def __init__(self, path: Path, size: int) -> None:
        super().__init__(path, maxBytes=size, backupCount=_KEPT, encoding="utf-8", delay=False)
        self._unwritten: list[logging.LogRecord] = []
        self._complained = False

    def emit(self, record: logging.LogRecord) -> None:
        waiting, self._unwritten = [*self._unwritten, record], []
        for each in waiting:
            super().emit(each)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """A full disk, say: it is written with the next one. Said once, in one line, to whoever started us."""
        if len(self._unwritten) < _WAIT:
            self._unwritten.append(record)
        if not self._complained:
            self._complained = True
            print(f"vantage: {self.baseFilename} cannot be written: {sys.exc_info()[1]}", file=sys.stderr, flush=True)

    def _open(self) -> TextIO:  # type: ignore[override]
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")


def _where(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An exception as its kind and its places. Its message may quote what somebody sent: not even that."""
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
