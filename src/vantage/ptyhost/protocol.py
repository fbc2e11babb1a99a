"""What the host and its clients say to each other: names, limits, the line codec, and where the socket is.

One JSON object a line in both directions over a unix stream socket; binary data is base64 in `data`. Clients import
from here, so nothing in this file may start anything. Version 2 added agents. Host and client speak every version.
"""

import binascii
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from vantage.ptyhost.ownership import own_directory

PROTOCOL: Final = 2
SPOKEN: Final = (1, 2)
"""Every version this host understands."""
VERSION: Final[str] = sys.modules["vantage"].__version__
"""Version of the package. Not imported by name: by its public names, `vantage` depends on every package in it."""

MAX_PENDING: Final = 64 * 1024 * 1024
"""Bytes that may wait for an agent that does not read, and so of one message to it."""
MAX_LINE: Final = 96 * 1024 * 1024
"""Bytes of one message: as many as may wait for an agent, in base64, and a record."""
MAX_INPUT: Final = 1024 * 1024
"""Bytes of input that may wait for one terminal."""
MAX_TYPED_LINE: Final = 4095
"""Bytes of a line that a terminal in canonical mode takes; it throws the rest away."""
MAX_SOCKET_PATH: Final = 100
"""Bytes of a Unix socket's path: kernels take 104 to 108."""

RAW_NAME: Final = "output.raw"
INDEX_NAME: Final = "output.index"
STREAM_NAME: Final = "stream.raw"
STREAM_INDEX_NAME: Final = "stream.index"
ERRORS_NAME: Final = "stderr.log"


class Op(StrEnum):
    """What a client may ask for."""

    HELLO = "hello"
    OPEN = "open"
    ATTACH = "attach"
    DETACH = "detach"
    INPUT = "input"
    REPLY = "reply"
    FLOW = "flow"
    WINDOW = "window"
    RESIZE = "resize"
    INTERRUPT = "interrupt"
    SIGNAL = "signal"
    STATE = "state"
    AWAITS = "awaits"
    REMEMBER = "remember"
    JOURNAL = "journal"
    KILL = "kill"
    PUNCH = "punch"
    FORGET = "forget"
    LIST = "list"
    AGENT_OPEN = "agent_open"
    AGENT_ATTACH = "agent_attach"
    AGENT_DETACH = "agent_detach"
    AGENT_WRITE = "agent_write"
    AGENT_CLOSE_INPUT = "agent_close_input"
    AGENT_KILL = "agent_kill"
    AGENT_FORGET = "agent_forget"


class Code(StrEnum):
    """`error` of an answer."""

    PROTOCOL = "protocol"
    """First request was not a hello of a version we speak. The connection is closed."""
    BAD_REQUEST = "bad_request"
    UNKNOWN_OP = "unknown_op"
    UNKNOWN_TERMINAL = "unknown_terminal"
    UNKNOWN_AGENT = "unknown_agent"
    EXISTS = "exists"
    NOT_RUNNING = "not_running"
    SPAWN = "spawn"
    """The program could not be started."""
    SECRET_PROMPT = "secret_prompt"  # noqa: S105 - the name of a condition
    NO_SECRET_PROMPT = "no_secret_prompt"  # noqa: S105
    SECRET_GONE = "secret_gone"  # noqa: S105
    """The program that asked for a secret ended before it read it: the unread bytes were discarded."""
    INPUT_FULL = "input_full"
    INPUT_CLOSED = "input_closed"
    """The agent, or a client, has closed its input. Nothing was taken."""
    ORDER = "order"
    """The number of a message is not the next one; `last` is the last that was taken. Nothing was taken."""
    LINE_TOO_LONG = "line_too_long"
    """A line that the terminal, in canonical mode, would cut. Nothing was taken."""
    STALLED = "stalled"
    """The log cannot be written (full disk). Nothing was done."""
    UNSUPPORTED = "unsupported"
    STILL_RUNNING = "still_running"
    """Processes that cannot be ended: of another user, or stuck in the kernel."""
    CHANGED = "changed"
    """The id belongs to another call. Nothing was typed."""
    EXPIRED = "expired"
    """The request was read after the time in its `expires` (CLOCK_MONOTONIC, milliseconds). Nothing was done."""
    LEAVING = "leaving"
    """The host has been told to end."""
    FAILED = "failed"
    """The system refused, for the reason in the message."""
    INTERNAL = "internal"


class Happening(StrEnum):
    """`event` of an event."""

    OUTPUT = "output"
    EXIT = "exit"
    STALLED = "stalled"
    RESUMED = "resumed"


class ProtocolError(ValueError):
    """The received bytes are not a message."""


def encode(message: Mapping[str, Any]) -> bytes:
    """One message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """Decodes a line into a message; raises ProtocolError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"expected one JSON object a line, got {line[:80]!r}: {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"expected one JSON object a line, got {line[:80]!r}")
    return message


def encode_data(data: bytes) -> str:
    """Bytes as they stand in `data`."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def decode_data(text: str) -> bytes:
    """The bytes of `data`; raises ValueError."""
    return binascii.a2b_base64(text, strict_mode=True) if text else b""


class Lines:
    """Cuts a stream into lines, however it was split; raises ProtocolError when one is longer than `MAX_LINE`."""

    __slots__ = ("_parts", "_size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that `data` completes, without their ends."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._parts.append(end)
            line = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
            yield line
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > MAX_LINE:
                raise ProtocolError(f"expected messages of at most {MAX_LINE} bytes, got a longer one")


def socket_path(home: str, name: str = "host.sock") -> str:
    """Where the host of this home listens: in the home, or where that path is too long, in a directory of our own.

    Raises PermissionError when that directory is not ours alone. A running host has written its path to `host.json`:
    ask that first, since the environment of host and client may differ.
    """
    path = os.path.join(os.path.abspath(home), name)
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        return path
    digest = hashlib.blake2b(os.fsencode(os.path.realpath(home)), digest_size=8).hexdigest()
    folder = f"vantage-{os.geteuid()}-{digest}"
    for base in (os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp"):  # noqa: S108 - made 0700 and checked
        short = os.path.join(base, folder, name)
        if os.path.isdir(base) and os.access(base, os.W_OK) and len(os.fsencode(short)) <= MAX_SOCKET_PATH:
            own_directory(os.path.dirname(short))
            return short
    raise OSError(f"no directory for the socket: expected a writable /tmp or XDG_RUNTIME_DIR for {home}")
