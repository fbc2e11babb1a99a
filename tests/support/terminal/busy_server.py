"""A server to be killed: runs a list of commands in one conversation, and dies at its Nth write, in the middle of it.

Usage: busy_server.py HOME CURSORS, and on stdin a line with N for each run, or 0 for one that is left alone. Each is a
process of its own, forked from one that has loaded everything already, and takes up where the last one was killed; the
answer is what it ended with: 0 when every command has run. To CURSORS it appends what an agent would remember:
where its commands began.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from terminal_home import environment
from vantage.conversation.manager import Manager
from vantage.conversation.store.files import writing
from vantage.terminal.screen.screen import Screen

COMMANDS = [
    "for i in $(seq 400); do echo line $i; done",
    "echo ünïcödé; false",
    "cat <<'END'\nfirst\nsecond\nEND",
    "seq 1 20000",
    "cd /; pwd",
    "printf 'no newline'",
    "for i in $(seq 300); do printf '%s\\r' $i; done; echo",
    "printf '\\033[31mred\\033[0m\\n'; exit 4",
    "echo in a fresh shell",
    "echo 'open",
    "(sleep 0.05; echo late) & wait",
    "seq 1 40000",
]


def die_at(number: int) -> None:
    """Kills this process at a write: before it, after half of it, or after all of it."""
    count = 0
    write = writing.write_all

    def counting(fd: int, data: bytes, offset: int) -> None:
        nonlocal count
        count += 1
        if count == number:
            part = (0, len(data) // 2, len(data))[number % 3]
            write(fd, data[:part], offset)
            os.kill(os.getpid(), signal.SIGKILL)
        write(fd, data, offset)

    writing.write_all = counting


async def main(home: Path, cursors: Path) -> None:
    async with Manager(home) as manager:
        known = [settings.id for settings in manager.list()]
        conversation = (
            manager.get("busy")
            if "busy" in known
            else manager.create("busy", cwd=str(home), env=environment(), user_rc=False)
        )
        terminal = conversation.terminal
        await conversation.live.join_host()
        while True:
            await conversation.live.waiters.until(lambda: terminal.live.state.block is None)
            done = conversation.live.derivation.blocks.count
            if done == len(COMMANDS):
                break
            ran = await terminal.exec_block(COMMANDS[done], timeout_ms=60_000)
            with cursors.open("a") as remembered:
                remembered.write(json.dumps({"block": ran.block_id, "cursor": ran.cursor, "output": ran.output}) + "\n")
        await manager.close_conversation("busy")


def run(moment: int, home: Path, cursors: Path) -> int:
    """The exit status of the run."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        if moment:
            die_at(moment)
        asyncio.run(main(home, cursors))
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    Screen(80, 24).close()  # reads the declarations of the engine's library, which takes longest
    for line in sys.stdin:
        print(run(int(line), Path(sys.argv[1]), Path(sys.argv[2])), flush=True)
