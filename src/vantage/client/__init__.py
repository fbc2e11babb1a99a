"""A client of a server, in Python: `vantage.connect()` and `vantage.connect_async()`.

The command line, bots, tests and other programs use it. Requests and messages are values (`requests`, `calls`,
`rows`); `server` and `async_server` carry them, blocking or with asyncio. Nothing here imports the server.

`endpoint`, `connection`, `launch`, `requests` and `calls` load the standard library only, because every command of the
command line begins with them. Result types, asyncio and `websockets` are loaded by the modules that use them.
"""
