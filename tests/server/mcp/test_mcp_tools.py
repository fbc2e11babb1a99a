"""The list of tools, as a model gets it: complete, in its own words, and not too long."""

import json

import pytest
from jsonschema import Draft202012Validator

from mcp_clients import CARRIERS, agent, over_http, over_stdio, read_only
from vantage.conversation.verbs.table import TERMINAL_VERBS as VERBS

CORE = [
    "pty_exec_block",
    "pty_exec_interactive",
    "pty_send",
    "pty_keys",
    "pty_wait_for",
    "pty_read_screen",
    "pty_status",
    "pty_end_session",
    "pty_read_block",
    "ask_person",
]
BUDGET = 2500
"""Characters / 4 of name, description and inputSchema as JSON, of all core tools together."""


async def test_the_core_tools_are_few_and_cost_little(server):
    async with over_stdio(server.home) as core:
        tools = await core.tools()
    assert list(tools) == CORE
    shown = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in tools.values()
    ]
    assert sum(len(json.dumps(tool)) for tool in shown) / 4 <= BUDGET


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_all_tools_are_every_verb_and_three_more(server, carrier):
    async with agent(server, carrier) as all_tools:
        tools = await all_tools.tools()
    assert list(tools)[: len(CORE)] == CORE
    assert set(tools) == {*(f"pty_{verb}" for verb in VERBS), "ask_person", "timeline_emit", "display_context"}


async def test_every_tool_says_what_it_is_takes_and_returns(server):
    async with agent(server) as all_tools:
        tools = await all_tools.tools()
    for name, tool in tools.items():
        assert tool.title, name
        assert len(tool.description) > 40, name
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert "$ref" not in json.dumps(schema), name
        assert tool.input_schema["properties"]["conversation_id"]["description"], name
        assert tool.output_schema["additionalProperties"] is False, name
        assert "required" not in tool.output_schema, f"{name}: a field without news is left out"
        assert {"conversation_id", "note", "watch"} <= set(tool.output_schema["properties"]), name
        assert None not in tool.annotations.model_dump().values(), name


async def test_words_are_those_of_the_tools(server):
    """A model that reads `read_screen` would look for a tool of that name, unless it is a field of this one."""
    async with agent(server) as all_tools:
        tools = await all_tools.tools()
    for name, tool in tools.items():
        words = tool.description + json.dumps(tool.input_schema)
        for verb in VERBS:
            if "_" in verb and verb not in tool.input_schema["properties"]:
                assert words.count(verb) == words.count(f"pty_{verb}"), f"{name} speaks of {verb}"


@pytest.mark.parametrize(
    ("hint", "tools"),
    [
        (
            "read_only_hint",
            {f"pty_{verb}" for verb, known in VERBS.items() if known.reads} | {"pty_wait_for", "display_context"},
        ),
        (
            "destructive_hint",
            {f"pty_{verb}" for verb, known in VERBS.items() if not known.reads} - {"pty_wait_for", "pty_resize"},
        ),
        (
            "open_world_hint",
            {f"pty_{verb}" for verb, known in VERBS.items() if not known.reads} - {"pty_wait_for", "pty_resize"},
        ),
    ],
)
async def test_annotations(server, hint, tools):
    async with agent(server) as all_tools:
        listed = await all_tools.tools()
    assert {name for name, tool in listed.items() if getattr(tool.annotations, hint)} == tools


async def test_a_read_only_token_is_offered_the_reading_tools(server):
    async with over_http(server, "?tools=all", token=read_only(server)) as watcher:
        tools = await watcher.tools()
    assert set(tools) == {f"pty_{verb}" for verb, known in VERBS.items() if known.reads} | {"display_context"}


async def test_the_server_explains_itself(server):
    async with over_stdio(server.home) as core:
        assert core.client.server_info.name == "vantage"
        assert "pty_wait_for" in core.client.instructions
        assert len(core.client.instructions) / 4 < 300


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer guessed"}, 401),
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
    ],
)
def test_over_http_not_everybody_is_let_in(server, headers, status):
    token = "" if status == 401 else None
    how = {"Accept": "application/json, text/event-stream", **headers}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
    assert server.post("/mcp", asked, token=token, headers=how).status == status
