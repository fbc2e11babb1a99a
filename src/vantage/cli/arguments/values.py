"""Values of options: times, sizes, surfaces."""

import re

import click

from vantage.terminal.limits import MAX_COLS, MAX_ROWS, MIN_COLS, MIN_ROWS

SURFACES = ("terminal", "plain", "html", "telegram", "slack")
PROFILES = {"plain": "api", "html": "web"}
"""Surface → the profile it is drawn with, if that has another name."""

_UNITS = {"ms": 1, "s": 1000, "": 1000, "m": 60_000, "h": 3_600_000}


def seconds(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    """Reads `30`, `0.5`, `200ms`, `5m`, `2h` as milliseconds."""
    if value is None:
        return None
    read = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h|)", value.strip())
    if read is None:
        raise click.BadParameter(f"{value!r} is no time: write 30, 0.5, 200ms or 5m")
    return round(float(read[1]) * _UNITS[read[2]])


def size(
    _context: click.Context | None, _parameter: click.Parameter | None, value: str | None
) -> tuple[int, int] | None:
    """Reads `120x40` as columns and rows."""
    if value is None:
        return None
    read = re.fullmatch(r"(\d{1,4})[x×](\d{1,4})", value.strip())
    if read is None:
        raise click.BadParameter(f"{value!r} is no size: write columns x rows, as 120x40")
    cols, rows = int(read[1]), int(read[2])
    if not (MIN_COLS <= cols <= MAX_COLS and MIN_ROWS <= rows <= MAX_ROWS):
        limits = f"{MIN_COLS} to {MAX_COLS} columns and {MIN_ROWS} to {MAX_ROWS} rows"
        raise click.BadParameter(f"a terminal has {limits}, not {value}")
    return cols, rows
