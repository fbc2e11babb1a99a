"""Markdown of one construct, repeated to a length: what every step and surface must draw in time that grows with it."""

from collections.abc import Callable

REPEATED = {
    "marks, code and links": "**a** `b` [c](http://d) ",
    "tight list": "- item\n",
    "loose list": "- item\n\n",
    "ordered list": "1. item\n",
    "tasks": "- [ ] a\n- [x] b\n",
    "quote of many lines": "> a\n",
    "quotes": "> a\n\nb\n\n",
    "nested quotes": "> > > a\n",
    "quote marks": ">",
    "tables": "| a | b |\n|---|---|\n| c | d |\n\n",
    "links": "[c](http://d) ",
    "links to another address": "[http://a.b](http://c.d) ",
    "references without a definition": "[c][d] ",
    "autolinks": "<http://d> ",
    "mail addresses": "<a@b.c> ",
    "bare addresses": "http://d.e/f ",
    "addresses that begin with www": "www.a.b ",
    "images": "![c](http://d) ",
    "images that do not close": "![",
    "emphasis": "*a* ",
    "strong": "**a** ",
    "struck": "~~a~~ ",
    "emphasis in strong": "***a** b* ",
    "stars": "*",
    "marks that do not close": "**a *b ",
    "underscores": "_",
    "code spans": "`a` ",
    "backticks": "`",
    "backticks of several lengths": "` `` ``` ",
    "fences": "```python\nx = 1\n```\n\n",
    "fences that do not close": "```\n",
    "indented code": "    a\n",
    "footnote references": "[^1] ",
    "footnotes of one label": "[^1]: a\n\n",
    "headings": "# a\n",
    "underlined headings": "a\n===\n\n",
    "html blocks": "<div>a</div>\n\n",
    "inline html": "a <b>c</b> ",
    "line breaks in html": "a<br>",
    "comments": "<!-- a --> ",
    "comments that do not close": "<!--",
    "tags that do not close": "<a ",
    "entities": "&amp; ",
    "hard breaks": "a  \nb\\\n",
    "soft breaks": "a\n",
    "math": "$x^2$ ",
    "math blocks": "$$x$$\n\n",
    "display math in text": "$$x$$ ",
    "fractions": "$\\frac{a}{b}$ ",
    "prices": "$5 and ",
    "alerts": "> [!NOTE]\n> a\n\n",
    "rules": "---\n\n",
    "a long word": "a",
    "words": "ab ",
    "joints": "a/b-",
    "wide characters": "漢",
    "combining characters": "e\u0301",
    "combining characters alone": "\u0301",
    "emoji": "👍🏽",
    "joined emoji": "👨\u200d👩\u200d👧",
    "flags": "🇩🇪",
    "emoji and marks": "a👍 **b** ",
    "overrides": "\u202e",
    "colours": "\x1b[31m",
    "tabs": "\t",
    "spaces": " ",
    "newlines": "\n",
    "backslashes": "\\",
    "escapes": "\\*",
    "brackets": "[",
    "links that do not close": "[a](",
    "pipes": "|",
    "rows without a table": "|a\n",
    "borders": "+--",
    "of everything": (
        "# a\n\n- b **c**\n  - d `e`\n\n> q [x](http://y)\n\n| a | b |\n|---|---|\n| 1 | |\n\n```py\nx\n```\n\n"
        "![i](http://z)\n\nfoo[^1]\n\n[^1]: bar\n\n"
    ),
}
"""Construct → what is repeated."""

MADE: dict[str, Callable[[int], str]] = {
    "a long table": lambda size: "| a | b |\n|---|---|\n" + "| c | d |\n" * (size // 10),
    "empty cells": lambda size: "| a | b |\n|---|---|\n" + "| | |\n" * (size // 6),
    "a wide table": lambda size: "|a" * (size // 8) + "|\n" + "|-" * (size // 8) + "|\n" + "|b" * (size // 8) + "|\n",
    "a row of too many cells": lambda size: "|a|b|\n|-|-|\n|" + "c|" * (size // 2) + "\n",
    "a row of empty cells": lambda size: "|a|b|\n|-|-|\n|c" + "|" * size + "\n",
    "a row of backslashes": lambda size: "|a|b|\n|-|-|\n|c|" + "\\" * size + "|d|e|\n",
    "a cell of flags": lambda size: "|a|b|\n|-|-|\n|c|" + "🇩🇪" * (size // 2) + "|\n",
    "a row of backticks": lambda size: (
        "|a|b|\n|-|-|\n|" + "".join("`" * (i % 40) + "|" for i in range(size // 21)) + "\n"
    ),
    "grids": lambda size: "+---+---+\n| a | b |\n+---+---+\n| c | d |\n+---+---+\nx\n" * (size // 52),
    "nested lists": lambda size: "".join("  " * (i % 30) + "- a\n" for i in range(size // 34)),
    "nested images": lambda size: "![" * (size // 7) + "a" + "](b)" * (size // 7),
    "references": lambda size: "[c][d] " * (size // 7) + "\n\n[d]: http://e\n",
    "definitions": lambda size: (
        "".join(f"[a{i}]: http://b{i}\n" for i in range(size // 30)) + "".join(f"[a{i}] " for i in range(size // 30))
    ),
    "footnotes": lambda size: "".join(f"a[^{i}]\n\n[^{i}]: b\n\n" for i in range(size // 22)),
    "a long fence": lambda size: "```python\n" + 'x = "a" # b\n' * (size // 12) + "```\n",
    "a long word in dollars": lambda size: "a $" + "a" * size + "$ b",
    "nested fractions": lambda size: "$" + "\\frac{a}{" * (size // 10) + "b" + "}" * (size // 10) + "$",
    "a flow chart": lambda size: (
        "```mermaid\ngraph TD\n" + "".join(f"A{i}-->A{i + 1}\n" for i in range(size // 14)) + "```\n"
    ),
    "a long link": lambda size: "[" + "**a** b " * (size // 8) + "](http://c)",
    "a long heading": lambda size: "# " + "a **b** " * (size // 8),
    "a long cell": lambda size: "| a | b |\n|---|---|\n| " + "c `d` " * (size // 6) + " | e |\n",
    "a cell of a long word": lambda size: "| a | b |\n|---|---|\n| " + "c" * size + " | e |\n",
}
"""Construct → what makes it in a length."""

CONSTRUCTS = [*REPEATED, *MADE]


def made(construct: str, size: int) -> str:
    """About `size` characters of a construct."""
    if construct in MADE:
        return MADE[construct](size)
    unit = REPEATED[construct]
    return unit * (size // len(unit) + 1)
