"""The keyboard modes that a program has set: kitty's flags, of which each screen has a stack, and xterm's mode."""

from collections.abc import Callable

_MAX_DEPTH = 8
"""Entries of kitty's stack."""


class Keyboard:
    def __init__(self, alt_screen: Callable[[], bool]) -> None:
        self._alt_screen = alt_screen
        self.reset()

    def reset(self) -> None:
        self.modify_other_keys = 0
        self.stacks: tuple[list[int], list[int]] = ([0], [0])
        """The stacks of the main and of the alternate screen."""

    @property
    def _stack(self) -> list[int]:
        return self.stacks[self._alt_screen()]

    def flags(self) -> int:
        return self._stack[-1]

    def push(self, flags: int) -> None:
        self._stack.append(flags & 31)
        del self._stack[:-_MAX_DEPTH]

    def pop(self, count: int) -> None:
        stack = self._stack
        del stack[max(len(stack) - count, 0) :]
        if not stack:
            stack.append(0)

    def set(self, flags: int, how: int) -> None:
        flags &= 31
        now = self._stack[-1]
        self._stack[-1] = {2: now | flags, 3: now & ~flags}.get(how, flags)

    def modify_keys(self, numbers: list[int]) -> None:
        """XTMODKEYS, of which only modifyOtherKeys 2 matters here."""
        if not numbers or numbers[0] == 4:
            self.modify_other_keys = 2 if numbers[1:2] == [2] else 0
