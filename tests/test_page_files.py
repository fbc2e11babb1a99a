"""The page as files: what is served, how it may be kept, and that all of it is in the package."""

import json
import re
import subprocess
import tomllib

import pytest
from wcwidth import wcwidth

from server_home import Server
from test_docs import ROOT
from vantage.export.themes import DAY, NIGHT
from vantage.server.static import assets, version

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
        "/static/old/main.js",
        "/static/{v}/..%2f..%2fserver%2fauth.py",
        "/static/{v}/%2e%2e/types.d.ts",
        "/static/{v}/../types.d.ts",
        "/static/{v}//etc/passwd",
        "/static/{v}/none.js",
        "/static/{v}/index.html",
        "/static/{v}/",
    ],
)
def test_nothing_else_is_served(server: Server, path):
    assert server.get(path.format(v=version()), token="").status == 404


def test_every_import_leads_to_a_file():
    for name, asset in assets().items():
        if name.endswith(".js"):
            for target in re.findall(r'from "\./([\w.]+)"', asset.body.decode()):
                assert target in assets(), f"{name} imports {target}"


def test_everything_is_in_the_wheel():
    """The build takes whatever is in the package and not ignored."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert build == {"targets": {"wheel": {"packages": ["src/vantage"]}}}
    files = [str(path) for path in (ROOT / "src/vantage/web").rglob("*.*") if "__pycache__" not in path.parts]
    ignored = subprocess.run(["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True)
    assert (ignored.returncode, ignored.stdout) == (1, "")


def test_characters_are_as_wide_as_elsewhere():
    text = (STATIC / "widths.js").read_text()
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
    shown = json.loads((STATIC / "specs.json").read_text())
    folder = ROOT / "examples/specs"
    written = {path.stem: path for path in folder.glob("*.json") if not path.name.endswith(".sample.json")}
    assert set(shown) == set(written)
    for name, path in written.items():
        spec = json.loads(path.read_text())
        assert shown[name]["spec"] == spec.get("renderSpec", spec)
        assert shown[name]["sample"] == json.loads((folder / f"{name}.sample.json").read_text())


def test_every_class_of_a_row_has_a_look():
    """What the surface writes, the style sheet knows; but for what only names a part."""
    surface = "".join(path.read_text() for path in (ROOT / "src/vantage/surfaces").glob("html*.py"))
    style = assets()["rows.css"].body.decode()
    written = set(re.findall(r"\bv-[a-z][a-z-]*[a-z]", surface))
    unstyled = {name for name in written if not re.search(rf"\.{name}\b", style)}
    parts = "ansi bg block check context fg footnote-label h html icon item-title output row t terminal tool"
    assert unstyled <= {f"v-{part}" for part in parts.split()}


def test_colours_are_those_of_recordings():
    colors = assets()["colors.css"].body.decode()
    for look in (NIGHT, DAY):
        assert f"--background: {look.background};" in colors
        assert all(color in colors for color in look.colors)
