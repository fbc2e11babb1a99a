"""Terminal emulators behind one small protocol, and the choice between them.

An engine turns bytes into a grid. It keeps only the history that was not drained yet (`drain`), answers programs'
queries (`take_replies`), and says which rows may differ from those last read (`dirty`). Everything above uses only this
protocol, so the two engines differ in which sequences they understand, never in shape.
"""

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Literal, Protocol

from vantage.errors import InputError, did_you_mean
from vantage.terminal.engines.values import Cursor, Drained, Modes, Row

EngineName = Literal["auto", "ghostty", "pyte"]


class Engine(Protocol):
    """What a screen needs of an emulator. Rows and columns count from 0."""

    name: str
    build: str
    """The build of the emulator: a checkpoint is decoded only by the build that encoded it."""
    cols: int
    rows: int

    def feed(self, data: bytes) -> None: ...
    def resize(self, cols: int, rows: int) -> None: ...
    def take_replies(self) -> bytes: ...
    def take_bell(self) -> bool: ...
    def cursor(self) -> Cursor: ...
    def title(self) -> str: ...
    def cwd(self) -> str:
        """The address of OSC 7 as it was sent (`file://host/path`), or a bare path."""
        ...

    def alt_screen(self) -> bool: ...
    def synchronized(self) -> bool: ...
    def modes(self) -> Modes: ...
    def dirty(self) -> Iterable[tuple[int, Row]]:
        """The rows that may have changed since the last call; all of them at the first call."""
        ...

    def drain(self, *, everything: bool) -> Drained | None:
        """Lines that have left the screen and were not drained yet; without `everything` only those at hand."""
        ...

    def encode(self) -> bytes: ...
    def close(self) -> None: ...


class EngineKind(Protocol):
    """Makes an engine: new, or from a checkpoint of the same build."""

    name: str
    build: str

    def __call__(self, cols: int, rows: int, /) -> Engine: ...
    def decode(self, data: bytes, cols: int, rows: int, /) -> Engine: ...


def _ghostty() -> EngineKind:
    from vantage.terminal.engines.ghostty.engine import GhosttyEngine  # noqa: PLC0415 -- loads a library of 3 MB

    return GhosttyEngine


def _pyte() -> EngineKind:
    from vantage.terminal.engines.pyte.engine import PyteEngine  # noqa: PLC0415 -- only if it is used

    return PyteEngine


_KINDS: dict[str, Callable[[], EngineKind]] = {"ghostty": _ghostty, "pyte": _pyte}


def available() -> list[str]:
    """The engines that can be used here, the best one first."""
    return [name for name, package in (("ghostty", "pyghostty"), ("pyte", "pyte")) if find_spec(package)]


def kind_of(name: str = "auto") -> EngineKind:
    """The engine of that name; `auto` is the best one that can be loaded here."""
    if name == "auto":
        try:
            return _ghostty()
        except (ImportError, OSError):  # no wheel for this platform, or one whose library does not load
            return _pyte()
    if name not in _KINDS:
        raise InputError(f"there is no screen engine {name!r}", hint=did_you_mean(name, ("auto", *_KINDS)))
    try:
        return _KINDS[name]()
    except (ImportError, OSError) as error:
        raise InputError(f"the screen engine {name!r} cannot be loaded: {error}", hint="use 'auto'") from error
