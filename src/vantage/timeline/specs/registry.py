"""Which spec a tool has: by its normalised name and the spec's hash.

A conversation has a registry of its own above the common one, so that what it learns stays in it. A spec that is
replaced is still found by its hash: rows that were drawn with it stay as they are.
"""

from vantage.events import Json
from vantage.timeline.calls import normal_name
from vantage.timeline.specs.check import Problem, SpecError, load_spec, spec_hash
from vantage.timeline.specs.model import RenderSpec


class SpecRegistry:
    def __init__(self, parent: "SpecRegistry | None" = None) -> None:
        self._parent = parent
        self._latest: dict[str, str] = {}
        """tool → the hash of its latest spec."""
        self._specs: dict[tuple[str, str], RenderSpec] = {}
        self._refused: dict[tuple[str, str], list[Problem]] = {}

    def register(self, tool: str, value: Json) -> str:
        """Takes a tool's spec, and returns its hash. Raises `SpecError` with all its problems when it is refused."""
        name = normal_name(tool)
        digest = spec_hash(value)
        key = (name, digest)
        if key in self._refused:
            raise SpecError(self._refused[key])
        if key not in self._specs:
            try:
                self._specs[key], _ = load_spec(value)
            except SpecError as error:
                self._refused[key] = error.problems
                raise
        self._latest[name] = digest
        return digest

    def find(self, tool: str, digest: str | None = None) -> RenderSpec | None:
        """A tool's latest spec, or the one with that hash."""
        name = normal_name(tool)
        wanted = digest or self._latest.get(name)
        found = self._specs.get((name, wanted)) if wanted else None
        if found is None and self._parent is not None:
            return self._parent.find(tool, digest)
        return found

    def tools(self) -> dict[str, str]:
        """Every tool with a spec here or above, and the spec's hash."""
        inherited = self._parent.tools() if self._parent is not None else {}
        return {**inherited, **self._latest}

    def clear(self) -> None:
        """Forgets what was registered here. What is above stays."""
        self._latest.clear()
        self._specs.clear()
        self._refused.clear()


COMMON = SpecRegistry()
"""What all conversations know: built-in specs and those of extensions."""
