"""MCP: the tools, and how they are reached over HTTP and over a socket."""
