"""The demo: every part of it happens, with real programs, and its secret is in no file."""

from home_files import holding
from terminal_home import environment
from vantage.conversation.feed.drawing import RenderTarget
from vantage.conversation.feed.hub import Hub
from vantage.conversation.manager import Manager
from vantage.demo.tour import PASSWORD, play


async def test_the_tour_goes_through_every_part(private_home):
    folder = private_home / "demo"
    async with Manager(private_home) as manager:
        bus = manager.bus
        folder.mkdir()
        await bus.request("", "create", id="demo", cwd=str(folder), env=environment(), user_rc=False)
        await play(bus, "demo", folder, pace=0)
        hub = Hub(bus)
        feed = await hub.feed("demo")
        rows = [await feed.renderer.row(row_id) for row_id in feed.rows.last(1000)]
        target = RenderTarget.of("html", 100)
        drawn = "\n".join([(await feed.renderer.message(row.id, target)).decode() for row in rows])
        hub.close()
        await bus.request("demo", "close")
    titles = [row.text for row in rows]
    assert all(row.status != "error" for row in rows), titles
    assert [title for title in titles if title.startswith("Ran")] == [
        "Ran cat greeting.py && python3 greeting.py",
        "Ran python3 greeting.py",
        "Ran ./guess",
        "Ran vim -u NONE -N notes.txt",
        "Ran cat notes.txt",
        next(title for title in titles if "Vault" in title),
    ]
    assert "Hello, world!" in drawn
    assert "Correct!" in drawn
    assert "Written by an agent, in a real editor." in drawn
    assert f"unlocked with {len(PASSWORD)} characters" in drawn
    assert "not type there by accident" in drawn
    assert any(row.icon == "rocket" and row.trailing == "live" for row in rows)
    assert any(row.depth == 1 for row in rows)
    assert (folder / "notes.txt").read_text().startswith("The number is found by halving:\n")
    assert holding(private_home, PASSWORD) == []
