"""What a surface gives back: its output, and what it had to give up to fit."""

from typing import Any

import msgspec


class Rendered(msgspec.Struct, frozen=True):
    output: Any
    """Text for terminal, plain and html; messages, as dicts ready for the API, for chat clients."""
    fitted: list[str] = []
    """`table → records`: what was drawn in another form than it was written in, for diagnostics."""
