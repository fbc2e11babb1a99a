"""Presenters and render specs, by tool name.

A timeline takes a registry as an argument. Registries share nothing but the built-in tools: a presenter or a spec that
is added to one is unknown to every other that is not its child.
"""

from collections.abc import Callable

from vantage.events import Json
from vantage.timeline.calls import normal_name
from vantage.timeline.specs.registry import SpecRegistry, SpecSource
from vantage.timeline.tools import Presenter, ToolPresenter

Discovery = Callable[["ToolRegistry"], list[str]]
"""Adds what it finds to the registry, and returns a line for each thing that it had to leave out."""


class ToolRegistry:
    """`specs` are looked up before those of the parent, which has every presenter that is not added here."""

    def __init__(
        self,
        *presenters: ToolPresenter,
        parent: "ToolRegistry | None" = None,
        specs: SpecSource | None = None,
        discovery: Discovery | None = None,
    ) -> None:
        self._parent = parent
        self._given_specs = specs
        self._specs: SpecRegistry | None = None
        self._presenters: dict[str, Presenter] = {}
        self._has_built_in = False
        self._discovery = discovery
        for each in presenters:
            self.add(each)

    def add(self, presenter: ToolPresenter) -> None:
        """Registers a presenter. The last one that is added for a name is used."""
        for name in presenter.names:
            self._presenters[normal_name(name)] = presenter.function

    def render_spec(self, tool: str, spec: Json) -> None:
        """Registers a render spec. It is checked when the tool is first met; a refusal is shown in the tool's rows."""
        self.specs.offer(tool, spec)

    def presenter_for(self, tool: str) -> Presenter | None:
        found = self._presenters.get(normal_name(tool))
        if found is not None:
            return found
        if self._parent is not None:
            return self._parent.presenter_for(tool)
        if self._has_built_in:
            return None
        from vantage.timeline.tools.built_in import PRESENTERS  # noqa: PLC0415 -- messages alone need none of them

        self._presenters = {**PRESENTERS, **self._presenters}
        self._has_built_in = True
        return self._presenters.get(normal_name(tool))

    @property
    def specs(self) -> SpecRegistry:
        """The render specs that were registered here, above the given ones or the parent's, above the built-in ones."""
        if self._specs is None:
            above = self._given_specs or (self._parent.specs if self._parent is not None else None)
            self._specs = SpecRegistry(above)
            if above is None:
                from vantage.timeline.tools.built_in import SPECS  # noqa: PLC0415

                for tool, spec in SPECS.items():
                    self._specs.offer(tool, spec)
        return self._specs

    def discover(self) -> list[str] | None:
        """Runs the discovery that this registry or its parent was given, once. `None`: there is none left to run."""
        discovery, self._discovery = self._discovery, None
        if discovery is not None:
            return discovery(self)
        return self._parent.discover() if self._parent is not None else None

    def refresh(self) -> None:
        """Reads specs again whose source may have changed, such as files."""
        self.specs.refresh()
