"""Render specs in files: `*.json`, each with one spec or several.

A file holds a spec (the tool has the file's name), `{"tool": name, "renderSpec": spec}`, or an object of specs by tool.
Nothing raises: an unusable spec is reported with its path and every problem, and left out. Files called `*.sample.json`
hold sample data for previews, and no specs.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from vantage.events import Json
from vantage.text.sanitize import sanitize
from vantage.timeline.calls import normal_name
from vantage.timeline.specs.check import Problem, check_spec
from vantage.timeline.specs.model import RenderSpec

MAX_FILE = 4 * 1024 * 1024
"""The most bytes of a file; a larger one holds no specs."""
SAMPLE = ".sample.json"

_FIELDS = frozenset(field.encode_name for field in msgspec.structs.fields(RenderSpec))
_SCHEMA = "$schema"
"""The key that tells editors which schema to use; it is no part of a spec."""


class Found(msgspec.Struct, frozen=True):
    """A spec in a file; without a tool, the file that could not be read."""

    tool: str
    value: Json
    problems: list[Problem]
    place: str = ""
    """Where in the file it is: empty when it is the whole file."""

    @property
    def refused(self) -> bool:
        return any(problem.fatal for problem in self.problems)


class Loaded(msgspec.Struct, frozen=True):
    specs: dict[str, Json]
    """tool → its spec, as JSON."""
    problems: list[str]
    """What was left out, and why: `path: place: message (hint)`."""


def load_folder(path: Path | str) -> Loaded:
    """The specs of a folder's files, in the order of their names. A missing folder has none."""
    try:
        files = spec_paths(Path(path))
    except FileNotFoundError:
        return Loaded({}, [])
    except (OSError, ValueError) as error:
        return Loaded({}, [f"{path}: {_reason(error)}"])
    specs: dict[str, Json] = {}
    problems: list[str] = []
    places: dict[str, Path] = {}
    for file in files:
        loaded = load_file(file)
        problems += loaded.problems
        for tool, spec in loaded.specs.items():
            first = places.setdefault(normal_name(tool), file)
            if first == file:
                specs[tool] = spec
            else:
                problems.append(f"{file}: {first} has a spec of {tool!r} already: remove one of them")
    return Loaded(specs, problems)


def load_file(path: Path | str) -> Loaded:
    """The specs of one file."""
    specs: dict[str, Json] = {}
    problems: list[str] = []
    for found in read_specs(Path(path)):
        if found.refused:
            problems += report(path, found)
        else:
            specs[found.tool] = found.value
    return Loaded(specs, problems)


def spec_paths(folder: Path) -> list[Path]:
    """The files of a folder that should hold specs. Raises `OSError` when it cannot be listed."""
    return sorted(entry for entry in folder.iterdir() if holds_specs(entry.name))


def holds_specs(name: str) -> bool:
    """Whether a file of this name should hold specs."""
    return name.endswith(".json") and not name.startswith(".") and not name.endswith(SAMPLE)


def read_specs(path: Path) -> list[Found]:
    """Every spec in a file, with its problems and oddities; there is at least one entry."""
    value, problem = read_json(path)
    if problem is not None:
        return [Found("", None, [problem])]
    if not isinstance(value, dict):
        return [_broken("wrong_type", "it is not a JSON object", "write a spec, or an object of specs by tool")]
    value = {key: item for key, item in value.items() if key != _SCHEMA}
    if "renderSpec" in value:
        tool = value.get("tool", path.stem)
        if not isinstance(tool, str) or not tool.strip():
            return [_broken("wrong_type", "'tool' is not the name of a tool", 'as in {"tool": "weather", …}')]
        return [_checked(tool, value["renderSpec"], "renderSpec")]
    if _FIELDS & value.keys():
        return [_checked(path.stem, value, "")]
    if not value:
        return [_broken("empty", "there is no spec in it", 'the least is {"collapsed": {"title": "…"}}')]
    return [_checked(tool, spec, tool) for tool, spec in value.items()]


def read_json(path: Path) -> tuple[Json, Problem | None]:
    """A file's content, or why it cannot be read."""
    try:
        if not path.is_file():  # opening a pipe would block until its other end is open
            what = "it is not a regular file" if path.exists() else "there is no such file"
            return None, Problem("unreadable", "", what)
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        return None, Problem("unreadable", "", _reason(error))
    if len(data) > MAX_FILE:
        return None, Problem("too_large", "", f"it has more than {MAX_FILE} bytes")
    try:
        return msgspec.json.decode(data.decode("utf-8-sig")), None
    except UnicodeDecodeError as error:
        return None, Problem("bad_utf8", "", f"it is not UTF-8, from byte {error.start} on", "save it as UTF-8")
    except msgspec.DecodeError as error:
        return None, Problem("bad_json", "", f"it is not JSON: {error}")
    except RecursionError:
        return None, Problem("too_deep", "", "it is nested too deeply")


def report(path: Path | str, found: Found) -> Iterator[str]:
    """A line for each problem: `path: place: message (hint)`, harmless on a terminal."""
    for problem in found.problems:
        place = ".".join(part for part in (found.place, problem.path) if part)
        hint = f" ({problem.hint})" if problem.hint else ""
        warning = "" if problem.fatal else "warning: "
        yield sanitize(f"{path}: {warning}{f'{place}: ' if place else ''}{problem.message}{hint}")


def _checked(tool: str, spec: Json, place: str) -> Found:
    if isinstance(spec, dict):
        spec = {key: item for key, item in spec.items() if key != _SCHEMA}
    return Found(tool, spec, check_spec(spec), place)


def _broken(code: str, message: str, hint: str) -> Found:
    return Found("", None, [Problem(code, "", message, hint)])


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
