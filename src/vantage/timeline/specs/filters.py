"""Filters: pure functions from a value and the words after the colon to a value, in a table by name.

Each accepts any value. A meaningless argument is ignored, because validation has reported it.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from vantage.events import Json, compact_json
from vantage.text.width import graphemes
from vantage.timeline.specs.template import MISSING

LONG = 64 * 1024
"""Characters beyond which a text is too long to be shown in full."""


def text_value(value: Json) -> str:
    """A value as text: null is empty, numbers and the rest print as JSON does."""
    if isinstance(value, str):
        return value
    if value is None or value is MISSING:
        return ""
    return compact_json(value)


def is_empty(value: Json) -> bool:
    """The values that `default` replaces: null, an empty string, an empty array or object."""
    return value is None or value is MISSING or value in ("", [], {})


def _whole(argument: str, otherwise: int | None = None) -> int | None:
    return int(argument[:9]) if argument.isdecimal() and argument.isascii() else otherwise


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        try:
            value = float(value) if len(value) < 64 else None
        except ValueError:
            return None
    return value if isinstance(value, int | float) and math.isfinite(value) else None


def first_line(value: Json) -> Json:
    """The first line of a text; of an array, the first element's."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return text_value(value).lstrip("\r\n").split("\n", 1)[0].rstrip("\r")


def truncate(value: Json, limit: str = "") -> Json:
    """At most N graphemes, the ellipsis being one of them."""
    text = text_value(value)
    most = _whole(limit)
    if most is None or len(text) <= most:
        return text
    clusters = []
    for cluster in graphemes(text):
        clusters.append(cluster)
        if len(clusters) > most:
            return "".join(clusters[: max(most - 1, 0)]) + "…"[:most]
    return text


def join(value: Json, separator: str = ", ") -> Json:
    """The elements of an array, joined; more elements than can be shown are not read."""
    if not isinstance(value, list):
        return text_value(value)
    pieces: list[str] = []
    length = 0
    for item in value:
        pieces.append(text_value(item))
        length += len(pieces[-1]) + len(separator)
        if length > LONG:
            break
    return separator.join(pieces)


_COUNTED = 4096


def count(value: Json) -> Json:
    """Elements of an array or object, graphemes of a text (characters of a very long one); null counts 0."""
    if isinstance(value, list | dict):
        return len(value)
    text = text_value(value)
    return len(text) if text.isascii() or len(text) > _COUNTED else sum(1 for _ in graphemes(text))


def line_count(value: Json) -> Json:
    """Lines of a text, blank ones at its end not counted; elements of an array."""
    if isinstance(value, list):
        return len(value)
    text = text_value(value).rstrip()
    return text.count("\n") + 1 if text else 0


def default(value: Json, otherwise: str = "") -> Json:
    return otherwise if is_empty(value) else value


def as_json(value: Json) -> Json:
    return "" if value is MISSING else compact_json(value)


_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def as_bytes(value: Json) -> Json:
    """A number of bytes in human units: `1.5 KB`."""
    number = _number(value)
    if number is None:
        return text_value(value)
    size, unit = abs(number), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    shown = f"{size:.0f}" if unit == 0 or size >= 100 else f"{size:.1f}".removesuffix(".0")
    return f"{'-' if number < 0 else ''}{shown} {_UNITS[unit]}"


def duration(value: Json) -> Json:
    """Milliseconds in human units: `340ms`, `1.2s`, `2m 5s`, `1h 3m`."""
    number = _number(value)
    if number is None or number < 0:
        return text_value(value)
    if number < 1000:
        return f"{number:.0f}ms"
    seconds = number / 1000
    if seconds < 59.95:
        return f"{seconds:.1f}".removesuffix(".0") + "s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    return f"{whole // 3600}h {whole % 3600 // 60}m"


def basename(value: Json) -> Json:
    """The last part of a path or address."""
    return re.split(r"[/\\]", text_value(value).rstrip("/\\"))[-1]


def number(value: Json, decimals: str = "") -> Json:
    """A number with grouped thousands: `1,234.5`; `number:2` fixes the decimals."""
    given = _number(value)
    if given is None:
        return text_value(value)
    places = _whole(decimals)
    if places is not None:
        return f"{given:,.{min(places, 12)}f}"
    if float(given).is_integer() and abs(given) < 1e15:
        return f"{int(given):,}"
    return f"{given:,.10g}" if abs(given) < 1e10 else f"{given:,}"


_DATE_CODES = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_DATE_CODE = re.compile("|".join(_DATE_CODES))


def date(value: Json, form: str = "YYYY-MM-DD HH:mm") -> Json:
    """A moment in UTC: milliseconds or seconds since the epoch, or an ISO text. `date:"DD.MM.YYYY"` sets its form."""
    moment = _moment(value)
    if moment is None:
        return text_value(value)
    parts = {"%Y": f"{moment.year:04}", "%m": f"{moment.month:02}", "%d": f"{moment.day:02}",
             "%H": f"{moment.hour:02}", "%M": f"{moment.minute:02}", "%S": f"{moment.second:02}"}  # fmt: skip
    return _DATE_CODE.sub(lambda match: parts[_DATE_CODES[match[0]]], form)


def _moment(value: Json) -> datetime | None:
    try:
        if isinstance(value, str) and not re.fullmatch(r"-?\d+(\.\d+)?", value):
            moment = msgspec.convert(value, datetime)
            return moment.astimezone(UTC) if moment.tzinfo else moment
        given = _number(value)
        if given is None:
            return None
        return datetime.fromtimestamp(given / 1000 if abs(given) >= 1e11 else given, UTC)
    except (ValueError, OverflowError, OSError, msgspec.ValidationError):
        return None


class Filter(msgspec.Struct, frozen=True):
    apply: Callable[..., Json]
    least: int = 0
    most: int = 0
    """How many arguments it takes."""
    whole: bool = False
    """Whether the argument is a whole number."""


FILTERS: dict[str, Filter] = {
    "firstLine": Filter(first_line),
    "truncate": Filter(truncate, 1, 1, whole=True),
    "join": Filter(join, 0, 1),
    "count": Filter(count),
    "lineCount": Filter(line_count),
    "default": Filter(default, 1, 1),
    "json": Filter(as_json),
    "bytes": Filter(as_bytes),
    "duration": Filter(duration),
    "basename": Filter(basename),
    "number": Filter(number, 0, 1, whole=True),
    "date": Filter(date, 0, 1),
}
