"""How a browser gets its cookie: the secret of a one-time link, or a token, for a session. And how it gives it back."""

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.types import ControllerRouterHandler

from vantage.errors import InputError, Unauthorized
from vantage.server.answers import JSON
from vantage.server.reading import read_object
from vantage.server.services import Services

_FILES = {
    "/login": ("login.html", "text/html"),
    "/static/login.js": ("login.js", "text/javascript"),
    "/static/login.css": ("login.css", "text/css"),
}


def login_routes(services: Services) -> list[ControllerRouterHandler]:
    auth = services.auth

    @get(list(_FILES), sync_to_thread=False)
    def page(request: Request[Any, Any, Any]) -> Response[bytes]:
        name, media = _FILES[request.scope["path"].rstrip("/")]
        return Response(_file(name), media_type=media, headers={"cache-control": "no-cache"})

    @post("/login", status_code=200)
    async def log_in(request: Request[Any, Any, Any]) -> Response[bytes]:
        fields = read_object(await request.body())
        secret, token = fields.get("secret"), fields.get("token")
        if isinstance(secret, str) and token is None:
            known = auth.redeem(secret)
        elif isinstance(token, str) and secret is None:
            known = services.tokens.identify(token)
        else:
            raise InputError("login takes one of secret and token", hint="a secret stands behind the # of a link")
        if known is None:
            auth.failed(request.client.host if request.client else "")
            raise Unauthorized(
                "this token is not valid" if secret is None else "this link was used before, or is too old",
                hint="'vantage open' makes a link that works once, for ten minutes",
            )
        said = {"ok": True, "scope": known.scope}
        return Response(msgspec.json.encode(said), media_type=JSON, headers={"set-cookie": auth.session(known)})

    @delete("/login", status_code=200, sync_to_thread=False)
    def log_out() -> Response[bytes]:
        return Response(b'{"ok":true}', media_type=JSON, headers={"set-cookie": auth.log_out()})

    return [page, log_in, log_out]


@cache
def _file(name: str) -> bytes:
    return files("vantage.web").joinpath("login", name).read_bytes()
