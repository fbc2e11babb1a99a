"""The WebSocket: handshake, subscriptions, input, presence.

`sockets` has the route. A `Socket` composes `Connection` (ASGI, with its `Handshake`), `Identity` (token and client),
`Inbox`, `Subscriptions` and `Keyboard`; `handlers` is the table from a message's type to what it does.
"""
