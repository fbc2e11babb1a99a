"""The verbs of a terminal over HTTP: `POST …/pty/<verb>`, one path for all of them."""

from typing import Any

from vantage.conversation.verbs.table import TERMINAL_VERBS
from vantage.errors import NotFound, did_you_mean
from vantage.server.http.held import held
from vantage.server.http.route import C, Call, Route


async def pty(call: Call) -> Any:
    """Do what a verb says."""
    verb = call.request.path_params["verb"]
    if verb not in TERMINAL_VERBS:
        raise NotFound(f"there is no verb {verb!r}", hint=did_you_mean(verb, TERMINAL_VERBS))
    if not TERMINAL_VERBS[verb].waits and call.fields.get("wait_for") is None:
        return await call.ask(verb)
    return await held(call, call.ask(verb))


ROUTES = (Route("POST", f"{C}/pty/{{verb}}", pty),)
