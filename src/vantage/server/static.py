"""The page and its files: all of them read once, under a path that changes whenever one of them does.

A name in a request is looked up in a table and never becomes a path. The files hold no data of anybody, so they are
open; what the page shows it asks for, with the cookie that a login gave it.
"""

import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from litestar import Request, Response, get
from litestar.types import ControllerRouterHandler

from vantage.export.themes import DAY, NIGHT, variables
from vantage.surfaces.icons import ICONS

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types vantage"
)
"""What the page may do: run and fetch what comes from here, and make markup in one place only."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PAGES = {"/": "index.html", "/gallery": "gallery.html"}
_TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "json": "application/json",
}
_HOLE = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import .*?"\./([\w.]+)";$', re.MULTILINE)


class Asset(msgspec.Struct, frozen=True):
    body: bytes
    media_type: str
    tag: str
    """The ETag: a hash of the body."""


@cache
def assets() -> dict[str, Asset]:
    """Every file of the page, by name. Colours and icons come from those who draw elsewhere with them."""
    bodies = {
        "colors.css": variables(NIGHT, DAY).encode(),
        "icons.js": f"/** @type {{Record<string, string>}} */\nexport const ICONS = {_icons()};\n".encode(),
    }
    for file in files("vantage.web").joinpath("static").iterdir():
        if file.name.rpartition(".")[2] in _TYPES:
            bodies[file.name] = file.read_bytes()
    return {name: _asset(name, body) for name, body in sorted(bodies.items())}


def _icons() -> str:
    return json.dumps({name: icon.svg for name, icon in ICONS.items()}, indent=1)


def _asset(name: str, body: bytes) -> Asset:
    return Asset(body, _TYPES[name.rpartition(".")[2]], f'"{hashlib.sha256(body).hexdigest()[:20]}"')


@cache
def version() -> str:
    """Of all files together: an address with it stands for what never changes."""
    whole = hashlib.sha256()
    for name, asset in assets().items():
        whole.update(f"{name} {asset.tag}\n".encode())
    return whole.hexdigest()[:12]


@cache
def page(name: str) -> Asset:
    """A page, with the addresses of its files; those of the modules are told at once, not one import after another."""
    place = f"/static/{version()}"
    modules = "\n".join(f'<link rel="modulepreload" href="{place}/{module}">' for module in _modules("main.js"))
    parts = {"static": place, "modules": modules}
    return _asset(name, _HOLE.sub(lambda hole: parts[hole[1]], assets()[name].body.decode()).encode())


def _modules(start: str) -> list[str]:
    """A module and all that it imports."""
    found = [start]
    for name in found:
        found += [each for each in _IMPORT.findall(assets()[name].body.decode()) if each not in found]
    return found


def static_routes() -> list[ControllerRouterHandler]:
    @get(list(PAGES), sync_to_thread=False)
    def pages(request: Request[Any, Any, Any]) -> Response[bytes]:
        asset = page(PAGES[request.url.path])
        return _answer(request, asset, {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY})

    @get("/static/{of:str}/{name:str}", sync_to_thread=False)
    def static(request: Request[Any, Any, Any], of: str, name: str) -> Response[bytes]:
        asset = assets().get(name) if of == version() and name not in PAGES.values() else None
        if asset is None:
            return Response(b"", status_code=404, media_type="text/plain", headers=HEADERS)
        return _answer(request, asset, {"Cache-Control": "public, max-age=31536000, immutable"})

    return [pages, static]


def _answer(request: Request[Any, Any, Any], asset: Asset, headers: dict[str, str]) -> Response[bytes]:
    headers = {**HEADERS, **headers, "ETag": asset.tag}
    if request.headers.get("If-None-Match") == asset.tag:
        return Response(b"", status_code=304, headers=headers)
    return Response(asset.body, media_type=asset.media_type, headers=headers)
