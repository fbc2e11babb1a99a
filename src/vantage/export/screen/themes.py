"""The two looks of the player: Tokyo Night, and its Day, as a terminal's colours and as the page's."""

import msgspec

from vantage.export.screen.pieces import Theme


class PageTheme(Theme, frozen=True):
    """A theme with the colours of the page around the terminal."""

    page: str = ""
    panel: str = ""
    line: str = ""
    text: str = ""
    muted: str = ""
    accent: str = ""
    good: str = ""
    bad: str = ""


NIGHT = PageTheme(
    background="#1a1b26",
    foreground="#c0caf5",
    colors=(
        "#15161e", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#a9b1d6",
        "#737aa2", "#ff899d", "#b9f27c", "#faba4a", "#8db0ff", "#c7a9ff", "#a4daff", "#c0caf5",
    ),
    page="#13141c",
    panel="#1f2030",
    line="#2f334d",
    text="#c0caf5",
    muted="#8f97bf",
    accent="#7aa2f7",
    good="#9ece6a",
    bad="#f7768e",
)  # fmt: skip
DAY = PageTheme(
    background="#eceef5",
    foreground="#343b58",
    colors=(
        "#343b58", "#c4204f", "#4a662c", "#7a5a28", "#1f63c4", "#7b3fc9", "#006a83", "#b9bed6",
        "#68709a", "#d6336c", "#587539", "#8c6c3e", "#2e7de9", "#9854f1", "#007197", "#8990b3",
    ),
    page="#d5d9e6",
    panel="#e3e6f0",
    line="#b4bad0",
    text="#343b58",
    muted="#565c80",
    accent="#1f63c4",
    good="#4a662c",
    bad="#c4204f",
)  # fmt: skip


def variables(dark: PageTheme, light: PageTheme) -> str:
    """CSS: dark, light where the system wants it, and either where the page says so."""
    return (
        f":root, :root[data-theme=dark] {{ color-scheme: dark; {_properties(dark)} }}\n"
        f"@media (prefers-color-scheme: light) {{ :root {{ color-scheme: light; {_properties(light)} }} }}\n"
        f":root[data-theme=light] {{ color-scheme: light; {_properties(light)} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {_properties(dark)} }}"
    )


def _properties(style: PageTheme) -> str:
    named = {name: value for name, value in msgspec.structs.asdict(style).items() if isinstance(value, str)}
    numbered = {f"c{number}": color for number, color in enumerate(style.colors)}
    return " ".join(f"--{name}: {value};" for name, value in {**named, **numbered}.items())
