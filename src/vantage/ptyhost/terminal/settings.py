"""The terminal settings that a shell's programs start with, and how they are restored after a program that died.

A line editor has settings of its own while it reads, and restores those that it found before the command runs. So the
settings that a program starts with are visible only between the end of a command and the next prompt. They are read
there, without making the shell wait: if the read comes too late it shows the editor's settings, and is not used.
Changes in the editor's settings since the last command are then taken over instead.

The settings are kept in a file of the shell's folder, in the form of `stty -g`. The shell's hooks restore them with
`stty` before the editor begins, because bash, zsh and fish remember settings and take only those of their own programs.
"""

import contextlib
import os
import termios
from typing import Any, Final

IFLAG, LFLAG, CC = 0, 3, 6
_FLAGS: Final = (0, 1, 2, 3)
_COUNTS: Final = (termios.VMIN, termios.VTIME)
"""These are not characters: outside canonical mode they say when a `read` returns, and every line editor sets them."""

Settings = list[Any]
"""As `termios.tcgetattr` returns them."""


class KeptSettings:
    """The settings that the shell's programs start with, as far as they were seen."""

    __slots__ = ("_base", "_editor", "_file", "_seen", "edits")

    def __init__(self, base: Settings, file: str = "") -> None:
        self._file = file
        self._base: Settings = []
        self._editor: Settings | None = None
        """The editor's settings when the last command was given."""
        self._seen = False
        """The base was seen after that."""
        self.edits = True
        """Whether the shell reads commands with a line editor."""
        self._keep(base)

    @property
    def base(self) -> Settings:
        return self._base

    def given(self, now: Settings, *, edits: bool) -> None:
        """A command is given to the shell, which waits for it."""
        self.edits = edits
        if not edits or is_canonical(now):
            self._keep(now)
            return
        if self._editor is None and not self._seen:
            # the rc files are done; no editor changes IXON by itself, but fish, which always has it off
            self._keep([(self._base[IFLAG] & ~termios.IXON) | (now[IFLAG] & termios.IXON), *self._base[1:]])
        elif self._editor is not None and not self._seen and self._editor != now:
            self._keep(_moved(self._base, self._editor, now))
        self._editor, self._seen = now, False

    def left(self, now: Settings) -> None:
        """A command has succeeded and left these settings, or the editor has begun since."""
        if is_canonical(now):
            self._seen = True
            self._keep(now)

    def _keep(self, base: Settings) -> None:
        if base == self._base:
            return
        self._base = base
        if self._file:
            # a hook that finds no file falls back to usual settings
            with contextlib.suppress(OSError):
                _write(self._file, stty_form(base).encode())


def is_canonical(settings: Settings) -> bool:
    return bool(settings[LFLAG] & termios.ICANON)


def stty_form(settings: Settings) -> str:
    """The form of `stty -g`: flags and characters as hexadecimal numbers."""
    characters = (number if isinstance(number, int) else ord(number) for number in settings[CC])
    return ":".join(f"{number:x}" for number in (*(settings[at] for at in _FLAGS), *characters))


def _moved(base: Settings, before: Settings, now: Settings) -> Settings:
    """The base, with the changes between two reads of the editor's settings."""
    moved = [*base]
    for at in _FLAGS:
        moved[at] ^= before[at] ^ now[at]
    characters = zip(base[CC], before[CC], now[CC], strict=True)
    moved[CC] = [was if at in _COUNTS or then == new else new for at, (was, then, new) in enumerate(characters)]
    return moved


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, data)
        os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)
