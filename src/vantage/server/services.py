"""What HTTP, WebSocket and MCP share. They reach conversations over the bus only."""

from dataclasses import dataclass, field
from pathlib import Path

from vantage.conversation.bus import Bus
from vantage.conversation.feed.hub import Hub
from vantage.server.config import Config
from vantage.server.metrics import Metrics
from vantage.server.security.auth import Auth
from vantage.server.security.revocations import Revocations
from vantage.server.security.tokens import MAIN, Tokens
from vantage.server.ws.presence import Presence


@dataclass(slots=True)
class Services:
    bus: Bus
    hub: Hub
    home: Path
    config: Config
    tokens: Tokens
    url: str = ""
    """The base address: no path, no token."""
    port: int = 0
    """The port that the server listens on; the configured one may be 0."""
    start_error: Exception | None = None
    """The error that kept a part of the server from starting."""
    metrics: Metrics = field(default_factory=Metrics)
    auth: Auth = field(init=False)
    revocations: Revocations = field(init=False)
    presence: Presence = field(init=False)

    def __post_init__(self) -> None:
        config, tokens = self.config, self.tokens
        self.presence = Presence(self.bus)
        self.revocations = Revocations(lambda token_id: tokens.by_id(token_id) is not None, forever=MAIN)
        self.auth = Auth(tokens, days=config.session_days, failures=config.login_limit)
