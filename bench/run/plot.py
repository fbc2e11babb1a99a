"""`python -m bench.run.plot REPORT` puts a run into the documentation, as a table and as a picture.

REPORT is what `python -m bench --json` wrote.

One bar a line, on a logarithmic scale: how many times better than its bar it came out. Right of the middle is better;
what is left of it is short, and says so.
"""

import json
import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).parents[2] / "docs"
PICTURE, PAGE = "pictures/performance.svg", "performance.md"
BEGIN, END = "<!-- a run: `make bench-plot` writes it -->\n", "<!-- until here -->\n"
ROW, LEFT, WIDTH, RIGHT, TOP = 22, 230, 400, 270, 64
DECADES = 1.3
"""Powers of ten to either side of the middle; a bar that would reach further ends in an arrow."""
TICKS = {0.1: "10× short", 0.5: "2×", 1: "the bar", 2: "2×", 10: "10× better"}
STYLE = """
svg { background: #ffffff; } .name { fill: #24283b; } .words { fill: #4c5372; } .grid { stroke: #d5d8e4; }
.middle { stroke: #24283b; stroke-width: 1.5; } .ok { fill: #3d7a1f; } .short { fill: #ffffff; stroke: #b3203f; }
.alarm { fill: #b3203f; font-weight: bold; } .stripe { stroke: #b3203f; }
@media (prefers-color-scheme: dark) {
  svg { background: #1a1b26; } .name { fill: #c0caf5; } .words { fill: #a9b1d6; } .grid { stroke: #343a55; }
  .middle { stroke: #c0caf5; } .ok { fill: #9ece6a; } .short { fill: #1a1b26; stroke: #f7768e; }
  .alarm { fill: #f7768e; } .stripe { stroke: #f7768e; }
}
"""
STRIPES = (
    '<pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line class="stripe" x1="0" y1="0" x2="0" y2="6" stroke-width="3"/></pattern>'
)


def better(result: dict) -> float:
    """The ratio in units of its bar, more being better."""
    direction, value = result["bar"].split()
    bar = float(value.rstrip("x"))
    return result["ratio"] / bar if direction == ">=" else bar / max(result["ratio"], 1e-9)


def _at(factor: float) -> float:
    """Where on the scale."""
    return LEFT + WIDTH / 2 * (1 + max(-1.0, min(math.log10(max(factor, 1e-9)) / DECADES, 1.0)))


def svg(report: dict) -> str:
    results = report["results"]
    height = TOP + ROW * len(results) + 16
    middle = _at(1)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + RIGHT} {height}" role="img"'
            ' font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="12">'
        ),
        f"<title>Every benchmark against its bar</title><style>{STYLE}</style><defs>{STRIPES}</defs>",
        f'<text class="name" x="{LEFT - 10}" y="20" text-anchor="end" font-weight="bold">against its bar</text>',
        f'<text class="words" x="{LEFT}" y="20">{escape(_about(report))}</text>',
    ]
    for factor, words in TICKS.items():
        kind = "middle" if factor == 1 else "grid"
        x = _at(factor)
        parts.append(f'<line class="{kind}" x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - 12}"/>')
        parts.append(f'<text class="words" x="{x:.1f}" y="{TOP - 14}" text-anchor="middle">{words}</text>')
    for number, result in enumerate(results):
        y = TOP + ROW * number
        factor = better(result)
        x, end = sorted((middle, _at(factor)))
        arrow = f"M{end:.1f} {y + 4}l6 6l-6 6z" if factor > 10**DECADES else ""
        kind = 'class="ok"' if result["ok"] else 'class="short"'
        words = f"{result['ratio']:.2f}x, bar {result['bar']}"
        parts += [
            f'<text class="name" x="{LEFT - 10}" y="{y + 14}" text-anchor="end">{escape(result["name"])}</text>',
            f'<rect {kind} x="{x:.1f}" y="{y + 4}" width="{max(end - x, 1.5):.1f}" height="12" rx="2"/>',
            f'<path class="ok" d="{arrow}"/>' if arrow else "",
            f'<text class="words" x="{LEFT + WIDTH + 14}" y="{y + 14}">{escape(words)}'
            + ("" if result["ok"] else '<tspan class="alarm"> short</tspan>')
            + "</text>",
        ]
        if not result["ok"]:
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 4}" width="{max(end - x, 1.5):.1f}" height="12" fill="url(#stripes)"/>'
            )
    return "\n".join([*filter(None, parts), "</svg>"]) + "\n"


def _about(report: dict) -> str:
    machine = report.get("machine", {})
    return ", ".join(
        [report.get("date", ""), f"{machine.get('cpus', '?')} cores", f"Python {machine.get('python', '?')}"]
    )


def table(report: dict) -> str:
    """The run as the documentation shows it."""
    lines = "\n".join([report["head"], *(result["line"] for result in report["results"])])
    minutes = sum(report["seconds"].values()) / 60
    about = f"{_about(report)}; all of it took {minutes:.0f} minutes."
    return f"{BEGIN}![Every benchmark against its bar]({PICTURE})\n\n{about}\n\n```text\n{lines}\n```\n{END}"


def write(report: dict, docs: Path) -> None:
    page = docs / PAGE
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(before + table(report) + rest.partition(END)[2], encoding="utf-8")
    (docs / PICTURE).write_text(svg(report), encoding="utf-8")


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), DOCS)
