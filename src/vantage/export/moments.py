"""Times of day in exported files: in UTC, and marked as UTC where a day is named."""

from datetime import UTC, datetime


def _moment(ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def clock(ms: int) -> str:
    """`14:03:07`."""
    moment = _moment(ms)
    return moment.strftime("%H:%M:%S") if moment else ""


def day(ms: int) -> str:
    """`2026-11-16`."""
    moment = _moment(ms)
    return moment.strftime("%Y-%m-%d") if moment else ""


def day_and_clock(ms: int) -> str:
    """`2026-11-16 14:03 UTC`."""
    moment = _moment(ms)
    return moment.strftime("%Y-%m-%d %H:%M UTC") if moment else "at an unknown time"
