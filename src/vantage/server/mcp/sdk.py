"""MCP, by the official SDK: our tools, resources and prompts as its server, over any stream of messages and over HTTP.

Importing the SDK takes a second, so nothing imports this file but `mcp_mount`, beside the server's start.
"""

import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import mcp_types as types
import structlog
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from starlette.requests import Request
from starlette.types import Message

from vantage import __version__
from vantage.errors import VantageError
from vantage.server.config import Config, is_loopback
from vantage.server.mcp import calls
from vantage.server.mcp.calls import Caller
from vantage.server.mcp.greeting import (
    NAME,
    PROMPT,
    RESOURCES,
    TEMPLATES,
    TITLE,
    TOOLS_TTL_MS,
    as_listed,
    resources,
)
from vantage.server.mcp.tools import INSTRUCTIONS, TOOLS, listed
from vantage.server.mcp.words import error_text
from vantage.server.services import Services

log = structlog.get_logger("vantage.server")
logging.getLogger("mcp").setLevel(logging.WARNING)  # below that it logs messages, which contain secrets

MAX_BODY = 16 << 20
MAX_SESSIONS = 1000
_LISTED = 50
"""How many conversations are listed as resources."""
_OUR_FAULT = "something went wrong inside Vantage; its log says where. Call pty_status, then try again"

_URI = re.compile(r"vantage://conversations/([^/?#]+)/(display|screen)")
Context = ServerRequestContext[Any, Any]


def make_server(who: Callable[[Context], Caller]) -> Server[Any]:
    """The MCP server; `who` returns the caller of a request."""

    async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        caller = who(context)
        tools = listed(caller.tools, reading=caller.scope == "read")
        return types.ListToolsResult(tools=[types.Tool.model_validate(as_listed(each)) for each in tools])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        caller = who(context)
        caller.name = caller.name or _name(context, caller)
        try:
            given, progress = params.arguments or {}, context.session.report_progress
            answer = await calls.answer(caller, params.name, given, progress, params.meta)
        except VantageError as error:
            raise _refused(error) from error
        except Exception:
            log.exception("a tool failed", tool=params.name)
            raise MCPError(code=types.INTERNAL_ERROR, message=_OUR_FAULT) from None
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=answer.fields,
            is_error=answer.error is not None,
            _meta={"vantage/error": answer.error} if answer.error else None,
        )

    async def list_resources(context: Context, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        caller = who(context)
        if caller.conversation:
            found = [caller.conversation]
        else:
            said = await caller.services.bus.request("", "list")
            reached = [
                each["id"] for each in said["conversations"] if caller.reach is None or caller.reach.has(each["id"])
            ]
            found = reached[:_LISTED]
        listed_here = [types.Resource.model_validate(each) for id in found for each in resources(id)]
        return types.ListResourcesResult(resources=listed_here)

    async def list_templates(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        known = [types.ResourceTemplate.model_validate(each) for each in TEMPLATES]
        return types.ListResourceTemplatesResult(resource_templates=known)

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        found = _URI.fullmatch(str(params.uri))
        if found is None:
            raise MCPError(
                code=types.INVALID_PARAMS,
                message=f"there is no resource {str(params.uri)!r}: there are vantage://conversations/<id>/display "
                "and vantage://conversations/<id>/screen",
            )
        request, mime, _ = RESOURCES[found[2]]
        try:
            _, text = await calls.look(who(context), found[1], request)
        except VantageError as error:
            raise _refused(error) from error
        contents = types.TextResourceContents(uri=params.uri, mime_type=mime, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt.model_validate(PROMPT)])

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT["name"]:
            raise MCPError(code=types.INVALID_PARAMS, message=f"there is no prompt {params.name!r}: there is 'display'")
        try:
            _, text = await calls.look(who(context), (params.arguments or {}).get("conversation_id"), "instructions")
        except VantageError as error:
            raise _refused(error) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=TOOLS_TTL_MS)},
        get_tool_input_schema=_input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    server.middleware.clear()  # it would send every message to a tracer
    return server


def _input_schema(name: str) -> dict[str, Any] | None:
    return TOOLS[name].takes if name in TOOLS else None


def _refused(error: VantageError) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=error_text(error), data={"code": error.code})


