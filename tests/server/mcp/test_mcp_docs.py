"""The page about MCP: its calls give what it says, its configuration starts what it says, its tools are all of them."""

import json
import re
import shlex

import pytest

from mcp_clients import Refused, agent
from places import ROOT
from vantage.cli.commands.agents.mcp import mcp as command
from vantage.server.mcp.tools import CORE, TOOLS

PAGE = (ROOT / "docs/mcp.md").read_text()
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"(?P<tool>\w+) (?P<arguments>\{.*\})\n(?P<mark>[→✗]) (?P<answer>.*)\n")
TRANSCRIPTS = [code for kind, code in FENCE.findall(PAGE) if kind == "text"]
GUESS = "printf 'Guess a number: '; read -r n; [ $n = 7 ] && echo Correct\n"


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=["game", "answers", "waits", "errors", "secrets"])
async def test_calls_give_what_the_page_says(server, transcript):
    (server.home / "guess.sh").write_text(GUESS)
    lines = list(LINE.finditer(transcript))
    assert "".join(line[0] for line in lines) == transcript
    async with agent(server) as user:
        for line in lines:
            arguments = json.loads(line["arguments"])
            if line["mark"] == "✗":
                with pytest.raises(Refused) as refused:
                    await user.call(line["tool"], **arguments)
                assert refused.value.text.startswith(line["answer"])
                continue
            given = await user.call(line["tool"], **arguments)
            for name, value in json.loads(line["answer"]).items():
                assert name in given
                assert value in (given[name], "…")


def test_the_configuration_is_a_command_of_ours():
    (config,) = [json.loads(code) for kind, code in FENCE.findall(PAGE) if kind == "json"]
    server = config["mcpServers"]["vantage"]
    assert (server["command"], server["args"]) == ("vantage", ["mcp"])
    (first,) = [shlex.split(code) for kind, code in FENCE.findall(PAGE) if kind == "sh"]
    assert first[first.index("--") + 1 :] == ["vantage", "mcp"]
    (over_http,) = [json.loads(code) for kind, code in FENCE.findall(PAGE) if kind == "jsonc"]
    assert over_http["mcpServers"]["vantage"]["url"].endswith("/mcp?tools=all")
    assert over_http["mcpServers"]["vantage"]["headers"] == {"Authorization": "Bearer ${VANTAGE_TOKEN}"}
    flags = {flag for parameter in command.params for flag in parameter.opts}
    assert {"--conversation", "--tools", "--home"} <= flags
    assert all(flag in PAGE for flag in flags)


def test_every_tool_is_named():
    tables = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    named = [name for row in tables for name in re.findall(r"`(\w+)`", row)]
    assert named[: len(CORE)] == list(CORE)
    assert sorted(named) == sorted(TOOLS)
    assert set(re.findall(r"`(pty_\w+)`", PAGE)) <= set(TOOLS)
