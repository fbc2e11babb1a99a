"""How a client reaches its server: HTTP connections, and WebSockets that survive a restart of the server."""
