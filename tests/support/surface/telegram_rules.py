"""What Telegram accepts of a message."""

import re

from wcwidth import iter_graphemes

from vantage.timeline.row import (
    Row,
)

ALONE = {"pre", "code"}
"""Entities that may neither hold others nor, but for quotes, stand in them."""


BLOCKS_OF_TEXT = {"blockquote", "expandable_blockquote"}


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def character_at(text: str, offset: int) -> int:
    """The character that a UTF-16 offset stands before."""
    return len(text.encode("utf-16-le")[: offset * 2].decode("utf-16-le"))


def check(messages: list[dict], limit: int = 4096) -> None:
    """Everything the Bot API asks of a message."""
    for message in messages:
        text, entities = message["text"], message["entities"]
        assert set(message) == {"text", "entities", "link_preview_options"}
        assert text.strip()
        assert units(text) <= limit
        assert text == text.rstrip()
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
        assert len(entities) <= 100
        edges = {0}
        position = 0
        for cluster in iter_graphemes(text):
            position += len(cluster)
            edges.add(position)
        spans = []
        for entity in entities:
            start, end = (character_at(text, entity["offset"] + extra) for extra in (0, entity["length"]))
            assert entity["length"] > 0
            assert entity["offset"] >= 0
            assert entity["offset"] + entity["length"] <= units(text)
            assert {start, end} <= edges
            clusters = list(iter_graphemes(text[start:end]))
            assert not clusters[-1].isspace()
            assert entity["type"] == "pre" or not clusters[0].isspace()
            assert set(entity) - {"type", "offset", "length"} <= {"url", "language"}
            if entity["type"] == "text_link":
                assert re.match("https?://", entity["url"], re.IGNORECASE)
            spans.append((start, end, entity["type"]))
        assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
        for index, (start, end, kind) in enumerate(spans):
            for other_start, other_end, other in spans[index + 1 :]:
                if other_start >= end:
                    continue
                assert other_end <= end, "entities overlap"
                assert kind not in ALONE, f"{other} inside {kind}"
                if {start, end} == {other_start, other_end}:
                    assert other not in ALONE or kind in BLOCKS_OF_TEXT
                assert not (kind in BLOCKS_OF_TEXT and other in BLOCKS_OF_TEXT)


def message(*blocks, **fields) -> Row:
    return Row(**{"id": "r", "kind": "message", "blocks": list(blocks), **fields})


RICH_TEXTS = {
    "bold": (),
    "italic": (),
    "strikethrough": (),
    "code": (),
    "url": ("url",),
    "email_address": ("email_address",),
}


RICH_BLOCKS = {
    "paragraph": {"text"},
    "heading": {"text", "size"},
    "pre": {"text", "language"},
    "divider": set(),
    "list": {"items"},
    "blockquote": {"blocks"},
    "table": {"cells", "is_bordered"},
    "details": {"summary", "blocks"},
}


def rich_text(value) -> str:
    """Reads a RichText, checking its shape."""
    if isinstance(value, str):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", value)
        return value
    if isinstance(value, list):
        assert value
        return "".join(map(rich_text, value))
    assert set(value) == {"type", "text", *RICH_TEXTS[value["type"]]}
    assert re.match("https?://", value.get("url", "http://"), re.IGNORECASE)
    return rich_text(value["text"])


def rich_blocks(blocks: list[dict], depth: int = 1) -> tuple[str, int]:
    """Reads blocks: their text, and how many they are by the API's count."""
    assert blocks
    assert depth <= 12
    text, count = "", 0
    for block in blocks:
        assert set(block) - {"type"} <= RICH_BLOCKS[block["type"]]
        count += 1
        for field in ("text", "summary"):
            if field in block:
                said = rich_text(block[field])
                assert said.strip()
                text += said
        if "size" in block:
            assert 1 <= block["size"] <= 6
        for row in block.get("cells", []):
            assert 1 <= len(row) <= 20
            count += 1
            for cell in row:
                assert set(cell) - {"is_header"} == {"align", "valign", "text"}
                assert cell["align"] in ("left", "center", "right")
                text += rich_text(cell["text"])
        for item in block.get("items", []):
            assert set(item) <= {"blocks", "has_checkbox", "is_checked", "value", "type"}
            inner, inside = rich_blocks(item["blocks"], depth + 2)
            text, count = text + inner, count + inside + 1
        if "blocks" in block:
            inner, inside = rich_blocks(block["blocks"], depth + 1)
            text, count = text + inner, count + inside
    return text, count


def check_rich(messages: list[dict], limit: int = 32_768) -> str:
    everything = ""
    for part in messages:
        assert set(part) == {"rich_message"}
        assert set(part["rich_message"]) == {"blocks", "skip_entity_detection"}
        text, count = rich_blocks(part["rich_message"]["blocks"])
        assert units(text) <= limit
        assert count <= 500
        everything += text
    return everything
