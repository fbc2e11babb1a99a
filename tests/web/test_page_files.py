"""The page as files: what is served, how it may be kept, which room imports which, what is in the package."""

import json
import posixpath
import re
import subprocess
import tomllib
from graphlib import TopologicalSorter

import pytest
from wcwidth import wcwidth

from places import ROOT
from server_home import Server
from vantage.export.screen.themes import DAY, NIGHT
from vantage.server.http.routes.static import assets, imports, version

STATIC = ROOT / "src/vantage/web/static"


def test_the_page(server: Server):
    answer = server.get("/", token="")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "require-trusted-types-for 'script'" in answer.headers["Content-Security-Policy"]
    page = answer.body.decode()
    assert "style=" not in page and "onclick" not in page and "{{" not in page
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        assert server.get(address, token="").status == 200, address


@pytest.mark.parametrize("name", sorted(name for name in assets() if not name.endswith(".html")))
def test_files_can_be_kept_for_ever(server: Server, name):
    path = f"/static/{version()}/{name}"
    answer = server.get(path, token="")
    assert answer.status == 200
    assert answer.body == assets()[name].body
    assert "immutable" in answer.headers["Cache-Control"]
    again = server.get(path, token="", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/static/old/app/main.js",
        "/static/{v}/..%2f..%2fserver%2fauth.py",
        "/static/{v}/%2e%2e/types.d.ts",
        "/static/{v}/../types.d.ts",
        "/static/{v}//etc/passwd",
        "/static/{v}/none.js",
        "/static/{v}/main.js",
        "/static/{v}/app/index.html",
        "/static/{v}/app/../app/main.js",
        "/static/{v}/app/./main.js",
        "/static/{v}/app%5cmain.js",
        "/static/{v}/app/main.js%00",
        "/static/{v}/app/main.js%0a",
        "/static/{v}/../{v}/app/main.js",
        "/static/{v}/app/../../types.d.ts",
        "/static/{v}/app",
        "/static/{v}/",
    ],
)
def test_nothing_else_is_served(server: Server, path):
    assert server.get(path.format(v=version()), token="").status == 404


MODULES = sorted(name for name in assets() if name.endswith(".js"))


@pytest.mark.parametrize("module", MODULES)
def test_every_import_leads_to_a_file(module):
    statements = re.findall(r"^(?:import\b|export .* from )", assets()[module].body.decode(), re.MULTILINE)
    assert len(imports(module)) == len(statements)
    assert set(imports(module)) <= set(assets())


def named_in(module: str) -> set[str]:
    """The modules that a module imports, and those whose types its comments name."""
    types = re.findall(r'import\("(\.{1,2}/[\w./]+\.js)"\)', assets()[module].body.decode())
    folder = posixpath.dirname(module)
    return {*imports(module), *(posixpath.normpath(posixpath.join(folder, target)) for target in types)}


def rooms() -> dict[str, set[str]]:
    """Each room of the page and the rooms that it imports from, as docs/page.md has them."""
    table = (ROOT / "docs/page.md").read_text().partition("| room | imports from |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)/` \| (.*?) \|", table, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)/`", others)) for name, others in rows}


def test_every_room_is_documented_and_imports_only_rooms_above_it():
    known = rooms()
    assert set(known) == {posixpath.dirname(name) for name in assets()} - {""}
    for place, (name, others) in enumerate(known.items()):
        assert others <= set(list(known)[:place]), f"{name}/ imports a room that stands below it in the table"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_room_may(module):
    room = posixpath.dirname(module)
    assert {posixpath.dirname(other) for other in named_in(module)} <= rooms()[room] | {room}


def test_no_module_imports_itself_through_others():
    before: dict[str, set[str]] = {module: set(imports(module)) for module in MODULES}
    assert list(TopologicalSorter(before).static_order())


def test_no_room_has_more_than_fifteen_entries():
    for folder in (STATIC, *(path for path in STATIC.rglob("*") if path.is_dir())):
        assert len(list(folder.iterdir())) <= 15, folder


def test_everything_is_in_the_wheel():
    """The build takes every file of the package that is not ignored."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert build == {"targets": {"wheel": {"packages": ["src/vantage"]}}}
    files = [str(path) for path in (ROOT / "src/vantage/web").rglob("*.*") if "__pycache__" not in path.parts]
    ignored = subprocess.run(["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True)
    assert (ignored.returncode, ignored.stdout) == (1, "")


def test_characters_are_as_wide_as_elsewhere():
    text = (STATIC / "terminal/character_widths.js").read_text()
    found = {
        name: {
            point
            for first, last in re.findall(r"([0-9a-f]+)-([0-9a-f]+)", body)
            for point in range(int(first, 16), int(last, 16) + 1)
        }
        for name, body in re.findall(r"export const (\w+) = `(.*?)`", text, re.DOTALL)
    }
    for point in range(0xA0, 0x110000):
        width = wcwidth(chr(point))
        assert ((point in found["WIDE"]), (point in found["ZERO"])) == (width == 2, width <= 0), hex(point)


def test_the_gallery_has_the_worked_specs():
    shown = json.loads((STATIC / "gallery/example_specs.json").read_text())
    folder = ROOT / "examples/specs"
    written = {path.stem: path for path in folder.glob("*.json") if not path.name.endswith(".sample.json")}
    assert set(shown) == set(written)
    for name, path in written.items():
        spec = json.loads(path.read_text())
        assert shown[name]["spec"] == spec.get("renderSpec", spec)
        assert shown[name]["sample"] == json.loads((folder / f"{name}.sample.json").read_text())


def test_every_class_of_a_row_has_a_look():
    """The style sheet has a rule for every class that the surface writes, except classes that only name a part."""
    surface = "".join(path.read_text() for path in (ROOT / "src/vantage/surfaces").glob("html*.py"))
    style = assets()["styles/rows.css"].body.decode()
    written = set(re.findall(r"\bv-[a-z][a-z-]*[a-z]", surface))
    unstyled = {name for name in written if not re.search(rf"\.{name}\b", style)}
    parts = "ansi bg block check context fg footnote-label h html icon item-title output row t terminal tool"
    assert unstyled <= {f"v-{part}" for part in parts.split()}


def test_colours_are_those_of_recordings():
    colors = assets()["styles/colors.css"].body.decode()
    for look in (NIGHT, DAY):
        assert f"--background: {look.background};" in colors
        assert all(color in colors for color in look.colors)
