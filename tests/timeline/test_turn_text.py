"""Whether what the agent said had a table wider than the display."""

import pytest

from vantage.events import Agent, AssistantDelta, AssistantText
from vantage.presentation import PresentationContext
from vantage.timeline.turn_text import TurnText

TABLE = "Here:\n\n| name | what it is for |\n|---|---|\n| importer | reads the files that people send |\n"
"""47 cells wide, with its borders."""


def context(width: int, **fields: object) -> PresentationContext:
    return PresentationContext(content_width=width, **fields)


def said(*events: AssistantText | AssistantDelta) -> TurnText:
    text = TurnText()
    for event in events:
        text.add(event)
    return text


@pytest.mark.parametrize(("width", "wide"), [(120, False), (47, False), (46, True)])
def test_a_table_is_held_against_the_width_of_the_display(width, wide):
    assert said(AssistantText(text=TABLE)).has_wide_table(context(width)) is wide


@pytest.mark.parametrize("nested", ["> ", "  - "])
def test_a_table_in_a_quote_or_a_list_has_less_room(nested):
    quoted = "".join(nested.replace("-", "-" if first else " ") + line for first, line in _lines(TABLE))
    assert said(AssistantText(text=quoted)).has_wide_table(context(48)) is True
    assert said(AssistantText(text=quoted)).has_wide_table(context(80)) is False


def _lines(text: str) -> list[tuple[bool, str]]:
    return [(index == 0, line) for index, line in enumerate(text.splitlines(keepends=True)[2:])]


def test_more_columns_than_the_display_takes_are_too_wide():
    assert said(AssistantText(text=TABLE)).has_wide_table(context(120, max_table_columns=1)) is True


def test_a_message_in_pieces_is_read_as_a_whole():
    pieces = [AssistantDelta(text=TABLE[at : at + 7], message_id="m") for at in range(0, len(TABLE), 7)]
    assert said(*pieces).has_wide_table(context(40)) is True
    assert said(*pieces, AssistantText(text="no table", message_id="m")).has_wide_table(context(40)) is False


@pytest.mark.parametrize("text", ["a | b, but no table " * 20, "```\n" + TABLE + "```\n", "x" * 300])
def test_what_is_no_table_is_not_too_wide(text):
    assert said(AssistantText(text=text)).has_wide_table(context(40)) is False


def test_sub_agents_do_not_count():
    assert said(AssistantText(text=TABLE, agent=Agent(id="sub", depth=1))).has_wide_table(context(40)) is False


def test_of_a_very_long_turn_the_beginning_counts():
    long = AssistantText(text="word " * 300_000)
    assert said(AssistantText(text=TABLE), long, AssistantText(text=TABLE)).has_wide_table(context(40)) is True
    assert said(long, AssistantText(text=TABLE)).has_wide_table(context(40)) is False


def test_nothing_is_left_of_a_turn_that_was_cleared():
    text = said(AssistantText(text=TABLE))
    text.clear()
    assert text.has_wide_table(context(40)) is False
