"""How scripted agents print and read lines of JSON."""

import json
import os
import sys


def put(**message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def read():
    """The next message, which is added to the file that RECEIVED names; the program ends with its input."""
    line = sys.stdin.readline()
    if not line:
        raise SystemExit(0)
    if received := os.environ.get("RECEIVED"):
        with open(received, "a") as log:  # noqa: PTH123
            log.write(line)
    return json.loads(line)
