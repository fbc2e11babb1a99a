"""Thin faces over the verbs of `conversation`: decode, call, encode. HTTP, WebSocket and MCP."""
