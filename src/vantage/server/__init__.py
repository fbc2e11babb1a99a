"""HTTP, WebSocket and MCP over the verbs of `conversation`: decode, call, encode."""
