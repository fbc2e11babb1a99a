"""What fault tests share."""

from aftermath import stage, stages

__all__ = ["stage", "stages"]
