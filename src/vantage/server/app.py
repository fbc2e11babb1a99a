"""The application: HTTP, WebSocket and MCP behind one guard."""

from vantage.server.http.dispatch import Dispatch
from vantage.server.http.table import PAGES, ROUTES
from vantage.server.mcp.mount import McpMount
from vantage.server.security.guard import Guard
from vantage.server.security.origins import Origins
from vantage.server.services import Services
from vantage.server.ws.sockets import socket_routes


def make_app(services: Services) -> Guard:
    mcp = McpMount(services)
    others = [*socket_routes(services), *mcp.routes()]
    app = Dispatch(services, (*ROUTES, *PAGES), others, mcp.lifespan)
    return Guard(app, services, Origins(services.config, services.port))
