"""Terminal emulators behind one small protocol, and the choice between them.

An engine turns bytes into a grid. It keeps no history beyond what it was not yet asked for (`drain`), answers what
programs ask (`take_replies`), and says which rows may differ from those last asked for (`dirty`). Everything above sees
only this protocol, so the two engines differ in what they understand, never in shape.
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
    """Which build of which emulator: what one build encoded, only the same build decodes."""
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
        """The rows that may have changed since the last call, all of them at the first one."""
        ...

    def drain(self, *, everything: bool) -> Drained | None:
        """Lines that have left the screen and were not handed over yet; without `everything` only those at hand."""
        ...

    def encode(self) -> bytes: ...
    def close(self) -> None: ...


class EngineKind(Protocol):
    """How an engine comes to be: new, or from what another one of the same build encoded."""

    name: str
    build: str

    def __call__(self, cols: int, rows: int, /) -> Engine: ...
    def decode(self, data: bytes, cols: int, rows: int, /) -> Engine: ...


def _ghostty() -> EngineKind:
    from vantage.terminal.engines.ghostty.engine import GhosttyEngine  # noqa: PLC0415 -- loads a library of 3 MB

    return GhosttyEngine


def _pyte() -> EngineKind:
    from vantage.terminal.engines.pyte.engine import PyteEngine  # noqa: PLC0415 -- only where it is used

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
