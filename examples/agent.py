"""A whole agent in a page: any OpenAI-compatible model, a real terminal, a timeline that people can read.

OPENAI_BASE_URL=http://localhost:11434/v1 MODEL=qwen3 python examples/agent.py "play ./examples/guess and win"

Each further argument is the message of another turn. Every turn's instructions are made for the window as it is then.
"""

import asyncio
import json
import os
import sys
import urllib.request
from typing import Any

from vantage import Timeline, open_terminal, profile, render
from vantage.conversation.verbs.agent_terminal import AgentTerminal
from vantage.errors import VantageError
from vantage.presentation import system_instructions

BASE = "You are a careful assistant with a real terminal. Use its tools; say in the end what you found."


def tool(name: str, description: str, required: tuple[str, ...] = (), **parameters: dict) -> dict:
    schema = {"type": "object", "properties": parameters, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
TOOLS = [
    tool("exec_block", "Run a shell command; returns its output and exit code.", ("command",), command=TEXT),
    tool("exec_interactive", "Start a program to talk to: a REPL, a game, a debugger.", ("command",), command=TEXT),
    tool("send", "Type text into the running program. \\r presses Enter.", ("data",), data=TEXT),
    tool(
        "wait_for",
        "Wait until a text appears in the output after the cursor; PROMPT waits for the shell.",
        ("match",),
        match=TEXT,
        regex={"type": "boolean"},
        from_cursor=NUMBER,
        timeout_ms=NUMBER,
    ),
    tool("read_screen", "What is on the screen now."),
]
NAMES = [each["function"]["name"] for each in TOOLS]


class Agent:
    def __init__(self, terminal: AgentTerminal) -> None:
        self.terminal = terminal
        self.timeline = Timeline()
        self.display = profile("terminal")
        self.messages: list[dict[str, Any]] = []
        self.shown = 0

    def emit(self, type: str, **fields: Any) -> None:
        """Adds an event to the timeline, and prints the rows that are complete."""
        self.timeline.add({"type": type, **fields})
        rows = self.timeline.rows
        done = next((place for place, row in enumerate(rows) if self.timeline.is_open(row.id)), len(rows))
        if done > self.shown:
            print(render(rows[self.shown : done], self.display), end="\n\n", flush=True)
            self.shown = done

    async def run(self, task: str) -> None:
        self.display = profile("terminal")  # the window may have another size than in the last turn
        instructions = system_instructions({"base": BASE}, presentation=self.display)
        self.messages[:1] = [{"role": "system", "content": instructions}]
        self.emit("user_message", text=task)
        self.messages.append({"role": "user", "content": task})
        while True:
            answer = await asyncio.to_thread(ask, self.messages)
            self.messages.append(answer)
            if answer.get("content"):
                self.emit("assistant_text", text=answer["content"])
            if not answer.get("tool_calls"):
                break
            for call in answer["tool_calls"]:
                result = await self.call(call["id"], call["function"]["name"], call["function"]["arguments"])
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
        self.emit("turn_complete")

    async def call(self, call_id: str, name: str, arguments: str) -> dict[str, Any]:
        """What the model asked for. Errors go back to it: they say what to do instead."""
        self.emit("tool_start", tool=name, toolCallId=call_id, args=arguments)
        try:
            if name not in NAMES:
                raise VantageError(f"there is no tool {name}", hint=f"use one of {', '.join(NAMES)}")  # noqa: TRY301
            result = (await getattr(self.terminal, name)(**json.loads(arguments or "{}"))).to_dict()
            self.emit("tool_end", toolCallId=call_id, output=shown(result))
        except (VantageError, TypeError, ValueError) as error:
            result = {"ok": False, "error": str(error)}
            self.emit("tool_end", toolCallId=call_id, error=str(error))
        return result


def shown(result: dict[str, Any]) -> str:
    """The part of a result that a person wants to see."""
    return next((result[key] for key in ("output", "match_text", "text") if result.get(key)), "")


def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """One answer of the model."""
    base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    request = urllib.request.Request(  # noqa: S310
        f"{base}/chat/completions",
        json.dumps({"model": os.environ.get("MODEL", "gpt-5.5"), "messages": messages, "tools": TOOLS}).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"},
    )
    with urllib.request.urlopen(request) as response:  # noqa: S310
        return json.load(response)["choices"][0]["message"]


async def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    async with open_terminal(cwd=os.getcwd()) as terminal:  # noqa: PTH109
        agent = Agent(terminal)
        for task in sys.argv[1:]:
            await agent.run(task)


if __name__ == "__main__":
    asyncio.run(main())
