"""The render specs of one home, in layers: those that were PUT, the files in `<home>/specs`, installed extensions.

A layer that knows a tool hides the layers below it. Files are read again on `refresh`, which a feed calls before it
folds calls, so a saved file is used for the next call. A file that cannot be used is logged with every problem, and its
last good specs stay in force until it is mended or removed. Homes share nothing but the built-in tools.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from vantage.conversation.store.files.disk_errors import damaged
from vantage.conversation.store.files.writing import write_atomically
from vantage.conversation.store.specs.files import holds_specs, read_specs, report
from vantage.events import Json
from vantage.timeline.calls import normal_name
from vantage.timeline.specs.check import SpecError
from vantage.timeline.specs.model import RenderSpec
from vantage.timeline.specs.registry import SpecRegistry, SpecSource
from vantage.timeline.tools.registry import ToolRegistry

_UNSETTLED_S = 0.1
"""Seconds. A file that changed so shortly before it was read is read again, because a later change may have left the
same times.
"""

_log = logging.getLogger(__name__)

Report = Callable[[str], object]
"""Reports what is wrong with a file, a line each: once for every change of it."""


class Broken(msgspec.Struct, frozen=True):
    """A file whose specs cannot be used, or not all of them."""

    path: Annotated[str, Meta(description="The file")]
    errors: Annotated[list[str], Meta(description="What is wrong with it, a line each")]


class _File(msgspec.Struct, frozen=True):
    signature: tuple[int, int, int] | None
    """Modification time, size and inode when it was read; None: it is read again."""
    specs: dict[str, Json]
    """tool → its spec; if the file's own cannot be used, the last one that could."""
    problems: list[str]


class SpecFolder:
    """The specs of a folder's files, as of the last `refresh`."""

    def __init__(self, path: Path, parent: SpecSource | None = None, report_to: Report = _log.warning) -> None:
        self.path = path
        self._report = report_to
        self._registry = SpecRegistry(parent)
        self._files: dict[str, _File] = {}
        """Name → the file, as it was last read."""
        self._in_force: dict[str, Json] = {}
        self._duplicates: dict[str, list[str]] = {}
        """Name → tools of the file that another file describes already."""
        self._unlisted = ""
        """Why the folder cannot be read; empty when it can be read or does not exist."""
        self._refreshing = threading.Lock()

    def find(self, tool: str, digest: str | None = None) -> RenderSpec | None:
        return self._registry.find(tool, digest)

    def value(self, tool: str) -> Json:
        return self._registry.value(tool)

    def refusal(self, tool: str) -> str:
        return self._registry.refusal(tool)

    def tools(self) -> dict[str, str]:
        return self._registry.tools()

    def own_tools(self) -> dict[str, str]:
        """Every tool that the files describe, and the spec's hash."""
        return self._registry.own_tools()

    @property
    def broken(self) -> tuple[Broken, ...]:
        """Every file with a problem, and the folder if it cannot be read."""
        found = [Broken(str(self.path), [self._unlisted])] if self._unlisted else []
        for name, file in sorted(self._files.items()):
            if errors := [*file.problems, *self._duplicates.get(name, ())]:
                found.append(Broken(str(self.path / name), errors))
        return tuple(found)

    def refresh(self) -> None:
        """Reads the files that have changed since the last time."""
        with self._refreshing:
            listed = self._listed()
            if listed.keys() == self._files.keys() and all(
                self._files[name].signature == signature for name, signature in listed.items()
            ):
                return
            self._files = {name: self._read(name, signature) for name, signature in sorted(listed.items())}
            self._apply()

    def _listed(self) -> dict[str, tuple[int, int, int]]:
        """The files that should hold specs, and their modification times, sizes and inodes."""
        try:
            with os.scandir(self.path) as entries:
                listed = {entry.name: _signature(entry) for entry in entries if holds_specs(entry.name)}
        except FileNotFoundError:
            listed, why = {}, ""
        except OSError as error:
            listed, why = {}, error.strerror or str(error)
        else:
            why = ""
        if why and why != self._unlisted:
            self._report(f"{self.path}: {why}")
        self._unlisted = why
        return listed

    def _read(self, name: str, signature: tuple[int, int, int]) -> _File:
        known = self._files.get(name, _File(None, {}, []))
        if known.signature == signature:
            return known
        settled = time.time() - signature[0] / 1e9 > _UNSETTLED_S
        specs: dict[str, Json] = {}
        problems: list[str] = []
        for found in read_specs(self.path / name):
            if not found.refused:
                specs[found.tool] = found.value
                continue
            problems += report(self.path / name, found)
            # No tool: the file as a whole cannot be read.
            specs |= {tool: spec for tool, spec in known.specs.items() if found.tool in ("", tool)}
        if problems != known.problems:
            kept = f" (still in force: {', '.join(specs)})" if specs and problems else ""
            for problem in problems:
                self._report(f"{problem}{kept}")
        return _File(signature if settled else None, specs, problems)

    def _apply(self) -> None:
        """Gives the registry the files' specs. If several files describe one tool, the first by name counts."""
        in_force: dict[str, tuple[str, Json]] = {}
        self._duplicates = {}
        for name, file in self._files.items():
            for tool, spec in file.specs.items():
                first, _ = in_force.setdefault(normal_name(tool), (name, spec))
                if first != name:
                    said = f"{self.path / first} has a spec of {tool!r} already: remove one of them"
                    self._duplicates.setdefault(name, []).append(said)
        for tool in self._in_force.keys() - in_force.keys():
            self._registry.forget(tool)
        for tool, (_, spec) in in_force.items():
            if tool not in self._in_force or self._in_force[tool] != spec:
                with contextlib.suppress(SpecError):  # it was checked when its file was read
                    self._registry.register(tool, spec)
        self._in_force = {tool: spec for tool, (_, spec) in in_force.items()}


