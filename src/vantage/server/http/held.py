"""Calls that are held until something happens. A client that disconnects ends its wait."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from vantage.server.http.answers import JSON
from vantage.server.http.route import Call

DISCONNECTED = 499
"""The status in the metrics of a request whose client disconnected."""


async def held(call: Call, asked: Coroutine[Any, Any, dict[str, Any]]) -> Any:
    """The answer, once there is one."""
    with call.services.metrics.waits.track_inprogress():
        answer = await _until_disconnect(asked, call.request)
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
