"""Ways in which another program or the disk damages files, and conversations to spare for them."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from aftermath import Stage
from load import Trace

WORD = "w-original"
LINES = 5_000
"""Lines of output that are enough for a checkpoint."""


def original(stage: Stage, name: str = "original") -> str:
    """A conversation that has everything on disk; server and host are ended."""
    conversation = stage.conversation(name)
    loop = f"for ((i = 1; i <= {LINES}; i++)); do echo {WORD} $i; done"
    stage.pty(conversation, "exec_block", command=loop, max_output=100)
    stage.pty(conversation, "exec_block", command="printf 'the %s\\n' second")
    spec = {"specVersion": 1, "collapsed": {"title": "{{args.x}}"}}
    for tool in ("one", "another"):
        made = stage.server.ask("PUT", f"/v1/conversations/{conversation}/tools/{tool}", {"renderSpec": spec})
        assert made.status == 200, made.body
    stage.pty(conversation, "read_screen")
    stage.pty(conversation, "exec_block", command="echo the end")
    witness(stage, conversation)
    stage.server.end()
    return conversation


def witness(stage: Stage, conversation: str) -> None:
    """Makes the aftermath look for the original's output in this copy."""
    trace = Trace(conversation)
    trace.word, trace.certain = WORD, {WORD: LINES}
    stage.traces.append(trace)


def copy(stage: Stage, conversation: str, name: str) -> str:
    """A copy of the conversation under a name of the same length, so all offsets stay valid."""
    assert len(name) == len(conversation)
    folder = stage.folder(name)
    shutil.copytree(stage.folder(conversation).path, folder.path)
    for path in (folder.settings, folder.events):
        path.write_bytes(path.read_bytes().replace(f'"{conversation}"'.encode(), f'"{name}"'.encode()))
    stage.conversations.append(name)
    witness(stage, name)
    return name


def _flipped(data: bytes) -> bytes:
    """A bit in every hundredth byte."""
    chance, changed = random.Random(2), bytearray(data)
    for place in chance.sample(range(len(data)), len(data) // 100 + 1):
        changed[place] ^= 1 << chance.randrange(7)
    return bytes(changed)


def _garbage(data: bytes) -> bytes:
    """The line ends stay where they were, so the damage must be noticed by more than a missing line end."""
    noise = random.Random(1).randbytes(len(data))
    return bytes(byte if byte == ord("\n") else other for byte, other in zip(data, noise, strict=True))


def _strange_line(data: bytes) -> bytes:
    """Puts a foreign line into the middle of the file."""
    place = data.find(b"\n", len(data) // 2) + 1
    return data[:place] + b"\0\xff no {\n" + data[place:]


CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "garbage": _garbage,
    "zeroes": lambda data: bytes(len(data)),
    "empty": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "flipped": _flipped,
    "strange line": _strange_line,
}
WAYS = (*CONTENTS, "missing", "a directory")


def damage(path: Path, way: str) -> None:
    content = path.read_bytes()
    path.unlink()
    if way == "a directory":
        path.mkdir()
    elif way != "missing":
        path.write_bytes(CONTENTS[way](content))
