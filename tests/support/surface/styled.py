"""ANSI text with its styles written out, `[bold red]Error[/]: …`, for expectations that people can read."""

import re

from vantage import FormatterConfig

ACCENT, COLORFUL, GREEN, RED = 245, 39, 78, 203
CONFIG = FormatterConfig(accent_color=ACCENT, colorful_color=COLORFUL)
_NAMES = {
    "1": "bold", "2": "dim", "3": "italic", "4": "underline", "9": "strike",
    f"38;5;{ACCENT}": "accent", f"38;5;{COLORFUL}": "colorful", f"38;5;{GREEN}": "green", f"38;5;{RED}": "red",
}  # fmt: skip
_SPAN = re.compile(r"\x1b\[([\d;]+)m(.*?)\x1b\[0m", re.DOTALL)
_PARAMETER = re.compile(r"38;5;\d+|48;5;\d+|\d+")


def written_out(ansi: str) -> str:
    return _SPAN.sub(lambda m: f"[{' '.join(_NAMES.get(p, p) for p in _PARAMETER.findall(m[1]))}]{m[2]}[/]", ansi)
