"""The parts of one-file pages, the holes in a template, and the hashes by which a policy names scripts."""

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_FOLDERS = {"export": ("vantage.export.pages", ""), "web": ("vantage.web", "static")}
_HOLE = re.compile(r"\{\{(\w+)\}\}")
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_TYPES = re.compile(r"/\*\*.*?\*/\s?", re.DOTALL)


@cache
def part(name: str, room: str = "export") -> str:
    """A file that a page is made of."""
    package, folder = _FOLDERS[room]
    return files(package).joinpath(folder, name).read_text(encoding="utf-8")


def in_a_script(module: str) -> str:
    """A module without imports as part of a classic script: `export` and type comments are removed."""
    return _EXPORT.sub("", _TYPES.sub("", module))


def holes(template: str) -> Iterator[tuple[str, str]]:
    """The text of a template up to each hole, and the name of the hole; the last one has none."""
    at = 0
    for hole in _HOLE.finditer(template):
        yield template[at : hole.start()], hole[1]
        at = hole.end()
    yield template[at:], ""


def hash_of(text: str) -> str:
    """The name of a style or script in a policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
