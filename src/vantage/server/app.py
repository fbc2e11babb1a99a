"""The application: every face in one, behind one guard."""

from litestar import Litestar

from vantage.server.guard import Guard
from vantage.server.http import exception_handlers, http_routes
from vantage.server.login import login_routes
from vantage.server.mcp_mount import McpMount
from vantage.server.origins import Origins
from vantage.server.services import Services
from vantage.server.sockets import socket_routes
from vantage.server.static import static_routes


def make_app(services: Services) -> Guard:
    mcp = McpMount(services)
    app = Litestar(
        [*http_routes(services), *login_routes(services), *socket_routes(services), *mcp.routes(), *static_routes()],
        lifespan=[mcp.lifespan],
        exception_handlers=exception_handlers(services),
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,  # the guard has seen to it
    )
    return Guard(app, services, Origins(services.config, services.port))  # type: ignore[arg-type]
