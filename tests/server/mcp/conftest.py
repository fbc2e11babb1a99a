"""Fixtures of the MCP tests."""

from mcp_pipes import own_home

__all__ = ["own_home"]
