"""Numbers that callers give."""

from typing import Any

from vantage.errors import InputError


def at_least(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} is a whole number from {least} on, not {value!r}")


def within(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{name} is a whole number from {least} to {most}, not {value!r}")
