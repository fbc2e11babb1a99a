"""The server itself over HTTP: its document, its health, its numbers, the demo, the gallery."""

from typing import Any

from starlette.responses import Response

from vantage.conversation.verbs.conversation.life import Description
from vantage.conversation.verbs.verb import Done, NoParams
from vantage.server.demo import PlayDemo, play_demo
from vantage.server.http.answers import JSON
from vantage.server.http.route import Call, File, Route
from vantage.server.http.routes.preview import Drawings, Preview, preview_spec
from vantage.server.metrics import TYPE as METRICS_TYPE


async def read_openapi(call: Call) -> Response:
    """The OpenAPI document of this server."""
    from vantage.server.http.openapi import document  # noqa: PLC0415 -- slow to import, and rarely asked for

    return Response(document(call.services.url), media_type=JSON)


async def health(_: Call) -> Any:
    """The server answers."""
    return Done().to_dict()


async def metrics(call: Call) -> Response:
    """Numbers about the server, in Prometheus' format."""
    text = await call.services.metrics.text(call.services.bus)
    return Response(text, headers={"content-type": METRICS_TYPE})


ROUTES = (
    Route("POST", "/v1/preview", preview_spec, Preview, Drawings, reads=True),
    Route("POST", "/v1/demo", play_demo, PlayDemo, Description, 201),
    Route("GET", "/v1/openapi.json", read_openapi, NoParams, File("The document.", (JSON,))),
    Route("GET", "/healthz", health, NoParams, Done, open=True),
    Route("GET", "/metrics", metrics, NoParams, File("The numbers.", ("text/plain",))),
)
