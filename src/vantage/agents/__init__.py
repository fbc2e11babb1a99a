"""Agents' output as our events: one adapter per stream, and the reader of lines that all adapters share.

Nothing here does IO. An adapter takes one JSON message at a time and returns its events; `StreamReader` takes bytes,
however they are cut, recognises the agent, and returns events, and separately the lines that were no messages. Adapters
never raise on a JSON object: a message of an unknown type becomes an `UnknownEvent`.
"""

from vantage.agents.reader import SOURCES, StrayLine, StreamReader

__all__ = ["SOURCES", "StrayLine", "StreamReader"]
