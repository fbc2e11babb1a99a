"""`docs/surfaces.md` shows the golden answer side by side; `VANTAGE_GOLDEN=write make test` brings it up to date."""

import html
import json
import os
import re

from places import FIXTURES, ROOT

PAGE = ROOT / "docs" / "surfaces.md"
SHOWN = [
    ("terminal-120.txt", "terminal-80.txt"),
    ("terminal-45.txt", "terminal-30.txt"),
    ("telegram-45.md", "slack-80.json"),
]


def excerpt(name: str) -> str:
    """The part about the hosts, whose table is what displays differ about most."""
    text = (FIXTURES / "answer" / name).read_text()
    if name.endswith(".json"):
        text = "\n".join(block.get("text", "") for block in json.loads(text)[0]["blocks"])
    return re.search(r"^( *(?:## )?Hosts\n.*?)\n *(?:## )?What happened", text, re.MULTILINE | re.DOTALL)[1].rstrip()


def side_by_side() -> str:
    rows = []
    for pair in SHOWN:
        heads = "".join(f"<th>{name.split('.')[0].replace('-', ', ')} columns</th>" for name in pair)
        cells = "".join(f"<td><pre>\n{html.escape(excerpt(name), quote=False)}\n</pre></td>" for name in pair)
        rows.append(f"<tr>{heads}</tr>\n<tr>{cells}</tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def test_the_page_shows_what_the_surfaces_draw():
    page = PAGE.read_text()
    start, end = "<!-- begin: side by side -->", "<!-- end: side by side -->"
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    expected = f"{before}{start}\n{side_by_side()}\n{end}{after}"
    if os.environ.get("VANTAGE_GOLDEN") == "write":
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected
