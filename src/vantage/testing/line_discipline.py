"""The line discipline of a fake terminal: input is echoed and read in lines, or passed on key by key."""

import asyncio
from collections import deque
from collections.abc import Callable

_ENTER, _EOF, _ERASE, _INTERRUPT = b"\r\n", b"\x04", b"\x7f\b", b"\x03"


class LineDiscipline:
    """Takes input: for the running program, or for the shell at its prompt."""

    def __init__(
        self,
        show: Callable[[bytes], None],
        running: Callable[[], bool],
        *,
        enter: Callable[[str], None],
        interrupt: Callable[[], None],
        leave: Callable[[], None],
    ) -> None:
        """`enter` gets a line that was typed at the prompt; `leave` is called for Ctrl-D at an empty one."""
        self.echo = self.lines = True
        self._show = show
        self._running = running
        self._enter = enter
        self._interrupt = interrupt
        self._leave = leave
        self._line = b""
        """The beginning of the line that is being typed."""
        self._ready: deque[bytes] = deque()
        """Lines, or keys, that the program has not read; an empty one is the end of input."""
        self._reader: asyncio.Future[bytes] | None = None

    # for programs

    def read_lines(self, *, echo: bool) -> None:
        self.lines, self.echo = True, echo

    def read_keys(self) -> None:
        self.lines = False

    @property
    def waits(self) -> bool:
        """Whether a program waits for what is typed."""
        return self._reader is not None and not self._reader.done()

    async def typed(self) -> bytes:
        if self._ready:
            return self._ready.popleft()
        self._reader = asyncio.get_running_loop().create_future()
        return await self._reader

    # for the shell

    def restart(self) -> None:
        """A program starts: it reads lines, with an echo, and none of the earlier input."""
        self.drop_all()
        self.lines = self.echo = True

    def drop_line(self) -> None:
        self._line = b""

    def drop_all(self) -> None:
        """Drops unread input."""
        self._ready.clear()
        self._line = b""

    def drop_reader(self) -> None:
        """The program that read has ended."""
        self._reader = None

    # for the keyboard

    def type(self, data: bytes) -> None:
        if self._running() and not self.lines:
            self._hand_over(data)
            return
        for number in data:
            self._type(bytes([number]))

    def _type(self, key: bytes) -> None:
        """Takes one byte, for a program that reads lines or for the shell at its prompt."""
        running = self._running()
        if key == _INTERRUPT:
            self._interrupt()
        elif key in _ENTER:
            line, self._line = self._line, b""
            if running:
                self._echoed(b"\r\n")
                self._hand_over(line + b"\n")
            else:
                self._enter(line.decode("utf-8", "replace"))
        elif key == _EOF and running:
            line, self._line = self._line, b""
            self._hand_over(line)
        elif key == _EOF:
            if not self._line:
                self._leave()
        elif key in _ERASE:
            if self._line:
                self._line = self._line.decode("utf-8", "replace")[:-1].encode()
                self._echoed(b"\b \b")
        else:
            self._line += key
            self._echoed(key)

    def _hand_over(self, data: bytes) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(data)
        else:
            self._ready.append(data)

    def _echoed(self, data: bytes) -> None:
        if self.echo or not self._running():
            self._show(data)
