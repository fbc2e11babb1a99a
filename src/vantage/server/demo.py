"""Plays the demo in a conversation of its own: `vantage demo`, and a button on the page."""

import asyncio
import secrets
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.bus import Bus
from vantage.conversation.verbs.fields import read_params
from vantage.conversation.verbs.verb import Params
from vantage.demo.tour import play
from vantage.errors import TooMany, VantageError
from vantage.server.http.route import Call

MAX_DEMOS = 3
_playing: set[asyncio.Task[None]] = set()


class PlayDemo(Params, frozen=True):
    pace: Annotated[float, Meta(ge=0, le=10, description="Stretches every pause; 0 leaves them out")] = 1.0
    env: Annotated[dict[str, str], Meta(description="The shell's environment")] | UnsetType = UNSET


async def play_demo(call: Call) -> dict[str, Any]:
    """Play the demo in a new conversation: a scripted agent, real programs, about a minute."""
    services = call.services
    asked, ignored = read_params(PlayDemo, call.fields)
    if len(_playing) >= MAX_DEMOS:
        raise TooMany(f"{MAX_DEMOS} demos are playing already", hint="watch one of those", retry_after=60)
    name = f"demo-{secrets.token_hex(3)}"
    folder = services.home / "demo" / name
    await asyncio.to_thread(folder.mkdir, mode=0o700, parents=True)
    environment = {} if asked.env is UNSET else {"env": asked.env}
    made = await services.bus.request(
        "", "create", id=name, name="Demo", cwd=str(folder), cols=100, rows=30, user_rc=False, **environment
    )
    task = asyncio.get_running_loop().create_task(_play(services.bus, name, folder, asked.pace))
    _playing.add(task)
    task.add_done_callback(_playing.discard)
    return {**made, "warnings": ignored} if ignored else made


async def _play(bus: Bus, name: str, folder: Path, pace: float) -> None:
    """Plays the demo to its end. It also ends when a person takes the keyboard or deletes the conversation."""
    try:
        await play(bus, name, folder, pace)
    except VantageError as error:
        try:
            interrupted = {"type": "canceled", "message": f"the demo ends here: {error}"}
            await bus.request(name, "append", events=[interrupted, {"type": "turn_complete", "finish": "canceled"}])
        except VantageError:
            return
