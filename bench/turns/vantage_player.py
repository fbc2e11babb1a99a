"""Our tools, played over MCP with the official client: `vantage mcp` with its core tools, one process for each task."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.run.answers import Several
from bench.server import Server
from bench.turns.count import Call, Played, Sheet, Wrong, compact, list_tokens, play_all
from bench.turns.steps import READ_SCREEN, Step, apart
from bench.turns.tasks import TASKS, Task

WAIT_S = 120


def played(*, former: bool = False, tasks: Sequence[Task] = TASKS) -> Sheet:
    """Every task, in today's calls or in the `former` pattern: a call, and a second call that waits.

    The server is new, since a task may name a second terminal.
    """
    server = Server()

    def play(task: Task, home: Path) -> Played:
        calls: list[Call] = []
        wrong = asyncio.run(_play(task, apart(task.ours) if former else task.ours, server.home, home, calls))
        if wrong is not None:
            raise Wrong(task.name, calls[-1], wrong.shows)
        return Played(task.name, calls)

    return Sheet(play_all(play, tasks), asyncio.run(_tools(server.home)))


def ours(_corpus: Path) -> Callable[[], Several]:
    return lambda: played().sums


def before(_corpus: Path) -> Callable[[], Several]:
    return lambda: played(former=True).sums


def _client(vantage_home: str, home: Path, where: Path) -> Client:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    args = ["-P", "-m", "vantage", "mcp", "--home", vantage_home]
    return Client(stdio_client(StdioServerParameters(command=sys.executable, args=args, env=env, cwd=where)))


async def _tools(vantage_home: str) -> int:
    async with _client(vantage_home, Path.cwd(), Path.cwd()) as client:
        tools = (await client.list_tools()).tools
    return list_tokens(
        [{"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools]
    )


async def _play(task: Task, steps: Iterable[Step], vantage_home: str, home: Path, calls: list[Call]) -> Step | None:
    """Makes the calls. Gives the step whose answer is wrong, if one is: raised in here, it would be in a group."""
    async with _client(vantage_home, home, home / "project" / task.where) as client:

        async def shown(step: Step) -> str | None:
            answer = await client.call_tool(step.tool, step.args, WAIT_S)
            text = "\n".join(part.text for part in answer.content if part.type == "text")
            fields = answer.structured_content
            calls.append(Call(step.tool, compact(step.args), compact(fields) if fields else text, text))
            return None if answer.is_error or _timed_out(fields) else "\n".join(_texts(fields))

        for step in steps:
            seen = await shown(step)
            if seen is not None and not _has(seen, step.shows):
                seen = await shown(READ_SCREEN)
            if seen is None or not _has(seen, step.shows):
                return step
    return None


def _timed_out(fields: dict[str, Any]) -> bool:
    return fields.get("reason") == "timeout" or not fields.get("matched", True)


def _has(seen: str, shows: Sequence[str]) -> bool:
    return all(text in seen for text in shows)


def _texts(value: Any) -> Iterator[str]:
    """Every text in an answer's fields, in whatever field it is."""
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
