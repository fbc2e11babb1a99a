"""Fixtures of the fault tests."""

from aftermath import stage, stages
from mcp_pipes import own_home

__all__ = ["own_home", "stage", "stages"]
