"""The verbs, in one table: those of a terminal, those of a conversation, and those of the home.

To add a verb, write its parameters and result, declare its function with `@verb`, and list it here. HTTP, MCP and
OpenAPI then have it; `AgentTerminal` has a typed method for each verb of a terminal.
"""

from typing import Any

from vantage.conversation.verbs.conversation import agent, assets, displays, events, life, people, requests, specs
from vantage.conversation.verbs.conversation.target import Home, Target
from vantage.conversation.verbs.terminal import ending, inputs, output, run, screen, wait
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.verb import Verb, verb_table

TERMINAL_VERBS: dict[str, Verb[PtyTerminal, Any, Any]] = verb_table(
    run.exec_block,
    run.exec_interactive,
    inputs.send,
    inputs.keys,
    inputs.ctrl_c,
    inputs.ctrl_d,
    inputs.enter,
    inputs.mouse,
    wait.wait_for,
    output.status,
    ending.end_session,
    ending.reset,
    ending.resize,
    output.read_raw,
    output.read_spool,
    screen.read_screen,
    screen.read_screen_deltas,
    screen.screen_status,
    screen.read_scrollback,
    output.blocks,
    output.read_block,
    output.search,
)
"""Requested as `POST /v1/conversations/{id}/pty/{name}`, and as the MCP tool `pty_{name}`."""

CONVERSATION_VERBS: dict[str, Verb[Target, Any, Any]] = verb_table(
    life.describe,
    life.change,
    life.close,
    life.delete,
    events.append,
    events.events,
    displays.set_client,
    displays.drop_client,
    displays.claim_client,
    displays.client,
    displays.clients,
    displays.set_agent,
    displays.drop_agent,
    displays.instructions,
    specs.set_tool,
    specs.tools,
    specs.specs,
    assets.put_asset,
    assets.get_asset,
    requests.ask,
    requests.request,
    requests.answer_request,
    requests.withdraw,
    people.take_keyboard,
    people.release_keyboard,
    people.type_,
    people.drop_held,
    agent.start_agent,
    agent.agent,
    agent.end_agent,
    agent.say,
    agent.interrupt,
)

HOME_VERBS: dict[str, Verb[Home, Any, Any]] = verb_table(
    life.create,
    life.list_,
    life.numbers,
    requests.requests,
    specs.set_common_tool,
    specs.common_tools,
    agent.agents,
)