def _name(context: Context, caller: Caller) -> str:
    """The label of a conversation in a list: which agent's it is, and in which directory."""
    client = context.session.client_params
    name = (client.client_info.title or client.client_info.name) if client is not None else ""
    folder = str(caller.settings.get("cwd", "")).rstrip("/").rpartition("/")[2]
    return f"{name} in {folder}"[:200] if name and folder else name[:200]


# over HTTP


def user(token_id: str) -> AuthenticatedUser:
    """The caller in the SDK's terms: it answers 404 to a session id that another user opened."""
    return AuthenticatedUser(AccessToken(token="", client_id=token_id, scopes=[]))


class _Session(NamedTuple):
    caller: Caller
    release: Callable[[], None]
    """Stops watching the token."""


class HttpCallers:
    """The callers over HTTP: each by the request's token, and, if the protocol has sessions, by the session that it
    opened.
    """

    def __init__(self, services: Services, end: Callable[[str, str], None]) -> None:
        """`end` is given a session id and the token that opened it, once that token was revoked."""
        self._services = services
        self._end = end
        self._sessions: dict[str, _Session] = {}
        self._told: set[str] = set()

    def who(self, context: Context) -> Caller:
        request = context.request
        assert isinstance(request, Request)
        asked = request.query_params
        session = request.headers.get("mcp-session-id")
        known = self._sessions.get(session) if session else None
        caller = known.caller if known else None
        if caller is None:
            caller = Caller(self._services, remembers=session is not None, conversation=asked.get("conversation"))
            if not session:
                if len(self._told) > MAX_SESSIONS:
                    self._told.clear()
                caller.told = self._told
            else:
                while len(self._sessions) >= MAX_SESSIONS:
                    self._forget(next(iter(self._sessions)))
                self._sessions[session] = _Session(caller, self._watch(session, request.scope["state"]["token_id"]))
        caller.tools = "all" if asked.get("tools") == "all" else "core"
        # of this request: the next one may bring another token
        state = request.scope["state"]
        caller.scope = state.get("token_scope") or "read"
        caller.reach = state["reach"] if caller.scope == "agent" else None
        return caller

    def _watch(self, session: str, token_id: str) -> Callable[[], None]:
        def end() -> None:
            self._forget(session)
            self._end(session, token_id)

        return self._services.revocations.hold(token_id, end)

    def _forget(self, session: str) -> None:
        self._sessions.pop(session).release()


@asynccontextmanager
async def serving_http(services: Services) -> AsyncIterator[StreamableHTTPSessionManager]:
    """Takes requests at `/mcp` while it is entered."""
    async with anyio.create_task_group() as ending:

        def end(session: str, token_id: str) -> None:
            ending.start_soon(_end_session, manager, session, token_id)

        manager = _manager(services, HttpCallers(services, end))
        async with manager.run():
            yield manager
        ending.cancel_scope.cancel()


def _manager(services: Services, callers: HttpCallers) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        make_server(callers.who),
        security_settings=_security(services.config),
        max_request_body_size=MAX_BODY,
        max_sessions=MAX_SESSIONS,
    )


async def _end_session(manager: StreamableHTTPSessionManager, session: str, token_id: str) -> None:
    """Ends a session as its own client would: with DELETE. What still runs in it is cancelled."""
    headers = [(b"mcp-session-id", session.encode()), (b"host", b"localhost")]
    scope = {"type": "http", "method": "DELETE", "path": "/mcp", "query_string": b"", "headers": headers}

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_: Message) -> None:
        pass

    await manager.handle_request({**scope, "user": user(token_id), "state": {}}, receive, send)


def _security(config: Config) -> TransportSecuritySettings:
    """The SDK's own check of Host and Origin. Our guard in front of it also knows ports and addresses."""
    names = ["localhost", "127.0.0.1", "[::1]", config.host, *config.hosts]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=is_loopback(config.host),
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*config.origins, *(f"http://{name}{port}" for name in names for port in ("", ":*"))],
    )


# over a stream of lines


def decode(line: bytes) -> SessionMessage:
    """A message of a line; raises ValueError."""
    return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))


def encode(message: SessionMessage) -> bytes:
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
