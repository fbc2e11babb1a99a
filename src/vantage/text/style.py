"""Styles as meaning, not as escape codes.

A colour is a *token* ("accent", "green", …) that a palette turns into a code at the very end, or a number of the
256-colour palette if the text had a colour of its own (forwarded ANSI, highlighted code).
"""

import msgspec

Color = str | int
"""A token of `palette.TOKENS`, or a number of the 256-colour palette."""


class Style(msgspec.Struct, frozen=True, gc=False):
    color: Color | None = None
    """`None` is the terminal's own foreground."""
    background: Color | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False
    link: str | None = None
    """An address that the text links to (OSC 8 if the terminal has it)."""

    def over(self, base: "Style") -> "Style":
        """The style laid over `base`: a field that it does not set comes from `base`."""
        if base == NORMAL:
            return self
        if self == NORMAL:
            return base
        return Style(
            self.color if self.color is not None else base.color,
            self.background if self.background is not None else base.background,
            self.bold or base.bold,
            self.dim or base.dim,
            self.italic or base.italic,
            self.underline or base.underline,
            self.strike or base.strike,
            self.reverse or base.reverse,
            self.link or base.link,
        )


NORMAL = Style()
ACCENT = Style("accent")
GREEN = Style("green")
RED = Style("red")
COLORFUL = Style("colorful")
BOLD = Style(bold=True)
ITALIC = Style(italic=True)
VERB = Style("colorful", bold=True)
"""The verb of a tool: `Ran`, `Edit`, `Update Plan`."""
ALARM = Style("red", bold=True)
