"""Forwarded ANSI text → spans: SGR is interpreted, every other control is shown as a visible escape.

A program may colour its text and nothing else: no cursor movement, titles or links get through.
"""

import re

from vantage.text.palette import nearest
from vantage.text.sanitize import sanitize
from vantage.text.spans import Line, Span
from vantage.text.style import NORMAL, Style

_SGR = re.compile("(?:\x1b\\[|\x9b)([0-9;:]*)m")

# parameter → the fields it sets
_SIMPLE: dict[int, dict[str, object]] = {
    1: {"bold": True}, 2: {"dim": True}, 3: {"italic": True}, 4: {"underline": True}, 7: {"reverse": True},
    9: {"strike": True}, 21: {"underline": True}, 22: {"bold": False, "dim": False}, 23: {"italic": False},
    24: {"underline": False}, 27: {"reverse": False}, 29: {"strike": False}, 39: {"color": None},
    49: {"background": None},
    **{30 + n: {"color": n} for n in range(8)}, **{90 + n: {"color": 8 + n} for n in range(8)},
    **{40 + n: {"background": n} for n in range(8)}, **{100 + n: {"background": 8 + n} for n in range(8)},
}  # fmt: skip


def _number(text: str) -> int:
    return min(int(text[:6]), 65535) if text.isdigit() else 0


def _extended(values: list[int]) -> int | None:
    """The colour of `5;n` or `2;r;g;b`."""
    if len(values) >= 2 and values[0] == 5:
        return values[1] if values[1] <= 255 else None
    if len(values) >= 4 and values[0] == 2:
        red, green, blue = (min(value, 255) for value in values[1:4])
        return nearest((red, green, blue))
    return None


def apply_sgr(style: Style, parameters: str) -> Style:
    """The style after `CSI parameters m`."""
    fields = {name: getattr(style, name) for name in style.__struct_fields__}
    groups = parameters.split(";")
    index = 0
    while index < len(groups):
        group = groups[index]
        index += 1
        head, *tail = group.split(":")
        code = _number(head)
        if code == 0:
            fields = {}
        elif code in (38, 48):
            name = "color" if code == 38 else "background"
            if tail:  # 38:2::r:g:b has an empty colour space in it
                values = [_number(part) for part in tail]
                if values[:1] == [2] and len(values) >= 5:
                    del values[1]
                fields[name] = _extended(values)
            else:
                rest = [_number(part) for part in groups[index : index + 4]]
                fields[name] = _extended(rest)
                index += 2 if rest[:1] == [5] else 4 if rest[:1] == [2] else len(rest)
        elif code == 4 and tail:
            fields["underline"] = tail[0] != "0"
        else:
            fields.update(_SIMPLE.get(code, {}))
    return Style(**fields)


def parse_ansi(text: str, base: Style = NORMAL) -> list[Line]:
    """Lines of styled spans; a colour continues across line ends, as on a terminal."""
    lines: list[Line] = [[]]
    style = NORMAL
    position = 0
    text = text.replace("\r\n", "\n")
    for match in _SGR.finditer(text):
        _append(lines, text[position : match.start()], style.over(base))
        style = apply_sgr(style, match[1])
        position = match.end()
    _append(lines, text[position:], style.over(base))
    return lines


def _append(lines: list[Line], text: str, style: Style) -> None:
    if not text:
        return
    head, *others = sanitize(text).split("\n")
    if head:
        lines[-1].append(Span(head, style))
    lines.extend([Span(other, style)] if other else [] for other in others)
