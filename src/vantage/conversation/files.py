"""A conversation's files: append-only logs, and a terminal's folder (0700, files 0600).

Appends go to the operating system at once, so they survive the death of this process. A torn last line, which only a
crash of the machine or a full disk leaves, is cut off when a log is opened, and said so.
"""

import contextlib
import errno
import logging
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vantage.errors import InputError, Unavailable
from vantage.ptyhost.holes import punch_hole

PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_READ = 1 << 16
_COUNTED = 1 << 20
_EVERY = 256
"""A line in so many has its place remembered."""
_TEMPORARY = re.compile(r"\..+\.(\d+)")
_SCARCE = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)

_log = logging.getLogger(__name__)


def check_id(conversation_id: str, whose: str = "a conversation's") -> str:
    """An id that is a safe file name, or an error."""
    if _ID.fullmatch(conversation_id) is None:
        raise InputError(
            f"{conversation_id[:80]!r} cannot be {whose} id",
            hint="1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit",
        )
    return conversation_id


def now_ms() -> int:
    """The time of day, as it is written down everywhere."""
    return round(time.time() * 1000)


def make_directory(path: Path) -> Path:
    """A private directory, and whatever is missing above it: `mkdir(parents=True)` would make that for all to see."""
    try:
        path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    except FileNotFoundError:
        make_directory(path.parent)
        path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    return path


def write_all(fd: int, data: bytes, offset: int) -> None:
    """All of it, or an error that says why not."""
    try:
        written = os.pwrite(fd, data, offset)
        if written == len(data):
            return
        offset += written
        view = memoryview(data)[written:]
        while view:
            written = os.pwrite(fd, view, offset)
            offset += written
            view = view[written:]
    except OSError as error:
        raise no_room(error) from error


def is_scarcity(error: OSError) -> bool:
    """Whether what failed can be done later: nothing is wrong with the file."""
    return error.errno in _SCARCE


def no_room(error: OSError) -> Unavailable:
    """What could not be written now can be later."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return Unavailable(f"no more files can be opened: {error.strerror}", hint="raise the limit: ulimit -n")
    return Unavailable(f"the disk takes no more: {error.strerror}", hint="free some space; nothing is lost")


def write_atomically(path: Path, data: bytes) -> None:
    """The old content or the new, never a mixture."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        if is_scarcity(error):
            raise no_room(error) from error
        raise
    try:
        write_all(descriptor, data, 0)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def sweep(*folders: Path) -> None:
    """Removes what `write_atomically` left where its process was killed."""
    for folder in folders:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for path in folder.iterdir():
                temporary = _TEMPORARY.fullmatch(path.name)
                if temporary and path.is_file() and not is_running(int(temporary[1])):
                    path.unlink(missing_ok=True)


