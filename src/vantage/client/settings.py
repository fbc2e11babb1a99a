"""The settings of `connect` and of a new conversation, for blocking and asyncio clients alike."""

import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import msgspec

from vantage.client import requests
from vantage.client.endpoint import Endpoint, HomeEndpoint, UrlEndpoint
from vantage.client.environment import shell_environment
from vantage.client.home_files import TOKEN
from vantage.client.requests import Request
from vantage.conversation.store.home import home as default_home
from vantage.errors import InputError
from vantage.events import Event, event_to_dict

Place = str | os.PathLike[str]


class Settings(TypedDict, total=False):
    """How a conversation is made. A field that is not given has the server's default."""

    name: str
    shell: str
    """`bash`, `zsh`, `fish`, `sh` or a path."""
    cwd: Place
    """Default: the working directory of this process."""
    env: Mapping[str, str]
    """Default: the environment of this process."""
    cols: int
    rows: int
    user_rc: bool
    allow_secret_input: bool
    engine: str


class Question(TypedDict, total=False):
    """More about a question to a person, as `POST …/requests` takes it."""

    request_id: str
    """Asked again with the same id, it is the same request."""
    kind: str
    """`question` or `approval`."""
    text: str
    """Markdown."""
    tool: str
    args: Any
    cwd: str
    details: str
    """A diff, for example."""
    schema: Mapping[str, Any]
    """A form, as JSON Schema of an object."""
    expires: int
    """When it closes without an answer, in milliseconds since the epoch."""


def creation(conversation: str | None, settings: Settings) -> Request:
    """The request that makes a conversation."""
    cwd, env = settings.get("cwd"), settings.get("env")
    fields: dict[str, Any] = {
        **settings,
        "id": conversation,
        "cwd": os.path.abspath(os.path.expanduser(cwd or ".")),  # noqa: PTH100, PTH111 -- the server is elsewhere
        "env": shell_environment() if env is None else dict(env),
    }
    return requests.create(fields)


class AgentSettings(TypedDict, total=False):
    """How an agent is started. What is left out is the conversation's, or the agent's own default."""

    command: Sequence[str]
    """Its program, where that is not found by its name."""
    cwd: Place
    env: Mapping[str, str]
    """Its whole environment."""
    model: str
    mode: str
    """The agent's own name of its permission mode."""
    resume: str
    """The session to continue."""


def agent_start(conversation: str, agent: str, settings: AgentSettings) -> Request:
    """The request that starts an agent."""
    cwd, env = settings.get("cwd"), settings.get("env")
    fields: dict[str, Any] = {
        **settings,
        "command": list(settings["command"]) if "command" in settings else None,
        "cwd": os.path.abspath(os.path.expanduser(cwd)) if cwd is not None else None,  # noqa: PTH100, PTH111
        "env": dict(env) if env is not None else None,
    }
    return requests.start_agent(conversation, agent, fields)


def endpoint_of(home: Place | None, url: str | None, token: str | None, *, start: bool) -> Endpoint:
    """Where to ask: at a URL, or in a home."""
    if url is None:
        if token is not None:
            raise InputError("a token goes with a url", hint=f"give url too, or set {TOKEN}")
        place = os.fspath(home) if home is not None else default_home(os.environ)
        return HomeEndpoint(os.path.abspath(os.path.expanduser(place)), may_start=start)  # noqa: PTH100, PTH111
    if home is not None:
        raise InputError("a server has a home or a url", hint="give one of them")
    token = token or os.environ.get(TOKEN)
    if token is None:
        raise InputError("a url needs a token", hint=f"give token, or set {TOKEN}: 'vantage token new' makes one")
    return UrlEndpoint(url, token)


def client_id() -> str:
    """What a subscriber is called; no two are called the same."""
    return f"python-{os.getpid()}-{secrets.token_hex(4)}"


def event_fields(event: Event | Mapping[str, Any] | Sequence[Event | Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One event or several, as JSON objects."""
    several = event if isinstance(event, Sequence) else [event]
    return [event_to_dict(each) if isinstance(each, msgspec.Struct) else each for each in several]
