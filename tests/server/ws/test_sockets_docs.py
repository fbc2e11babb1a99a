"""The session in docs/websocket.md is played against the real server, and every message stands in its tables."""

import json
import re

from places import ROOT
from socket_client import open_socket
from vantage.server.ws.messages import MESSAGES

PAGE = (ROOT / "docs/websocket.md").read_text()
SESSION = re.search(r"```session\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()


def fits(said, wanted):
    """What stands in the page is there; `…` is anything."""
    if wanted == "…":
        return True
    if isinstance(wanted, dict):
        return isinstance(said, dict) and all(
            name in said and fits(said[name], value) for name, value in wanted.items()
        )
    return said == wanted


async def test_the_session_in_the_page(server):
    with server.conversation(id="demo") as c:
        server.pty(c, "exec_block", command="true")
        async with open_socket(server, hello=False) as socket:
            heard = []
            for line in SESSION:
                direction, _, message = line.partition(" ")
                if direction == "→":
                    await socket.connection.send(message)
                    continue
                wanted = json.loads(message)
                # messages about one moment may come in another order
                found = next((said for said in heard if fits(said, wanted)), None)
                while found is None:
                    said = await socket.hear()
                    heard.append(said)
                    if fits(said, wanted):
                        found = said
                heard.remove(found)


def test_every_message_and_field_is_in_the_page():
    messages, _, _ = PAGE.partition("## Messages of the server")
    for message in MESSAGES:
        assert f"`{message.__struct_config__.tag}`" in messages
        for field in message.__struct_fields__:
            assert re.search(rf"`{field}\??`", messages), (message, field)
