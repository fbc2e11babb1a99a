"""One long answer with every construct, on five displays at four widths, as files that people can read.

`VANTAGE_GOLDEN=write make test` writes them anew; the change of look is then a text diff to be reviewed.
"""

import json
import os
import re
from html.parser import HTMLParser

import pytest

from places import FIXTURES
from vantage import PresentationContext, Timeline, profile
from vantage.surfaces import draw

FOLDER = FIXTURES / "answer"
ANSWER = (FOLDER / "answer.md").read_text()
WIDTHS = (30, 45, 80, 120)
SURFACES = {"terminal": "terminal", "telegram": "telegram", "web": "html", "slack": "slack", "api": "plain"}
ENDINGS = {"telegram": "md", "html": "html", "slack": "json"}
WORDS = """
    Deployment runbook naïve engineer restarted SIGHUP degraded 漢字 canary latency migration rebuilt restart caught
    sentence pg_last_xact_replay_timestamp Canary back Latency HTML Retries
"""
CASES = [(name, width) for name in SURFACES for width in WIDTHS]


def display(name: str, width: int) -> PresentationContext:
    if name == "terminal":  # not the one the tests run in
        return PresentationContext(content_width=width, color_depth=0)
    return profile(name, content_width=width)


def drawn(name: str, width: int):
    timeline = Timeline()
    timeline.add({"type": "assistant_text", "text": ANSWER})
    return draw(timeline.rows, display(name, width), SURFACES[name])


def telegram_page(messages: list[dict]) -> str:
    """Messages with their entities listed below, by the words they cover."""
    parts = []
    for message in messages:
        units = message["text"].encode("utf-16-le")
        parts.append(message["text"])
        parts += ["", "~~~ entities"]
        for entity in message["entities"]:
            start, end = entity["offset"], entity["offset"] + entity["length"]
            more = "".join(f" {key}={entity[key]}" for key in ("url", "language") if key in entity)
            parts.append(f"{entity['type']}: {units[2 * start : 2 * end].decode('utf-16-le')!r}{more}")
        parts += ["~~~", ""]
    return "\n".join(parts)


def page(name: str, width: int) -> str:
    rendered = drawn(name, width)
    output = rendered.output
    if SURFACES[name] == "telegram":
        text = telegram_page(output)
    elif SURFACES[name] == "slack":
        text = json.dumps(output, indent=1, ensure_ascii=False)
    else:
        text = output
    return text.rstrip("\n") + "\n"


@pytest.mark.parametrize(("name", "width"), CASES)
def test_answer(name, width):
    path = FOLDER / f"{name}-{width}.{ENDINGS.get(SURFACES[name], 'txt')}"
    got = page(name, width)
    if os.environ.get("VANTAGE_GOLDEN") == "write":
        path.write_text(got)
    assert got == path.read_text()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["terminal", "api"])
def test_no_line_is_wider_than_the_display(name, width):
    import wcwidth

    for line in page(name, width).splitlines():
        assert wcwidth.width(line) <= width, line


class Words(HTMLParser):
    def __init__(self):
        super().__init__()
        self.text = ""

    def handle_data(self, data):
        self.text += data


def said(name: str, width: int) -> str:
    """What a reader of that display can read, as one stream of letters and digits."""
    text = page(name, width)
    if name == "web":
        words = Words()
        words.feed(text)
        text = words.text
    elif name == "slack":
        text = json.loads(text)
        text = " ".join(str(value) for value in strings(text))
    return re.sub(r"\W+", "", text)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


@pytest.mark.parametrize(("name", "width"), CASES)
def test_every_word_of_the_answer_is_there(name, width):
    got = said(name, width)
    for word in WORDS.split():
        assert word in got, word