def is_running(pid: int) -> bool:
    """Whether there is a process of that number, whoever it belongs to."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def damaged(path: Path, why: object, hint: str = "put it back from a copy, or remove it") -> Unavailable:
    """A file of ours that somebody else has changed, or the disk."""
    if isinstance(why, OSError):
        if is_scarcity(why):
            return no_room(why)
        why = why.strerror
    return Unavailable(f"{path} is damaged: {why}", hint=hint)


class Log:
    """A file of JSON lines that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = 0
        """Bytes of a half-written last line that were cut off."""
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        self.size = self._mended()
        self._places = [0]
        """Where the lines 1, 1 + 256, 1 + 512 … begin, as far as somebody has read."""

    def _mended(self) -> int:
        size = os.fstat(self._fd).st_size
        whole = size
        while whole and os.pread(self._fd, 1, whole - 1) != b"\n":
            step = min(_READ, whole)
            newline = os.pread(self._fd, step, whole - step).rfind(b"\n")
            whole = whole - step + newline + 1
        if whole < size:
            self.torn = size - whole
            _log.warning("%s: its last line was not whole, %d bytes of it are cut off", self.path, self.torn)
            os.ftruncate(self._fd, whole)
        return whole

    def cut(self, size: int) -> None:
        """Drops what is behind an end of a line: it cannot be used, and comes again."""
        _log.warning("%s: the last %d bytes cannot be used and are derived again", self.path, self.size - size)
        os.ftruncate(self._fd, size)
        self.size = size
        self._places = [0]

    def append(self, lines: bytes) -> None:
        """Whole lines, or none: a part of them would be in the way of shorter ones, and of those who only read."""
        try:
            write_all(self._fd, lines, self.size)
        except Unavailable:
            os.ftruncate(self._fd, self.size)
            raise
        self.size += len(lines)

    def lines(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
        """The lines from an offset on, each with the offset behind it."""
        end = self.size if end is None else end
        rest = b""
        at = start
        while at < end:
            data = os.pread(self._fd, min(_READ, end - at), at)
            if not data:
                return
            at += len(data)
            *whole, rest = (rest + data).split(b"\n")
            place = at - len(rest) - sum(len(line) + 1 for line in whole)
            for line in whole:
                place += len(line) + 1
                yield place, line

    def count(self) -> int:
        """How many lines there are."""
        return sum(os.pread(self._fd, _COUNTED, at).count(b"\n") for at in range(0, self.size, _COUNTED))

    def from_line(self, number: int) -> Iterator[bytes]:
        """The lines from the one with a number on; the first is 1."""
        while len(self._places) <= (number - 1) // _EVERY:
            at = self._places[-1]
            for counted, (end, _) in enumerate(self.lines(at), 1):
                if counted == _EVERY:
                    self._places.append(end)
                    break
            else:
                return
        skip = (number - 1) % _EVERY
        for _, line in self.lines(self._places[(number - 1) // _EVERY]):
            if skip:
                skip -= 1
            else:
                yield line

    def last_line(self) -> bytes | None:
        """The line at the end, without reading the rest."""
        if not self.size:
            return None
        end = self.size - 1
        at, data = end, b""
        while at > 0 and b"\n" not in data:
            step = min(_READ, at)
            at -= step
            data = os.pread(self._fd, step, at) + data
        return data.rsplit(b"\n", 1)[-1]

    def close(self) -> None:
        os.close(self._fd)


class GrowingFile:
    """Bytes that only grow, read and written by offset. The file may not exist yet."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        self._write = write
        self._fd = -1

    def _open(self) -> int:
        if self._fd < 0:
            flags = os.O_RDWR | os.O_CREAT if self._write else os.O_RDONLY
            self._fd = os.open(self.path, flags | os.O_CLOEXEC, PRIVATE_FILE)
            if not stat.S_ISREG(os.fstat(self._fd).st_mode):  # a directory can be opened, and not be read
                self.close()
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self.path))
        return self._fd

    def read(self, start: int, end: int) -> bytes:
        if end <= start:
            return b""
        try:
            fd = self._open()
        except FileNotFoundError:
            return b""
        pieces: list[bytes] = []
        while start < end and (data := os.pread(fd, end - start, start)):
            pieces.append(data)
            start += len(data)
        return b"".join(pieces)

    def write(self, data: bytes, offset: int) -> None:
        write_all(self._open(), data, offset)

    def free(self, start: int, end: int) -> None:
        """Gives the disk back the room of a part; offsets stay. Where the file system cannot, nothing happens."""
        with contextlib.suppress(OSError):
            punch_hole(self._open(), start, end - start)

    @property
    def size(self) -> int:
        try:
            return os.fstat(self._open()).st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def whole_lines(path: Path, start: int = 0, most: int = 1 << 18) -> list[bytes]:
    """Lines of a log from an offset on, about so many bytes of them: for those who only read it, while it grows.

    A line that is not finished is left for the next time.
    """
    file = GrowingFile(path)
    try:
        end = file.size
        data = file.read(start, min(start + most, end))
        while b"\n" not in data and start + len(data) < end:
            data += file.read(start + len(data), min(start + len(data) + most, end))
    finally:
        file.close()
    return data.split(b"\n")[:-1]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a conversation was made with."""

    id: str
    epoch: str
    """Changes only when the log is created anew."""
    created: int
    name: str = ""
    shell: str = "bash"
    cwd: str = ""
    cols: int = 120
    rows: int = 40
    env: dict[str, str] = {}
    user_rc: bool = True
    allow_secret_input: bool = False


def known_settings(home: Path) -> Iterator[tuple["ConversationFolder", Settings | Exception]]:
    """Every conversation of a home, with what it was made with, or why that cannot be read."""
    root = home / "conversations"
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        folder = ConversationFolder(path)
        try:
            yield folder, folder.read_settings()
        except FileNotFoundError:
            continue  # a deletion that was cut short
        except (OSError, msgspec.MsgspecError) as error:
            yield folder, error


class ConversationFolder:
    """Where everything of one conversation lies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.terminal = path / "agent_pty"

    def create(self) -> None:
        make_directory(self.path)
        make_directory(self.terminal)
        make_directory(self.blocks)
        make_directory(self.checkpoints)

    @property
    def settings(self) -> Path:
        return self.path / "conversation.json"

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def clients(self) -> Path:
        return self.path / "clients.json"

    @property
    def assets(self) -> Path:
        return self.path / "assets"

    @property
    def tools(self) -> Path:
        return self.path / "tools.jsonl"

    @property
    def raw(self) -> Path:
        return self.terminal / "output.raw"

    @property
    def journal(self) -> Path:
        return self.terminal / "output.index"

    @property
    def spool(self) -> Path:
        return self.terminal / "output.spool"

    @property
    def block_log(self) -> Path:
        return self.terminal / "blocks.jsonl"

    @property
    def blocks(self) -> Path:
        return self.terminal / "blocks"

    @property
    def checkpoints(self) -> Path:
        return self.terminal / "checkpoints"

    @property
    def screen_log(self) -> Path:
        return self.terminal / "screen.jsonl"

    @property
    def screen_snapshot(self) -> Path:
        return self.terminal / "screen.snapshot.json"

    def read_settings(self) -> Settings:
        settings = msgspec.json.decode(self.settings.read_bytes(), type=Settings)
        if settings.id != self.path.name:
            raise msgspec.ValidationError(f"it is of conversation {settings.id!r}")
        return settings

    def write_settings(self, settings: Settings) -> None:
        write_atomically(self.settings, msgspec.json.encode(settings))
