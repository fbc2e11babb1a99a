"""An agent without a model: a program that speaks Claude Code's stream-json, and does what the lines of a message say.

`text WORDS` says them, `ask COMMAND` asks for leave to run it and says what came of it, `display` says the display
instruction of the turn, `run COMMAND` runs it and says its status and output, `mcp` says how it would start its MCP
server, `flood N` says N lines, `garbage` prints what is no message, `hang` does nothing until it is
interrupted, `deaf` reads nothing any more, `half` dies in the middle of a line, `die STATUS` ends with a status and a
word on stderr. Everything that it reads is added to the file that RECEIVED names.
"""

import contextlib
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

from scripted_lines import put, read

NUMBERS = itertools.count(1)


class Interrupted(Exception):
    pass


def text(words):
    number = next(NUMBERS)
    content = [{"type": "text", "text": words}]
    message = {"id": f"msg-{session}-{number}", "role": "assistant", "model": "scripted", "content": content}
    put(type="assistant", message=message, parent_tool_use_id=None, session_id=session)


def answer_to(request_id):
    """The answer to a request of ours; messages that come before it wait."""
    while True:
        message = read()
        if message["type"] == "control_response" and message["response"]["request_id"] == request_id:
            return message["response"]["response"]
        if message["type"] == "control_request":
            control(message)
        else:
            waiting.append(message)


def ask(subtype, **fields):
    request_id = f"ask-{next(NUMBERS)}"
    put(type="control_request", request_id=request_id, request={"subtype": subtype, **fields})
    try:
        return answer_to(request_id)
    except Interrupted:
        put(type="control_cancel_request", request_id=request_id)
        raise


def control(message):
    subtype = message["request"]["subtype"]
    response = {"subtype": "success", "request_id": message["request_id"], "response": {}}
    put(type="control_response", response=response)
    if subtype == "interrupt":
        raise Interrupted


def do(line):
    what, _, rest = line.partition(" ")
    match what:
        case "text":
            text(rest)
        case "display":
            text(f"display: {display}")
        case "ask":
            asked = {"command": rest}
            answer = ask("can_use_tool", tool_name="Bash", input=asked, tool_use_id=f"tool-{next(NUMBERS)}")
            text(f"{answer['behavior']}: {rest} {answer.get('message', '')}".strip())
        case "run":
            ran = subprocess.run(["sh", "-c", rest], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            text(f"{ran.returncode}: {ran.stdout}{ran.stderr}")
        case "mcp":
            text(sys.argv[sys.argv.index("--mcp-config") + 1])
        case "flood":
            for number in range(int(rest)):
                text(f"line {number}")
        case "garbage":
            print("\x00\xff no message {", flush=True)
        case "hang":
            while True:
                message = read()
                if message["type"] == "control_request":
                    control(message)
        case "deaf":
            while True:
                time.sleep(3600)
        case "half":
            sys.stdout.write('{"type": "assistant", "mess')
            sys.stdout.flush()
            os._exit(0)
        case "die":
            sys.stderr.write(f"scripted: told to die with {rest}\n")
            sys.stderr.flush()
            os._exit(int(rest))


def turn(message):
    global display  # noqa: PLW0603
    put(**{**message, "isReplay": True, "session_id": session})
    hooked = ask("hook_callback", callback_id="display", input={"hook_event_name": "UserPromptSubmit"})
    display = hooked.get("hookSpecificOutput", {}).get("additionalContext", "")
    put(type="system", subtype="init", session_id=session, model="scripted", cwd=str(Path.cwd()), tools=[])
    said = message["message"]["content"]
    lines = said if isinstance(said, str) else said[-1]["text"]
    try:
        for line in lines.splitlines():
            do(line)
    except Interrupted:
        put(type="result", subtype="error_during_execution", is_error=True, terminal_reason="aborted_streaming",
            session_id=session, num_turns=1, duration_ms=1)  # fmt: skip
    else:
        put(type="result", subtype="success", is_error=False, session_id=session, num_turns=1, duration_ms=1,
            result="", usage={"input_tokens": 1, "output_tokens": 1})  # fmt: skip


if "--version" in sys.argv:
    print("1.2.3 (scripted)")
    raise SystemExit
session = sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else f"session-{os.getpid()}"
display = ""
waiting = []
while True:
    message = waiting.pop(0) if waiting else read()
    if message["type"] == "user":
        turn(message)
    elif message["type"] == "control_request":
        with contextlib.suppress(Interrupted):
            control(message)
