"""The page and its files: read once, under a path that changes whenever one of them does.

A file is named by its path below `web/static`. A name in a request is looked up in a table and never becomes a path on
disk. The files contain no data, so they need no token; the page fetches its data with the session that a login gave it.
"""

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec
from starlette.responses import Response

from vantage.export.screen.themes import DAY, NIGHT, variables
from vantage.server.http.route import Call, File, Route
from vantage.surfaces.icons import ICONS

PAGES = {"/": "app/index.html", "/gallery": "gallery/gallery.html", "/login": "login/login.html"}
_TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "json": "application/json",
}
_HOLE = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import .*?"(\.{1,2}/[\w./]+)";$', re.MULTILINE)


class Asset(msgspec.Struct, frozen=True):
    body: bytes
    media_type: str
    tag: str
    """The ETag: a hash of the body."""


@cache
def assets() -> dict[str, Asset]:
    """Every file of the page, by its path. Colours and icons come from the modules that other surfaces draw with."""
    bodies = {
        "styles/colors.css": variables(NIGHT, DAY).encode(),
        "parts/icons.js": f"/** @type {{Record<string, string>}} */\nexport const ICONS = {_icons()};\n".encode(),
    }
    bodies.update(_files_of(files("vantage.web").joinpath("static")))
    return {name: _asset(name, body) for name, body in sorted(bodies.items())}


def _files_of(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    """The path and the content of every file in a folder and in the folders of it."""
    for entry in folder.iterdir():
        path = above + entry.name
        if entry.is_dir():
            yield from _files_of(entry, f"{path}/")
        elif entry.name.rpartition(".")[2] in _TYPES:
            yield path, entry.read_bytes()


def _icons() -> str:
    return json.dumps({name: icon.svg for name, icon in ICONS.items()}, indent=1)


def _asset(name: str, body: bytes) -> Asset:
    return Asset(body, _TYPES[name.rpartition(".")[2]], f'"{hashlib.sha256(body).hexdigest()[:20]}"')


@cache
def version() -> str:
    """A hash of all files together: the content at an address with it never changes."""
    whole = hashlib.sha256()
    for name, asset in assets().items():
        whole.update(f"{name} {asset.tag}\n".encode())
    return whole.hexdigest()[:12]


@cache
def page(name: str) -> Asset:
    """A page with the addresses of its files. All modules are preloaded, so the browser does not follow imports."""
    place = f"/static/{version()}"
    modules = "\n".join(f'<link rel="modulepreload" href="{place}/{module}">' for module in _modules("app/main.js"))
    parts = {"static": place, "modules": modules}
    return _asset(name, _HOLE.sub(lambda hole: parts[hole[1]], assets()[name].body.decode()).encode())


def _modules(start: str) -> list[str]:
    """A module and all modules that it imports, directly or not."""
    found = [start]
    for name in found:
        found += [each for each in imports(name) if each not in found]
    return found


def imports(module: str) -> list[str]:
    """The modules that a module imports, by their paths."""
    folder = posixpath.dirname(module)
    targets = _IMPORT.findall(assets()[module].body.decode())
    return [posixpath.normpath(posixpath.join(folder, target)) for target in targets]


async def page_of_path(call: Call) -> Response:
    """A page, by its path."""
    headers = {"cache-control": "no-cache"}
    cookie = f"vantage_{call.services.port}="
    if cookie in call.request.headers.get("cookie", ""):
        # Set by a version that kept sessions in cookies. No request uses it, and browsers send it to other servers too.
        headers["set-cookie"] = f"{cookie}; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
    return _answer(call, page(PAGES[call.request.scope["path"]]), headers)


async def login_page(call: Call) -> Response:
    """The page that logs a browser in."""
    return await page_of_path(call)


async def static_file(call: Call) -> Response:
    """A file of the page, under the version that it belongs to."""
    name = call.fields["file"]
    asset = assets().get(name) if call.fields["version"] == version() and name not in PAGES.values() else None
    if asset is None:
        return Response(b"", 404, media_type="text/plain")
    return _answer(call, asset, {"cache-control": "public, max-age=31536000, immutable"})


def _answer(call: Call, asset: Asset, headers: dict[str, str]) -> Response:
    headers = {**headers, "etag": asset.tag}
    if call.request.headers.get("if-none-match") == asset.tag:
        return Response(b"", 304, headers)
    return Response(asset.body, headers=headers, media_type=asset.media_type)


LOGIN_PAGE = Route("GET", "/login", login_page, returns=File("The page.", ("text/html",)), open=True)
ROUTES = (
    Route("GET", "/", page_of_path, open=True),
    Route("GET", "/gallery", page_of_path, open=True),
    Route("GET", "/static/{version}/{file}", static_file, open=True),
)
