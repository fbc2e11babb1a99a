"""An agent without a model that speaks the Agent Client Protocol, and does what the lines of a message say.

`text WORDS` says them, `ask COMMAND` asks for leave to run it and says what came of it, `display` says the display
instruction of the turn, `flood N` says N lines, `hang` does nothing until it is cancelled, `die STATUS` ends with a
status and a word on stderr. What it says ends with a line feed. It continues sessions, and repeats what was said in
them as the protocol wants it, unless `--forgets` is given. Everything that it reads is added to the file that RECEIVED
names.
"""

import itertools
import os
import sys
from functools import partial

import scripted_lines
from scripted_lines import read

put = partial(scripted_lines.put, jsonrpc="2.0")
NUMBERS = itertools.count()
"""Of its requests: the first id is 0, as it is of real agents."""
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


class Cancelled(Exception):
    pass


def tell(kind, **fields):
    put(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": kind, **fields}})


def text(words):
    tell("agent_message_chunk", content={"type": "text", "text": f"{words}\n"})


def ask(command):
    """Asks for leave; the client answers a cancelled turn's requests as cancelled."""
    number = next(NUMBERS)
    call = {"toolCallId": f"call-{session}-{number}", "title": command, "kind": "execute"}
    call["rawInput"] = {"command": command}
    params = {"sessionId": session, "toolCall": {**call, "status": "pending"}, "options": OPTIONS}
    put(id=number, method="session/request_permission", params=params)
    while "method" in (message := read()) or message["id"] != number:
        pass
    outcome = message["result"]["outcome"]
    if outcome["outcome"] == "cancelled":
        raise Cancelled
    allowed = outcome["optionId"] == "yes"
    tell("tool_call_update", toolCallId=call["toolCallId"], status="completed" if allowed else "failed")
    return "allow" if allowed else "deny"


def do(line, display):
    what, _, rest = line.partition(" ")
    match what:
        case "text":
            text(rest)
        case "display":
            text(f"display: {' '.join(display.split())}")
        case "ask":
            text(f"{ask(rest)}: {rest}")
        case "flood":
            for number in range(int(rest)):
                text(f"line {number}")
        case "hang":
            while read().get("method") != "session/cancel":
                pass
            raise Cancelled
        case "die":
            sys.stderr.write(f"scripted: told to die with {rest}\n")
            sys.stderr.flush()
            os._exit(int(rest))


def prompted(prompt):
    """A turn; returns why it ended."""
    said = [block["text"] for block in prompt if block["type"] == "text"]
    shown = [block["resource"]["text"] for block in prompt if block["type"] == "resource"]
    try:
        for line in "".join(said).splitlines():
            do(line, "".join(shown))
    except Cancelled:
        return "cancelled"
    return "end_turn"


if "--version" in sys.argv:
    print("1.2.3 (scripted)")
    raise SystemExit
session = ""
while True:
    message = read()
    params = message.get("params") or {}
    match message.get("method"):
        case "initialize":
            able = {"loadSession": "--forgets" not in sys.argv}
            put(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": able})
        case "session/new":
            session = f"session-{os.getpid()}"
            put(id=message["id"], result={"sessionId": session})
        case "session/load":
            session = params["sessionId"]
            text("said before")
            put(id=message["id"], result={})
        case "session/prompt":
            put(id=message["id"], result={"stopReason": prompted(params["prompt"])})
