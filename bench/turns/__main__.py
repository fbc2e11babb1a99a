"""`python -m bench.turns [--json FILE] [--write] [--calls]`: a line for each task, the sums and their ratios."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.run.answers import AT_END
from bench.run.harness import ROOT
from bench.turns import codex_player, vantage_player
from bench.turns.count import Sheet

PAGE = ROOT / "docs/mcp.md"
BEGIN, END = "<!-- a run: `make bench-turns` writes it -->\n", "<!-- until here -->\n"
HEAD = ("task", "calls", "Codex", "before", "tokens", "Codex", "before", "as text")
RULE = "|---|--:|--:|--:|--:|--:|--:|--:|"

Sheets = dict[str, Sheet]
"""`ours`, `codex` and `before`: every player's tasks, in the same order."""


def run() -> Sheets:
    try:
        return {
            "ours": vantage_player.played(),
            "codex": codex_player.played(),
            "before": vantage_player.played(former=True),
        }
    finally:
        for close in AT_END:
            close()


def table(sheets: Sheets) -> str:
    """A line for each task, the lists of tools, the sums, and ours as a share of each of the others."""
    ours, codex, before = sheets["ours"], sheets["codex"], sheets["before"]
    rows: list[Sequence[object]] = [
        (
            mine.task,
            *(len(one.calls) for one in (mine, other, former)),
            *(one.tokens for one in (mine, other, former)),
            mine.text_tokens,
        )
        for mine, other, former in zip(ours.played, codex.played, before.played, strict=True)
    ]
    rows += [
        ("the list of tools, once", "", "", "", ours.tools, codex.tools, before.tools, ours.tools),
        (
            "**together**",
            *(sheet.calls for sheet in (ours, codex, before)),
            *(sheet.tokens for sheet in (ours, codex, before)),
            ours.text_tokens,
        ),
        (
            "ours to that",
            "",
            *(f"{ours.calls / sheet.calls:.2f}" for sheet in (codex, before)),
            "",
            *(f"{ours.tokens / sheet.tokens:.2f}" for sheet in (codex, before)),
            "",
        ),
    ]
    lines = [_line(HEAD), RULE, *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[object]) -> str:
    words = [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells]
    return f"| {' | '.join(words)} |".replace("|  |", "| |").replace("|  |", "| |")


def report(sheets: Sheets) -> dict[str, Any]:
    """Every call of every player, and the sums."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "players": {
            name: {
                "tools_tokens": sheet.tools,
                "calls": sheet.calls,
                "tokens": sheet.tokens,
                "tasks": [
                    {"name": one.task, "tokens": one.tokens, "calls": [call._asdict() for call in one.calls]}
                    for one in sheet.played
                ],
            }
            for name, sheet in sheets.items()
        },
    }


def write(sheets: Sheets, page: Path) -> None:
    """The run takes the place of the last one in the documentation."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(before + BEGIN + table(sheets) + END + rest.partition(END)[2], encoding="utf-8")


def show_calls(sheets: Sheets) -> None:
    for name, sheet in sheets.items():
        for one in sheet.played:
            print(f"\n{name}: {one.task}")
            for call in one.calls:
                print(f"{call.tool} {call.asked}\n→ {call.shown}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.turns", description="What tasks cost in calls and tokens.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every call and its answer to FILE")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{PAGE.name}")
    parser.add_argument("--calls", action="store_true", help="print every call and its answer")
    options = parser.parse_args(arguments)
    sheets = run()
    if options.calls:
        show_calls(sheets)
    print(table(sheets), end="")
    if options.json:
        options.json.write_text(json.dumps(report(sheets), indent=2) + "\n", encoding="utf-8")
    if options.write:
        write(sheets, PAGE)


if __name__ == "__main__":
    sys.exit(main())
