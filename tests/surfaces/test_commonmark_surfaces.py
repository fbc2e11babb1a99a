"""CommonMark's own examples, on every surface: no word of them is lost."""

import json
import re
from html import unescape

import pytest
from test_answer import SURFACES, display, strings

from places import FIXTURES
from vantage import Timeline
from vantage.surfaces import draw
from words_of_html import Words

EXAMPLES = json.loads((FIXTURES / "commonmark.json").read_text())


def letters(text: str) -> str:
    """Text without what surfaces may add between words or leave out of them: spaces, marks, escapes."""
    return re.sub(r"[\W_]+", "", text)


def readable(name: str, output) -> str:
    """What a person reads: markup interpreted, escapes undone."""
    if name == "web":
        alternatives = " ".join(re.findall(r'alt="([^"]*)"', output))
        return unescape(re.sub(r"<[^>]*>", "", output) + alternatives)
    if name == "slack":
        return unescape(" ".join(strings(output))).replace("\\", "")
    return output if isinstance(output, str) else " ".join(strings(output))


@pytest.mark.parametrize("name", SURFACES)
def test_no_word_of_commonmarks_examples_is_lost_on_a_surface(name):
    lost = []
    for number, example in enumerate(EXAMPLES, 1):
        timeline = Timeline()
        timeline.add({"type": "assistant_text", "text": example["markdown"]})
        shown = letters(readable(name, draw(timeline.rows, display(name, 80), SURFACES[name]).output))
        lost += [(number, word) for word in Words(example["html"]).words if letters(word) not in shown]
    assert lost == []
