"""Conversations over HTTP: their life, the displays of their clients and agents, their tools and pictures."""

import base64
from typing import Annotated, Any

from msgspec import Meta
from starlette.responses import Response

from vantage.conversation.store.clock import now_ms
from vantage.conversation.verbs.conversation import assets, displays, life, specs
from vantage.conversation.verbs.verb import Done, NoParams, Result
from vantage.server.http.route import C, Call, File, Route, verb_route

PICTURE = File("The picture.", ("image/png", "image/jpeg", "image/gif", "image/webp"), binary=True)


class ListedClient(displays.Client, kw_only=True):
    connected: Annotated[bool, Meta(description="Whether a socket of this client is open")]


class ListedClients(Result):
    clients: Annotated[tuple[ListedClient, ...], Meta(description="The displays that count")]


async def list_conversations(call: Call) -> Any:
    """All conversations, the last used first."""
    answer = await call.ask("list")
    answer["conversations"] = [each for each in answer["conversations"] if call.reach.has(each["id"])]
    return answer


async def create_conversation(call: Call) -> Any:
    """Make a conversation. Its shell starts with the first verb that needs it."""
    return await call.ask("create", created_by=call.reach.conversation)


async def list_clients(call: Call) -> Any:
    """The displays that count for what the agent is told, and whether each is connected."""
    answer = await call.ask("clients")
    presence = call.services.presence
    for client in answer["clients"]:
        name = client["client_id"]
        client["connected"] = presence.connected(name, call.conversation)
        left = presence.left_at(name, call.conversation)
        client["last_seen"] = now_ms() if client["connected"] else left or client.get("last_seen")
    return answer


async def set_client(call: Call) -> Any:
    """Say what a display can show. It counts until it is taken away."""
    return await call.ask("set_client", keep=True, read_only=False, owner=call.token_id)


async def drop_client(call: Call) -> Any:
    """Take a display away."""
    return await call.ask("drop_client", owner="")


async def get_asset(call: Call) -> Any:
    """A picture of the conversation."""
    read = await call.ask("get_asset")
    return Response(base64.b64decode(read["data_b64"]), media_type=read["media"])


ROUTES = (
    Route("GET", "/v1/conversations", list_conversations, NoParams, life.Descriptions),
    Route("POST", "/v1/conversations", create_conversation, life.Create, life.Description, 201, errors=(409,)),
    verb_route("GET", C, "get_conversation", life.describe),
    verb_route("PATCH", C, "change_conversation", life.change),
    verb_route("DELETE", C, "delete_conversation", life.delete),
    verb_route("POST", f"{C}/close", "close_conversation", life.close),
    Route("GET", f"{C}/clients", list_clients, NoParams, ListedClients),
    Route("PUT", f"{C}/clients/{{client_id}}", set_client, displays.SetClient, displays.Configured, errors=(409,)),
    Route("DELETE", f"{C}/clients/{{client_id}}", drop_client, NoParams, Done),
    verb_route("PUT", f"{C}/agents/{{agent_id}}", "set_agent", displays.set_agent),
    verb_route("DELETE", f"{C}/agents/{{agent_id}}", "drop_agent", displays.drop_agent),
    verb_route("GET", f"{C}/instructions", "read_instructions", displays.instructions),
    verb_route("GET", f"{C}/tools", "list_tools_of_conversation", specs.tools),
    verb_route("PUT", f"{C}/tools/{{tool}}", "set_tool_of_conversation", specs.set_tool),
    verb_route("PUT", f"{C}/assets/{{asset}}", "put_asset", assets.put_asset),
    Route("GET", f"{C}/assets/{{asset}}", get_asset, NoParams, PICTURE),
    verb_route("GET", "/v1/tools", "list_tools", specs.common_tools),
    verb_route("PUT", "/v1/tools/{tool}", "set_tool", specs.set_common_tool),
)
