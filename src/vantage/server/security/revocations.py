"""Ends what was opened with a token when the token is revoked: sockets, pipes, MCP sessions, running requests.

`vantage token revoke` writes a file and sends no signal. While something is open with a token that can be revoked, the
file is checked four times a second; otherwise nothing runs.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from vantage.errors import VantageError

LOOK_S = 0.25
End = Callable[[], None]


class Revocations:
    def __init__(self, is_valid: Callable[[str], bool], forever: str) -> None:
        """`forever` is the id of the token that is never revoked: it is not checked."""
        self._is_valid = is_valid
        self._forever = forever
        self._open: dict[str, list[End]] = {}
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def ends(self, token_id: str | None, end: End) -> Iterator[None]:
        """While this is entered, `end` is called once if the token is revoked."""
        release = self.hold(token_id, end)
        try:
            yield
        finally:
            release()

    def hold(self, token_id: str | None, end: End) -> End:
        """`end` is called once if the token is revoked before the returned function is called."""
        if token_id is None or token_id == self._forever:
            return lambda: None
        ends = self._open.setdefault(token_id, [])
        ends.append(end)
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())

        def release() -> None:
            with suppress(ValueError):
                ends.remove(end)
            if not ends and self._open.get(token_id) is ends:
                del self._open[token_id]

        return release

    async def _look(self) -> None:
        try:
            while self._open:
                await asyncio.sleep(LOOK_S)
                for token_id in tuple(self._open):
                    with suppress(VantageError):  # a file that cannot be read now revokes nothing
                        if not self._is_valid(token_id):
                            for end in self._open.pop(token_id, ()):
                                end()
        finally:
            self._looking = None
