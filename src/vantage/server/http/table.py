"""Every HTTP path of the server, in one table. The WebSocket and MCP are ASGI applications beside it."""

from dataclasses import dataclass

from vantage.server.http.route import Route
from vantage.server.http.routes import about, agent, conversations, requests, static, terminal, timeline
from vantage.server.security import login, sessions


@dataclass(frozen=True, slots=True)
class Section:
    """Routes that form a section of the OpenAPI document."""

    name: str
    description: str
    routes: tuple[Route, ...]


SECTIONS = (
    Section("conversations", "A conversation is a terminal, a log and its clients.", conversations.ROUTES),
    Section("agent", "The agent that Vantage runs in a conversation.", agent.ROUTES),
    Section("terminal", "The agent's terminal: run, type, wait, see.", terminal.ROUTES),
    Section("timeline", "What happened, as events and as rows.", timeline.ROUTES),
    Section("requests", "Questions to a person: each has at most one answer.", requests.ROUTES),
    Section("server", "The server itself.", (*about.ROUTES, *sessions.ROUTES)),
)
ROUTES = tuple(route for section in SECTIONS for route in section.routes)
"""The interface under /v1, and the paths for monitoring."""
LOGIN = login.ROUTES
PAGES = (*LOGIN, *static.ROUTES)
"""What a browser loads before it has a session: the pages and their files, and the login."""
