"""The terminal of this process: its width, colours, character set and graphics.

`describe` is a pure function of the environment and the size; `read` asks the system. Nothing heavy is imported and
nothing is sent to the terminal: a feature that the environment does not announce counts as absent.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

FALLBACK_COLUMNS = 80
TRUE_COLOR = 16_777_216

# Terminals are named in TERM, in TERM_PROGRAM, or by a variable of their own. Names are compared without case.
# These have every colour, and links.
_MODERN_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "contour", "wezterm", "rio")
_MODERN_PROGRAMS = frozenset({"iterm.app", "wezterm", "ghostty", "vscode", "hyper", "mintty", "contour", "rio"})
# Only those that draw sixels by default: xterm and VS Code can, but have to be told to.
_SIXEL_TERMS = ("foot", "mlterm", "contour", "yaft", "wezterm", "rio")
_SIXEL_PROGRAMS = frozenset({"iterm.app", "wezterm", "mintty", "mlterm", "contour", "rio"})
_LINK_VARIABLES = ("WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID")
_LINK_VTE = 5000
"""The release of GNOME's terminal widget that learnt links, as VTE_VERSION has it."""
_MULTIPLEXERS = ("tmux", "screen")
_COLORLESS_TERMS = ("", "dumb", "unknown", "vt100", "vt102", "vt220")
# The Linux console has a font of 512 glyphs: no emoji, nothing wide.
_ASCII_TERMS = ("linux", "vt100", "vt102", "vt220")
_FORCED_DEPTHS = {"2": 256, "3": TRUE_COLOR}


class OwnTerminal(msgspec.Struct, frozen=True, kw_only=True):
    """The known facts about a terminal."""

    columns: int = FALLBACK_COLUMNS
    color_depth: int = 0
    """Colours: 0, 16, 256 or 16777216."""
    unicode: bool = True
    sixel: bool = False
    hyperlinks: bool = False
    """Whether links can be attached to text (OSC 8)."""
    background: Literal["dark", "light"] = "dark"


def describe(environment: Mapping[str, str], *, columns: int | None, is_terminal: bool) -> OwnTerminal:
    """The terminal that the environment describes, `columns` wide; `None` or 0 when the size is not known."""
    return OwnTerminal(
        columns=_stated_columns(environment) or columns or FALLBACK_COLUMNS,
        color_depth=_color_depth(environment, is_terminal=is_terminal),
        unicode=_has_unicode(environment),
        sixel=is_terminal and _has_sixel(environment),
        hyperlinks=is_terminal and _has_hyperlinks(environment),
        background=_background(environment),
    )


def read(descriptors: Iterable[int] = (1, 2, 0)) -> OwnTerminal:
    """The terminal behind the first of `descriptors` that has one.

    Stdout comes first, but in `"$(vantage context)"` it is a pipe, and the person still looks at stderr's terminal.
    A caller that needs one stream only (colours for stdout) passes just that one.
    """
    sizes = [size for descriptor in descriptors if (size := _columns_of(descriptor)) is not None]
    return describe(os.environ, columns=next(filter(None, sizes), None), is_terminal=bool(sizes))


def _columns_of(descriptor: int) -> int | None:
    """The columns of a descriptor's terminal, 0 when they are not set; `None` when it is no terminal."""
    try:
        return os.get_terminal_size(descriptor).columns
    except OSError:
        return None


def _stated_columns(environment: Mapping[str, str]) -> int | None:
    """COLUMNS. Shells do not export it, so where it is exported a person has set it."""
    stated = environment.get("COLUMNS", "").strip()
    return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 5 else None


def _color_depth(environment: Mapping[str, str], *, is_terminal: bool) -> int:
    """FORCE_COLOR beats NO_COLOR (force-color.org, no-color.org: any value but the empty one counts), then CLICOLOR."""
    able = _able_depth(environment)
    if forced := environment.get("FORCE_COLOR"):
        return max(able, _FORCED_DEPTHS.get(forced, 16))
    if environment.get("NO_COLOR"):
        return 0
    if environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return max(able, 16)
    if environment.get("CLICOLOR") == "0" or not is_terminal:
        return 0
    return able


def _able_depth(environment: Mapping[str, str]) -> int:
    """The colours that the terminal can show, before the user's wishes are applied."""
    term = environment.get("TERM", "").lower()
    if term in _COLORLESS_TERMS:
        return 0
    if (
        environment.get("COLORTERM", "").lower() in ("truecolor", "24bit")
        or term.endswith("-direct")
        or term.startswith(_MODERN_TERMS)
        or (environment.get("TERM_PROGRAM", "").lower() in _MODERN_PROGRAMS and not _is_multiplexed(environment))
    ):
        return TRUE_COLOR
    return 256 if "256color" in term else 16


def _has_unicode(environment: Mapping[str, str]) -> bool:
    """The locale's character set. With no locale at all (containers, services) terminals are UTF-8 nowadays."""
    if environment.get("TERM", "").lower() in _ASCII_TERMS:
        return False
    stated = next(filter(None, (environment.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))), "C.UTF-8")
    return stated.lower().replace("-", "").partition("@")[0].endswith("utf8")


def _has_sixel(environment: Mapping[str, str]) -> bool:
    term = environment.get("TERM", "").lower()
    # A multiplexer stands between us and the terminal that the variables name.
    if _is_multiplexed(environment):
        return False
    return (
        "sixel" in term
        or term.startswith(_SIXEL_TERMS)
        or environment.get("TERM_PROGRAM", "").lower() in _SIXEL_PROGRAMS
    )


def _has_hyperlinks(environment: Mapping[str, str]) -> bool:
    if _is_multiplexed(environment):
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM", "").lower().startswith(_MODERN_TERMS)
        or environment.get("TERM_PROGRAM", "").lower() in _MODERN_PROGRAMS
        or any(environment.get(name) for name in _LINK_VARIABLES)
        or (vte.isdigit() and int(vte) >= _LINK_VTE)
    )


def _is_multiplexed(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("TMUX")) or environment.get("TERM", "").lower().startswith(_MULTIPLEXERS)


def _background(environment: Mapping[str, str]) -> Literal["dark", "light"]:
    """COLORFGBG (`15;0`, `0;default;15`) of rxvt, Konsole and others: its last part is the background."""
    number = environment.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if number in ("7", "9", "10", "11", "12", "13", "14", "15") else "dark"
