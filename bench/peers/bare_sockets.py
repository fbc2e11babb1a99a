"""A server with nothing on it: what is posted is sent to every socket as it is. Prints its port."""

import socket
from typing import Any

import uvicorn
import uvloop

SENDS: set[Any] = set()


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        SENDS.add(send)
        while (await receive())["type"] != "websocket.disconnect":
            pass
        SENDS.discard(send)
    elif scope["type"] == "http":
        text = (await receive())["body"].decode()
        for each in tuple(SENDS):
            await each({"type": "websocket.send", "text": text})
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_keep_alive=600,
        ws="websockets-sansio",
        ws_per_message_deflate=False,
    )
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    uvloop.run(main())
