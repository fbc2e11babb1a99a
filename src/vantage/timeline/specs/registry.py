"""The spec of a tool: found by its normalised name and the spec's hash.

A timeline has a registry of its own above the one that it was given, so that a conversation's own specs stay in it. A
spec that is replaced is still found by its hash: rows that were drawn with it do not change.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec

from vantage.events import Json
from vantage.timeline.calls import normal_name
from vantage.timeline.specs.model import RenderSpec

if TYPE_CHECKING:
    from vantage.timeline.specs.check import SpecError


class SpecSource(Protocol):
    """Where a registry looks up tools that it does not know."""

    def find(self, tool: str, digest: str | None = None) -> RenderSpec | None:
        """A tool's latest spec, or the one with that hash."""

    def value(self, tool: str) -> Json:
        """A tool's latest spec as JSON; `None` when it has none."""

    def refusal(self, tool: str) -> str:
        """Why a spec of the tool is not used; empty when none was refused."""

    def tools(self) -> dict[str, str]:
        """Every tool with a spec, and the spec's hash."""

    def refresh(self) -> None:
        """Reads specs again that may have changed."""


class SpecSet(msgspec.Struct, frozen=True, omit_defaults=True):
    """A render spec was registered for a tool of a conversation; a line of its `tools.jsonl`."""

    tool: str
    spec: Json
    """`None`, with `of_home`: the home had no spec."""
    after: int = 0
    """The last event before it: calls up to there are not drawn with it."""
    of_home: bool = False
    """The home's spec when the tool was called; it is hidden by the conversation's own."""


class SpecRegistry:
    def __init__(self, parent: SpecSource | None = None) -> None:
        self._parent = parent
        self.clear()

    def clear(self) -> None:
        """Forgets the specs that were registered here. The parent's stay."""
        self._latest: dict[str, str] = {}
        """tool → the hash of its latest spec."""
        self._specs: dict[tuple[str, str], tuple[RenderSpec, Json]] = {}
        """tool and hash → the spec, and the JSON that it was read from."""
        self._hidden: set[str] = set()
        """Tools whose latest spec is not looked up in the parent."""
        self._refused: dict[tuple[str, str], SpecError] = {}
        self._offered: dict[str, Json] = {}
        """tool → a spec that is read when the tool is first met."""
        self._refusals: dict[str, str] = {}
        """tool → why the spec that was offered for it was refused."""

    def register(self, tool: str, value: Json) -> str:
        """Takes a tool's spec, and returns its hash. Raises `SpecError` with all its problems when it is refused."""
        from vantage.timeline.specs.check import SpecError, load_spec, spec_hash  # noqa: PLC0415 -- few conversations bring specs

        name = normal_name(tool)
        try:
            digest = spec_hash(value)
        except (ValueError, TypeError, RecursionError):
            digest = ""
        key = (name, digest)
        if key in self._refused:
            raise self._refused[key]
        if key not in self._specs:
            try:
                self._specs[key] = (load_spec(value)[0], value)
            except SpecError as error:
                self._refused[key] = error
                raise
        self._latest[name] = digest
        self._hidden.discard(name)
        return digest

    def take(self, said: SpecSet) -> None:
        """Registers what was registered once before. A spec that this version refuses is left out."""
        from vantage.timeline.specs.check import SpecError  # noqa: PLC0415

        if said.spec is None:
            self.hide(said.tool)
            return
        with suppress(SpecError):
            self.register(said.tool, said.spec)

    def hide(self, tool: str) -> None:
        """Leaves the tool without a spec, here and for lookups that come through here."""
        self.forget(tool)
        self._hidden.add(normal_name(tool))

    def offer(self, tool: str, value: Json) -> None:
        """Takes a tool's spec, which is checked when the tool is first met; `refusal` says why it is not used then."""
        self._offered[normal_name(tool)] = value

    def forget(self, tool: str) -> None:
        """Leaves the tool without a spec here. The specs that it had are still found by their hashes."""
        self._latest.pop(normal_name(tool), None)

    def _take_offer(self, name: str) -> None:
        from vantage.timeline.specs.check import SpecError  # noqa: PLC0415

        try:
            self.register(name, self._offered[name])
        except KeyError:  # an export in another thread has taken it
            return
        except SpecError as error:
            self._refusals[name] = str(error)
        self._offered.pop(name, None)

    def find(self, tool: str, digest: str | None = None) -> RenderSpec | None:
        """A tool's latest spec, or the one with that hash."""
        name = normal_name(tool)
        if name in self._offered:
            self._take_offer(name)
        wanted = digest or self._latest.get(name)
        found = self._specs.get((name, wanted)) if wanted else None
        if found is not None:
            return found[0]
        if self._parent is None or (digest is None and name in self._hidden):
            return None
        return self._parent.find(tool, digest)

    def value(self, tool: str) -> Json:
        """A tool's latest spec as JSON; `None` when it has none."""
        name = normal_name(tool)
        if self.find(tool) is None:
            return None
        if name in self._latest:
            return self._specs[name, self._latest[name]][1]
        return self._parent.value(tool) if self._parent is not None else None

    def refusal(self, tool: str) -> str:
        """Why an offered spec of the tool is not used; empty when none was refused."""
        return self._refusals.get(normal_name(tool)) or (self._parent.refusal(tool) if self._parent is not None else "")

    def tools(self) -> dict[str, str]:
        """Every tool with a spec here or above, and the spec's hash."""
        inherited = self._parent.tools() if self._parent is not None else {}
        return {**{name: digest for name, digest in inherited.items() if name not in self._hidden}, **self.own_tools()}

    def refresh(self) -> None:
        """What is registered here does not change by itself; a parent may read files."""
        if self._parent is not None:
            self._parent.refresh()

    def own_tools(self) -> dict[str, str]:
        """Every tool with a spec here, and the spec's hash."""
        for name in list(self._offered):
            self._take_offer(name)
        return dict(self._latest)
