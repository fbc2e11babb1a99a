"""Damaged files of the home itself: addresses, token, the search index."""

import itertools
import shutil

import pytest

from aftermath import assert_all_is_well
from damage import WAYS, damage
from extent import extent

ADDRESSES = list(itertools.product(("host.json", "server.json"), WAYS))


@pytest.mark.parametrize(("name", "way"), extent(ADDRESSES[::5], ADDRESSES))
def test_an_address_is_damaged(stage, name, way):
    """While both run: shells are found again where they would be today, and commands start no second server."""
    printer = stage.printer()
    path = stage.home / name
    content = path.read_bytes()
    damage(path, way)
    if name == "server.json":
        asked = stage.vantage("ls")
        assert (asked.code, printer.conversation in asked.out) == ((3, False) if way == "missing" else (0, True)), asked
        assert way in ("missing", "flipped") or "server.json is damaged" in stage.vantage("doctor").out
    stage.server.stop()
    if path.is_dir():
        path.rmdir()
    stage.server.start()
    printer.further(10)
    assert stage.shell(printer.conversation)
    if name == "host.json":
        path.write_bytes(content)
    assert_all_is_well(stage)


@pytest.mark.parametrize("way", extent(["garbage", "a directory"], [way for way in WAYS if way != "strange line"]))
def test_the_token_is_damaged(stage, way):
    """A token that we cannot have written is refused, by name; a missing one is made."""
    printer = stage.printer()
    stage.server.stop()
    path = stage.home / "token"
    damage(path, way)
    refuses = way in ("garbage", "zeroes", "a directory")
    if refuses:
        with pytest.raises(AssertionError, match=r"/token (is damaged|cannot be read): .*remove it: a new one is made"):
            stage.server.start()
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    stage.server.start()
    assert len(path.read_text().strip()) >= 16
    assert path.stat().st_mode & 0o777 == 0o600
    printer.further(10)
    assert_all_is_well(stage)


@pytest.mark.parametrize("way", extent(["garbage", "half"], WAYS))
def test_the_search_index_is_damaged(stage, way):
    """It is created again and the log says so; everything else continues meanwhile."""
    printer = stage.printer()
    printer.further(50)
    stage.server.stop()
    for suffix in ("-wal", "-shm"):
        (stage.home / f"search.db{suffix}").unlink(missing_ok=True)
    damage(stage.home / "search.db", way)
    stage.server.start()
    silent = ("missing", "empty", "flipped", "strange line")  # nothing is wrong with an index that knows nothing yet
    assert_all_is_well(stage, said={} if way in silent else {"log": "the search index is created again"})
