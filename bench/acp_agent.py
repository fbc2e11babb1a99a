"""An agent that measures: `sleep SECONDS` or `heard @TIME@` in a message, which it answers with a line.

To `heard` it says how late it has the message, in milliseconds; to `sleep` it waits, then says the time. Times are
nanoseconds of the monotonic clock. Without `--bare` it speaks the Agent Client Protocol.
"""

import json
import re
import sys
import time


def put(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(text: str, now: int) -> str:
    """What is said to a message that came at this time."""
    if found := re.search(r"heard @(\d+)@", text):
        return f"late {(now - int(found[1])) / 1e6:.4f}"
    if found := re.search(r"sleep ([\d.]+)", text):
        time.sleep(float(found[1]))
    return f"It is @{time.monotonic_ns()}@ now"


for line in sys.stdin:
    now = time.monotonic_ns()
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            put(id=message["id"], result={"protocolVersion": 1})
        case "session/new":
            put(id=message["id"], result={"sessionId": "s"})
        case "session/prompt":
            said = answer(message["params"]["prompt"][0]["text"], now)
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": said}}
            put(method="session/update", params={"sessionId": "s", "update": update})
            time.sleep(0.1)  # the line has its own place on the way, and the end of the turn is behind it
            put(id=message["id"], result={"stopReason": "end_turn"})
