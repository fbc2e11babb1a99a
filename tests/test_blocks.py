"""Blocks, events and modes: what a terminal makes of marks and records, whatever way its output is cut."""

from hypothesis import given
from hypothesis import strategies as st

from term_strategies import stories, tell


@given(st.data(), stories())
def test_every_cut_tells_the_same(data, story):
    whole = tell(story)
    assert tell(story, range(len(story.raw))) == whole
    cuts = data.draw(st.lists(st.integers(0, len(story.raw)), max_size=8))
    assert tell(story, cuts) == whole
    assert tell(story, cuts, resume=True) == whole


@given(st.data(), stories())
def test_every_cut_draws_the_same(data, story):
    whole = tell(story, screen=True)
    assert tell(story, range(len(story.raw)), screen=True) == whole
    cuts = data.draw(st.lists(st.integers(0, len(story.raw)), max_size=5))
    assert tell(story, cuts, screen=True, resume=True) == whole
    blind = tell(story)
    assert (blind.spool, blind.events, blind.ended) == (whole.spool, whole.events, whole.ended)
