"""Damaged files of a conversation are mended, or refused by name; other conversations are not affected.

Each damage has a conversation of its own; all of them are in one home, with one that is whole.
"""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aftermath import Stage, assert_all_is_well
from damage import WAYS, copy, damage, original
from extent import extent
from vantage.conversation.store.conversation_folder import ConversationFolder

FILES = {
    "conversation.json": "settings",
    "events.jsonl": "events",
    "tools.jsonl": "tools",
    "output.raw": "raw",
    "output.index": "journal",
    "output.spool": "spool",
    "blocks.jsonl": "block_log",
    "screen.jsonl": "screen_log",
    "screen.snapshot.json": "screen_snapshot",
    ".state": "checkpoints",
    ".screen": "checkpoints",
}
"""Ends of names, and where they are found in a folder."""
TRUTH = ("conversation.json", "events.jsonl", "tools.jsonl", "output.raw", "output.index")
"""Files that cannot be derived are put back from a copy. The rest are derived again, or by `vantage rebuild`."""
WITH = {"output.index": ("output.raw", "events.jsonl")}
"""Files put back with it: a server that read another journal may have freed output that it names, and logged an
end that was elsewhere."""
LOOKS = [
    ("GET", "", None),
    ("GET", "/rows?surface=plain&limit=50", None),
    ("GET", "/events?limit=1000", None),
    ("GET", "/tools", None),
    ("POST", "/pty/status", {}),
    ("POST", "/pty/read_screen", {}),
    ("POST", "/pty/read_screen_deltas", {"cursor": 0}),
    ("POST", "/pty/blocks", {}),
    ("POST", "/pty/read_block", {"block_id": "b2"}),
]
_SAME_LENGTH = ("garbage", "zeroes", "flipped", "strange line")
SILENT = {
    **dict.fromkeys(itertools.product(("output.raw", "output.spool"), _SAME_LENGTH), "rebuild --check"),
    ("output.index", "flipped"): "rebuild --check",
    ("output.index", "strange line"): "passed over, as what a newer host writes is",
    ("output.index", "half"): "behind the last checkpoint",
    ("events.jsonl", "empty"): "nothing was ever told",
    ("events.jsonl", "missing"): "nothing was ever told",
    ("tools.jsonl", "empty"): "no tool was ever registered",
    ("tools.jsonl", "missing"): "no tool was ever registered",
    **{("screen.snapshot.json", way): "only written here" for way in WAYS},
    **{("screen.jsonl", way): "begins anew" for way in ("empty", "missing", "half", "flipped")},
    **{(".state", way): "there is one less" for way in ("missing",)},
    **{(".screen", way): "the screen is drawn anew" for way in WAYS},
}
"""Damage that cannot be noticed or does no harm, with the place where it shows or its effect."""


def paths(folder: ConversationFolder, file: str) -> list[Path]:
    place = getattr(folder, FILES[file])
    return sorted(place.glob(f"*{file}")) if place.is_dir() else [place]


def look(stage: Stage, name: str) -> Iterator[tuple[str, int, dict]]:
    for method, path, body in LOOKS:
        answer = stage.server.ask(method, f"/v1/conversations/{name}{path}", body)
        yield path, answer.status, answer.json


def assert_looks_whole_or_refused(stage: Stage, name: str, file: str, way: str) -> None:
    """An answer is right, or names the damaged file and what to do; without an answer, the log does."""
    refused = ""
    for path, status, said in look(stage, name):
        if status != 200:
            gone = (file, way) == ("conversation.json", "missing")
            assert status == (404 if gone else 503), (file, way, path, said)
            assert said["error"]["hint"], said
            refused += said["error"]["message"]
        elif path == "/pty/blocks":
            assert [block["block_id"] for block in said["blocks"]] == ["b1", "b2", "b3"], (file, way)
        elif path == "/pty/read_block" and (file, way) not in SILENT:
            assert said["output"] == "the second\n", (file, way)
        elif path.startswith("/events"):
            numbers = [event["seq"] for event in said["events"]]
            assert numbers == list(range(1, len(numbers) + 1)), (file, way, numbers)
            refused += "".join(file for event in said["events"] if event["type"] == "damaged")
    log = "".join(line for line in stage.news("server.log").splitlines() if f"/{name}/" in line)
    told = file in refused or file in log or "there is no conversation" in refused
    assert told or (file, way) in SILENT, (
        f"no message says that {file} is damaged ({way}): {refused or log or 'nothing'}"
    )


def put_right(stage: Stage, name: str, file: str) -> None:
    """Repairs the file as the answer advised, while no server runs."""
    source, folder = stage.folder("original"), stage.folder(name)
    for whole in (path for each in (file, *WITH.get(file, ())) for path in paths(source, each)):
        path = folder.path / whole.relative_to(source.path)
        if path.is_dir():
            path.rmdir()
        if file in TRUTH:
            path.unlink(missing_ok=True)
            path.write_bytes(whole.read_bytes().replace(b'"original"', f'"{name}"'.encode()))
    done = stage.vantage("rebuild", name)
    assert done.code == 0, done


def damages() -> list[tuple[str, str]]:
    every = list(itertools.product(FILES, WAYS))
    return extent(every[::11], every)


def test_files_are_damaged(stage):
    original(stage)
    hurt = {copy(stage, "original", f"hurt-{n:03}"): how for n, how in enumerate(damages())}
    for name, (file, way) in hurt.items():
        for path in paths(stage.folder(name), file):
            damage(path, way)
    stage.server.start()
    for name, (file, way) in hurt.items():
        assert_looks_whole_or_refused(stage, name, file, way)
    assert all(status == 200 for _, status, _ in look(stage, "original"))
    assert stage.get("/v1/search?q=second&conversation=original")["hits"]
    unreadable = [n for n, (file, way) in hurt.items() if file == "conversation.json" and way != "missing"]
    found = stage.vantage("doctor")
    assert found.code == bool(unreadable)
    assert all(f"{name}/conversation.json is damaged" in found.out for name in unreadable), found.out
    stage.server.stop()
    for name, (file, _) in hurt.items():
        put_right(stage, name, file)
    stage.server.start()
    assert_all_is_well(stage)


@pytest.mark.parametrize("file", extent(["output.index"], ["output.index", "output.raw"]))
def test_rebuild_keeps_the_files_that_cannot_be_derived(stage, file):
    """After `vantage rebuild` the terminal works with the output that is left."""
    conversation = original(stage)
    kept = stage.folder(conversation)
    content = kept.spool.read_text()
    paths(kept, file)[0].unlink()
    shutil.rmtree(kept.checkpoints)
    kept.checkpoints.mkdir()
    stage.server.start()
    refused = stage.server.post(f"/v1/conversations/{conversation}/pty/exec_block", {"command": "echo no"})
    assert refused.status == 503
    assert file in refused.json["error"]["message"]
    assert f"vantage rebuild {conversation}" in refused.json["error"]["hint"]
    assert kept.spool.read_text() == content, "what is kept was written over"
    beside = stage.conversation()
    stage.pty(beside, "exec_block", command="echo beside")
    assert stage.server.ask("DELETE", f"/v1/conversations/{conversation}").status == 503
    stage.server.stop()
    assert stage.vantage("rebuild", conversation).code == 0
    stage.server.start()
    assert stage.pty(conversation, "exec_block", command="echo $((6 * 7))")["output"] == "42\n"
    stage.traces.clear()
    assert stage.server.ask("DELETE", f"/v1/conversations/{conversation}").status == 200
    stage.conversations.remove(conversation)
    assert_all_is_well(stage)
