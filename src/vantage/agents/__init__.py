"""What other agents print → our events: one adapter per stream, and a reader of lines that all of them share.

Nothing here does IO. An adapter takes one JSON message at a time and says what it means; `StreamReader` takes bytes,
however they are cut, finds out whose stream it is, and gives events and what was no message. Adapters never raise on
anything that is a JSON object: what they do not know becomes an `UnknownEvent`.
"""

from vantage.agents.reader import SOURCES, StrayLine, StreamReader

__all__ = ["SOURCES", "StrayLine", "StreamReader"]
