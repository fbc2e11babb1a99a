"""Which spec a tool has: by its normalised name and the spec's hash.

A conversation has a registry of its own above the common one, so that what it learns stays in it. A spec that is
replaced is still found by its hash: rows that were drawn with it stay as they are.
"""

from typing import TYPE_CHECKING

from vantage.events import Json
from vantage.timeline.calls import normal_name
from vantage.timeline.specs.model import RenderSpec

if TYPE_CHECKING:
    from vantage.timeline.specs.check import SpecError


class SpecRegistry:
    def __init__(self, parent: "SpecRegistry | None" = None) -> None:
        self._parent = parent
        self.clear()

    def clear(self) -> None:
        """Forgets what was registered here. What is above stays."""
        self._latest: dict[str, str] = {}
        """tool → the hash of its latest spec."""
        self._specs: dict[tuple[str, str], RenderSpec] = {}
        self._refused: dict[tuple[str, str], SpecError] = {}
        self._offered: dict[str, Json] = {}
        """tool → a spec that is read when the tool is first met."""
        self._refusals: dict[str, str] = {}
        """tool → why what was offered for it was refused."""

    def register(self, tool: str, value: Json) -> str:
        """Takes a tool's spec, and returns its hash. Raises `SpecError` with all its problems when it is refused."""
        from vantage.timeline.specs.check import SpecError, load_spec, spec_hash  # noqa: PLC0415 -- most never need it

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
                self._specs[key], _ = load_spec(value)
            except SpecError as error:
                self._refused[key] = error
                raise
        self._latest[name] = digest
        return digest

    def offer(self, tool: str, value: Json) -> None:
        """Takes a tool's spec without looking into it until the tool is met; `refusal` says what came of it."""
        self._offered[normal_name(tool)] = value

    def _take_offer(self, name: str) -> None:
        from vantage.timeline.specs.check import SpecError  # noqa: PLC0415

        try:
            self.register(name, self._offered.pop(name))
        except SpecError as error:
            self._refusals[name] = str(error)

    def find(self, tool: str, digest: str | None = None) -> RenderSpec | None:
        """A tool's latest spec, or the one with that hash."""
        name = normal_name(tool)
        if name in self._offered:
            self._take_offer(name)
        wanted = digest or self._latest.get(name)
        found = self._specs.get((name, wanted)) if wanted else None
        if found is None and self._parent is not None:
            return self._parent.find(tool, digest)
        return found

    def refusal(self, tool: str) -> str:
        """Why an offered spec of the tool is not used; empty when none was refused."""
        return self._refusals.get(normal_name(tool)) or (self._parent.refusal(tool) if self._parent is not None else "")

    def tools(self) -> dict[str, str]:
        """Every tool with a spec here or above, and the spec's hash."""
        for name in list(self._offered):
            self._take_offer(name)
        inherited = self._parent.tools() if self._parent is not None else {}
        return {**inherited, **self._latest}


COMMON = SpecRegistry()
"""What all conversations know: built-in specs and those of extensions."""
