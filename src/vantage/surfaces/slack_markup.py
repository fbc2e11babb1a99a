"""Runs in Slack's two markups: `mrkdwn`, its own, for sections, and standard markdown for `markdown` blocks.

Foreign text can open neither a mention nor a link: `&`, `<` and `>` are entities, and markdown's code, where they
cannot be, may not contain a mention. In markdown, characters of markup are escaped; `mrkdwn` has no escape for its
marks, so a run that contains one is written without marks.
"""

import re
from collections.abc import Callable

import msgspec

from vantage.document.nodes import CODE, EMPHASIS, HTML, MATH, STRIKE, STRONG
from vantage.surfaces.chat_text import Run, Runs

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Characters that could end an address early, as percent escapes.
_URL_MRKDWN = str.maketrans({"|": "%7C", ">": "%3E", "<": "%3C", "&": "&amp;"})
_URL_MARKDOWN = str.maketrans({"(": "%28", ")": "%29", ">": "%3E", "<": "%3C", "\\": "%5C"})

_SPECIAL = re.compile(r"[\\`*\[\]|]|~(?=~)|(?<=~)~|(?<!\w)_|_(?!\w)")
_MENTION = re.compile(r"<[!@#]")
_LINE_START = re.compile(r"^( *)(?:(#{1,6}|[-+]|=+)(?= |$)|(\d{1,9})([.)])(?= |$)|(-{3,} *$))", re.MULTILINE)


class Markup(msgspec.Struct, frozen=True):
    marks: tuple[tuple[int, str], ...]
    """(mark, its delimiter), outermost first."""
    text: Callable[[str], str]
    code: Callable[[str], str]
    link: Callable[[str, str], str]
    """(address, label as written)"""


def escape(text: str) -> str:
    return text.translate(_ENTITIES)


def _mrkdwn_code(text: str) -> str:
    return escape(text) if "`" in text or not text.strip() else f"`{escape(text)}`"


def _mrkdwn_link(url: str, label: str) -> str:
    words = label.replace("|", "¦").replace("\n", " ").strip()
    address = url.translate(_URL_MRKDWN)
    return f"<{address}|{words}>" if words else f"<{address}>"


def _markdown_text(text: str) -> str:
    text = _SPECIAL.sub(lambda match: "\\" + match[0], escape(text))
    return _LINE_START.sub(_escape_line_start, text)


def _escape_line_start(match: re.Match[str]) -> str:
    indent, sign, number, dot, rule = match.groups()
    if number:
        return f"{indent}{number}\\{dot}"
    return f"{indent}\\{sign or rule}"


def _markdown_code(text: str) -> str:
    """A code span, fenced by more backticks than it contains."""
    if not text.strip() or _MENTION.search(text):
        return _markdown_text(text)
    longest = max([len(run) for run in re.findall("`+", text)], default=0)
    fence = "`" * (longest + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def _markdown_link(url: str, label: str) -> str:
    return f"[{label}]({url.translate(_URL_MARKDOWN)})"


MRKDWN = Markup(((STRONG, "*"), (EMPHASIS, "_"), (STRIKE, "~")), escape, _mrkdwn_code, _mrkdwn_link)
MARKDOWN = Markup(((STRONG, "**"), (EMPHASIS, "*"), (STRIKE, "~~")), _markdown_text, _markdown_code, _markdown_link)


def write(runs: Runs, markup: Markup) -> str:
    """The runs in markup. Marks touch the words that they mark, and end with the line, as both markups require."""
    out: list[str] = []
    opened: list[str] = []
    pending = ""
    """White space that is held back until it is known whether a mark ends before it."""
    for run in _by_line(runs):
        if run.markup:
            _close(out, opened, 0)
            out.append(pending + run.text)
            pending = ""
            continue
        wanted = _delimiters(run, markup)
        keep = 0
        while keep < len(opened) and keep < len(wanted) and opened[keep] == wanted[keep]:
            keep += 1
        _close(out, opened, 0 if "\n" in run.text else keep)
        if not run.text.strip():
            pending += run.text
            continue
        body = run.text.strip(" ")
        lead, tail = run.text[: run.text.find(body)], run.text[run.text.find(body) + len(body) :]
        out.append(_breaks(pending + lead, markup))
        for delimiter in wanted[keep:]:
            out.append(delimiter)
            opened.append(delimiter)
        out.append(_written(run, body, markup))
        pending = tail
    _close(out, opened, 0)
    return "".join(out)


def _close(out: list[str], opened: list[str], keep: int) -> None:
    while len(opened) > keep:
        out.append(opened.pop())


def _breaks(space: str, markup: Markup) -> str:
    """A line end in markdown is only one with two spaces before it."""
    return space.replace("\n", "  \n") if markup is MARKDOWN and "\n" in space else space


def _by_line(runs: Runs) -> Runs:
    """The runs with every newline in a run of its own."""
    out: Runs = []
    for run in runs:
        if "\n" not in run.text:
            out.append(run)
            continue
        for index, line in enumerate(run.text.split("\n")):
            if index:
                out.append(Run("\n"))
            if line:
                out.append(msgspec.structs.replace(run, text=line))
    return out


def _delimiters(run: Run, markup: Markup) -> list[str]:
    if run.marks & (CODE | MATH | HTML):
        return []
    wanted = [delimiter for mark, delimiter in markup.marks if run.marks & mark]
    if markup is MRKDWN:
        return [delimiter for delimiter in wanted if delimiter not in run.text]
    return wanted


def _written(run: Run, body: str, markup: Markup) -> str:
    code = run.marks & (CODE | MATH | HTML) and not (run.url and markup is MRKDWN)  # links there hold plain words only
    text = markup.code(body) if code else markup.text(body)
    return markup.link(run.url, text) if run.url else text
