"""A picture as PNG, by the first converter of SVG that is installed."""

import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from vantage.errors import Unavailable

_TIMEOUT_S = 60
_CHROMIUM = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--default-background-color=00000000",
)  # fmt: skip


def _rsvg(program: str, svg: Path, png: Path, scale: float) -> list[str]:
    return [program, "--zoom", str(scale), "--output", str(png), str(svg)]


def _resvg(program: str, svg: Path, png: Path, scale: float) -> list[str]:
    return [program, "--zoom", str(scale), str(svg), str(png)]


def _inkscape(program: str, svg: Path, png: Path, scale: float) -> list[str]:
    return [program, "--export-type=png", f"--export-dpi={96 * scale}", f"--export-filename={png}", str(svg)]


def _chromium(program: str, svg: Path, png: Path, scale: float) -> list[str]:
    width, height = size_of(svg.read_text(encoding="utf-8"))
    window = f"--window-size={width},{height}"
    own = f"--user-data-dir={svg.parent / 'profile'}"
    return [
        program,
        *_CHROMIUM,
        own,
        window,
        f"--force-device-scale-factor={scale}",
        f"--screenshot={png}",
        svg.as_uri(),
    ]


CONVERTERS: dict[str, Callable[[str, Path, Path, float], list[str]]] = {
    "rsvg-convert": _rsvg,
    "resvg": _resvg,
    "inkscape": _inkscape,
    "chromium": _chromium,
    "chromium-browser": _chromium,
    "google-chrome": _chromium,
}
"""Program → its arguments, in the order in which they are tried."""


def size_of(svg: str) -> tuple[int, int]:
    """Width and height of one of our pictures, in whole pixels."""
    head = svg[: svg.index(">")]
    width, height = (float(head.split(f'{name}="', 1)[1].split('"', 1)[0]) for name in ("width", "height"))
    return -int(-width // 1), -int(-height // 1)


def converter() -> str | None:
    """The converter that is installed here."""
    found = next((name for name in CONVERTERS if which(name)), None)
    return found or ("cairosvg" if find_spec("cairosvg") else None)


def svg_to_png(svg: str, *, scale: float = 2.0) -> bytes:
    """The picture in pixels; `scale` pixels for each of its units."""
    name = converter()
    if name is None:
        raise Unavailable(
            "there is no program here that makes a PNG of an SVG",
            hint=f"install one of {', '.join([*CONVERTERS, 'cairosvg'])}, or take the SVG",
        )
    if name == "cairosvg":
        import cairosvg  # type: ignore[import-not-found]  # noqa: PLC0415 -- where it is installed

        return bytes(cairosvg.svg2png(bytestring=svg.encode(), scale=scale))
    with tempfile.TemporaryDirectory(prefix="vantage-png-") as folder:
        source, target = Path(folder) / "screen.svg", Path(folder) / "screen.png"
        source.write_text(svg, encoding="utf-8")
        command = CONVERTERS[name](str(which(name)), source, target, scale)
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"{name} did not make a PNG: {error}", hint="take the SVG") from error
        if not target.exists():
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise Unavailable(
                f"{name} did not make a PNG: {words[-1] if words else done.returncode}", hint="take the SVG"
            )
        return target.read_bytes()