def _signature(entry: os.DirEntry[str]) -> tuple[int, int, int]:
    try:
        found = entry.stat()
    except OSError:  # a link to nothing, or a file that is just being replaced
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


class HomeSpecs:
    """The tools that all conversations of a home know. `tools` is the registry that a timeline is given."""

    def __init__(self, home: Path, installed: ToolRegistry | None = None, report_to: Report = _log.warning) -> None:
        self._path = home / "tools.json"
        self._installed = installed or ToolRegistry()
        self.files = SpecFolder(home / "specs", self._installed.specs, report_to)
        self.registry = SpecRegistry(self.files)
        """The specs that were PUT. They take precedence over the files'."""
        self.tools = ToolRegistry(parent=self._installed, specs=self.registry)

    def load(self) -> None:
        """Reads the files, and the specs that were PUT before. Raises `Unavailable` when those cannot be read."""
        self.files.refresh()
        for tool, spec in self._read().items():
            self.registry.offer(tool, spec)

    def put(self, tool: str, spec: Json) -> str:
        """Takes a tool's spec, from now on and after a restart, and returns its hash."""
        known = self._read()
        digest = self.registry.register(tool, spec)
        known[tool] = spec
        write_atomically(self._path, msgspec.json.encode(known))
        return digest

    def listed(self) -> list[dict[str, str]]:
        """Every tool with a spec, the spec's hash, and the layer it comes from."""
        self._installed.discover()
        self.files.refresh()
        layers = {
            "installed": self._installed.specs.tools(),
            "specs": self.files.own_tools(),
            "home": self.registry.own_tools(),
        }
        found: dict[str, dict[str, str]] = {}
        for source, tools in layers.items():
            found |= {tool: {"tool": tool, "specHash": digest, "source": source} for tool, digest in tools.items()}
        return [found[tool] for tool in sorted(found)]

    def _read(self) -> dict[str, Json]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Any])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            raise damaged(self._path, error) from None
