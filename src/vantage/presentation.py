"""What a display can show: `PresentationContext`."""

from typing import Literal

import msgspec

TableMode = Literal["auto", "wrap", "truncate", "transpose", "records", "off"]


class PresentationContext(msgspec.Struct, frozen=True, kw_only=True):
    """Display capabilities and constraints of a client."""

    content_width: int = 80
    content_height: int | None = None
    """`None` scrolls without end."""

    supports_markdown: bool = True
    supports_tables: bool = True
    supports_code_blocks: bool = True
    supports_images: bool = False
    supports_rich_text: bool = True
    supports_unicode: bool = True
    supports_mermaid: bool = False

    client_type: str = "terminal"

    max_table_columns: int | None = None
    """Derived from the width when not given."""
    table_mode: TableMode = "auto"
    wrap_mode: Literal["hard", "soft"] = "hard"
    """`soft`: the client wraps paragraphs itself."""
    color_depth: int = 256
    """Colours: 0, 16, 256 or 16777216."""
    background: Literal["dark", "light"] = "dark"
    max_message_units: int | None = None
    """The longest message the client takes, in its own units; `None`: no limit."""
