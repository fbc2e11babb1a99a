"""The verbs of a terminal over HTTP: `POST …/pty/<verb>`, one path for all of them."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from vantage.conversation.verbs.table import TERMINAL_VERBS
from vantage.errors import NotFound, did_you_mean
from vantage.server.http.answers import JSON
from vantage.server.http.route import C, Call, Route

DISCONNECTED = 499
"""The status in the metrics of a request whose client disconnected."""


async def pty(call: Call) -> Any:
    """Do what a verb says."""
    verb = call.request.path_params["verb"]
    if verb not in TERMINAL_VERBS:
        raise NotFound(f"there is no verb {verb!r}", hint=did_you_mean(verb, TERMINAL_VERBS))
    if not TERMINAL_VERBS[verb].waits and call.fields.get("wait_for") is None:
        return await call.ask(verb)
    with call.services.metrics.waits.track_inprogress():
        answer = await _until_disconnect(call.ask(verb), call.request)
    return answer if answer is not None else Response(b"", DISCONNECTED, media_type=JSON)


async def _until_disconnect(asked: Coroutine[Any, Any, dict[str, Any]], request: Request) -> dict[str, Any] | None:
    """The answer; None when the client disconnects before there is one, and the wait is cancelled."""
    answering = asyncio.ensure_future(asked)
    leaving = asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        return answering.result() if answering.done() else None
    finally:
        answering.cancel()
        leaving.cancel()


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


ROUTES = (Route("POST", f"{C}/pty/{{verb}}", pty),)
