"""What the faces of the server work with: the bus, never a conversation itself."""

from dataclasses import dataclass, field
from pathlib import Path

from vantage.conversation.bus import Bus
from vantage.conversation.hub import Hub
from vantage.server.auth import Auth
from vantage.server.config import Config
from vantage.server.metrics import Metrics
from vantage.server.tokens import Tokens


@dataclass(slots=True)
class Services:
    bus: Bus
    hub: Hub
    home: Path
    config: Config
    tokens: Tokens
    url: str = ""
    """The base address, once it is known: no path, no token."""
    port: int = 0
    """That the server listens on; the configured one may be 0."""
    metrics: Metrics = field(default_factory=Metrics)
    auth: Auth = field(init=False)

    def __post_init__(self) -> None:
        config = self.config
        self.auth = Auth(self.tokens, self.port or config.port, days=config.session_days, failures=config.login_limit)
