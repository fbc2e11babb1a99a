"""What Slack accepts of a message."""

import json
import re

from vantage.timeline.row import (
    Row,
)

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


LINK = re.compile(r"<(?:https?://|mailto:)[^<>|\s]+(?:\|[^<>\n]+)?>", re.IGNORECASE)


def check_rich(block: dict) -> str:
    text = ""
    assert set(block) == {"type", "elements"}
    for element in block["elements"]:
        assert element["type"] in ("rich_text_section", "rich_text_preformatted")
        assert element["elements"]
        for part in element["elements"]:
            assert part["type"] in ("text", "link")
            assert part["text"]
            assert set(part.get("style", {})) <= {"bold", "italic", "strike", "code"}
            assert re.match("https?://|mailto:", part.get("url", "http://"), re.IGNORECASE)
            text += part["text"]
    assert len(text) <= 3000
    return text


def check(messages: list[dict]) -> str:
    """Everything Slack asks of messages; returns what they say."""
    everything = []
    for message in messages:
        assert set(message) == {"text", "blocks", "unfurl_links", "unfurl_media"}
        assert message["text"].strip()
        assert not re.search(r"<", message["text"])
        blocks = message["blocks"]
        assert 1 <= len(blocks) <= 50
        assert len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))) + len(message["text"]) <= 13_000
        assert sum(len(block["text"]) for block in blocks if block["type"] == "markdown") <= 12_000
        assert sum(block["type"] == "table" for block in blocks) <= 1
        assert not CONTROL.search(json.dumps(message, ensure_ascii=False))
        for block in blocks:
            if block["type"] == "section":
                text = block["text"]["text"]
                assert block["text"]["type"] == "mrkdwn"
                assert 1 <= len(text) <= 3000
                assert "<" not in LINK.sub("", text)
            elif block["type"] == "markdown":
                text = block["text"]
                assert 1 <= len(text) <= 12_000
                assert not re.search(r"<[!@#]", text)
            elif block["type"] == "table":
                assert 1 <= len(block["rows"]) <= 100
                assert len({len(row) for row in block["rows"]}) == 1
                assert len(block["rows"][0]) <= 20
                assert len(block["column_settings"]) == len(block["rows"][0])
                cells = [cell for row in block["rows"] for cell in row]
                assert all(cell["type"] in ("raw_text", "rich_text") for cell in cells)
                assert all(cell["type"] == "rich_text" or cell["text"] for cell in cells)
                text = " ".join(check_rich(cell) if cell["type"] == "rich_text" else cell["text"] for cell in cells)
                assert len(text) <= 10_000
            elif block["type"] == "rich_text":
                text = check_rich(block)
            else:
                assert block == {"type": "divider"}
                text = ""
            everything.append(text)
    return "\n".join(everything)


def message(*blocks, **fields) -> Row:
    return Row(**{"id": "r", "kind": "message", "blocks": list(blocks), **fields})
