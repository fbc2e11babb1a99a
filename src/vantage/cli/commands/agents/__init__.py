"""Commands for agents: their streams, their MCP configuration, their display instruction, render specs."""
