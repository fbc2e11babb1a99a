"""Remembering, searching, browsing, delegating, asking."""

from vantage.events import Json
from vantage.text.spans import Span
from vantage.text.style import ACCENT
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import IN, Block, OutputBlock, TextBlock, head
from vantage.timeline.tools import Presentation, error_blocks, fits, presenter


def _body(call: ToolCall) -> list[Block]:
    return error_blocks(call) or ([OutputBlock(call.output)] if call.output.strip() else [])


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]


def _quoted(text: str) -> str:
    return f'"{_first_line(text)}"' if text.strip() else ""


SPECS: dict[str, Json] = {
    "remember": {
        "collapsed": {
            "icon": "brain.head.profile",
            "iconColor": "yellow",
            "title": "{{args.text | firstLine | truncate:80}}",
            "trailing": '{{args.tags | join:", " | truncate:40}}',
        },
        "expanded": {
            "source": "args",
            "blocks": [
                {"type": "markdown", "content": "{{args.text}}"},
                {"type": "badges", "items": "{{args.tags}}", "color": "blue"},
            ],
        },
    },
    "recall": {
        "collapsed": {
            "icon": "brain.head.profile",
            "iconColor": "yellow",
            "title": '"{{args.query | truncate:60}}"',
            "trailing": "{{output | lineCount}} matches",
        },
        "expanded": {"blocks": [{"type": "ansi", "content": "{{output}}"}]},
    },
}
"""Tools that are drawn by render specs."""


@presenter("search", "grep", "glob", "grep_search", "search_file_content", "grep_files", "find")
def search(call: ToolCall) -> Presentation | None:
    if not fits(call, {"pattern": str, "query": str, "regex": str}, path=str, glob=str, include=str):
        return None
    place = call.text("path", "dir_path", "glob", "include")
    title = head("Search", call.text("pattern", "query", "regex"), *((IN, place) if place else ()))
    return Presentation(title, _body(call))


@presenter("web_fetch", "webfetch", "fetch")
def web_fetch(call: ToolCall) -> Presentation | None:
    if not fits(call, {"url": str, "prompt": str}):
        return None
    return Presentation(head("Fetch", call.text("url", "prompt")), _body(call))


@presenter("web_search", "websearch", "google_web_search")
def web_search(call: ToolCall) -> Presentation | None:
    if not fits(call, {"query": str}):
        return None
    return Presentation(head("Search Web", _quoted(call.text("query"))), _body(call))


@presenter("task", "spawn_agent", "agent")
def task(call: ToolCall) -> Presentation | None:
    """Work handed to a sub-agent: its order while it runs, its report when it is done."""
    if not fits(call, {"description": str, "prompt": str, "task": str}):
        return None
    order = call.text("prompt", "task")
    title = head("Task", _first_line(call.text("description") or order), Span(call.text("subagent_type"), ACCENT))
    if call.done:
        return Presentation(title, _body(call))
    return Presentation(title, [TextBlock(order.strip(), "accent")] if call.args.get("description") and order else [])


@presenter("ask_user_question", "askuserquestion", "ask_user", "question", "request_user_input")
def question(call: ToolCall) -> Presentation | None:
    """Questions to a person with the possible answers, then the answer."""
    if not fits(call, {"questions": list}):
        return None
    asked = [one for one in call.args.get("questions") or [] if isinstance(one, dict)]
    lines = [line for one in asked for line in _asked(one, alone=len(asked) == 1)]
    offered: list[Block] = [TextBlock("\n".join(lines))] if lines else []
    title = head(call.verb("Ask", "Asking", "Asked"), _text(asked[0].get("question")) if len(asked) == 1 else "")
    return Presentation(title, [*offered, *_body(call)])


def _asked(one: dict[str, Json], *, alone: bool) -> list[str]:
    options = one.get("options")
    offered = [option.get("label") if isinstance(option, dict) else option for option in _list(options)]
    lines = [f"{number}. {_text(label)}" for number, label in enumerate(offered, 1) if _text(label)]
    return lines if alone else [_text(one.get("question")), *lines]


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


PRESENTERS = (search, web_fetch, web_search, task, question)
