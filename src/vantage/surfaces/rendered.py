"""The result of a surface: its output, and what it lost to fit."""

from typing import Any

import msgspec


class Rendered(msgspec.Struct, frozen=True):
    output: Any
    """Text for terminal, plain and html; messages, as dicts ready for the API, for chat clients."""
    fitted: list[str] = []
    """`table → records`: parts that were drawn in another form than they were written in, for diagnostics."""
