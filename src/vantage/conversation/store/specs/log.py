"""A conversation's `tools.jsonl`: the render specs that its calls are drawn with, each with its place in the log.

It has two kinds of lines: specs that were registered in the conversation, and for every called tool the home's spec at
that time, or `null` if it had none. A new line is written when that has changed. So a call looks the same after a
restart and in an export, whatever specs the home has by then.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

import msgspec

from vantage.conversation.store.files.growing_file import whole_lines
from vantage.conversation.store.files.log import Log
from vantage.events import Event, Json, ToolEnd, ToolStart
from vantage.timeline.calls import normal_name
from vantage.timeline.specs.check import load_spec
from vantage.timeline.specs.registry import SpecSet
from vantage.timeline.tools.registry import ToolRegistry

_log = logging.getLogger(__name__)


class SpecLog:
    def __init__(self, path: Path, home: ToolRegistry) -> None:
        self._path = path
        self._home = home
        self._recorded: dict[str, Json] | None = None
        """tool → the home's spec as it was last recorded; read when the first call comes."""

    def register(self, tool: str, spec: Json, after: int) -> SpecSet:
        """Writes a spec of the conversation itself. Raises `SpecError` when the spec is refused."""
        load_spec(spec)
        return self._append(SpecSet(tool, spec, after))

    def record(self, events: Iterable[Event], after: int) -> list[SpecSet]:
        """Writes which of the home's specs these events' calls are drawn with, if that has changed."""
        called = {normal_name(event.tool) for event in events if isinstance(event, ToolStart | ToolEnd) and event.tool}
        if not called:
            return []
        self._home.refresh()
        if self._recorded is None:
            self._recorded = {normal_name(each.tool): each.spec for each in self.read() if each.of_home}
        new: list[SpecSet] = []
        for tool in sorted(called):
            spec = self._home.specs.value(tool)
            if tool not in self._recorded or self._recorded[tool] != spec:
                new.append(self._append(SpecSet(tool, spec, after, of_home=True)))
                self._recorded[tool] = spec
        return new

    def read(self) -> list[SpecSet]:
        """Every line as text, oldest first. A half-written last line is cut off."""
        if self._path.exists():
            Log(self._path).close()
        return read_spec_log(self._path)

    def _append(self, said: SpecSet) -> SpecSet:
        log = Log(self._path)
        try:
            log.append(msgspec.json.encode(said) + b"\n")
        finally:
            log.close()
        return said


def read_spec_log(path: Path) -> list[SpecSet]:
    """Every line, oldest first. An unreadable one is logged and left out: its calls are drawn without a spec."""
    found: list[SpecSet] = []
    at = 0
    while lines := whole_lines(path, at):
        for line in lines:
            at += len(line) + 1
            try:
                found.append(msgspec.json.decode(line, type=SpecSet))
            except msgspec.MsgspecError as error:
                _log.warning("%s: a line is left out: %s", path, error)
    return found
