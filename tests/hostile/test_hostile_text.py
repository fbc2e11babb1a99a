"""Text and JSON of strangers: templates, specs, events, agents' streams, markdown, keys, queries."""

import pytest

from extent import extent
from hunting import Hunt
from text_targets import TEXT_TARGETS

MUTANTS = {"spec": 60, "agents": 25, "markdown": 150, "events": 250, "keys": 150}
"""Of one seed in a short run: those that draw on every surface take their time."""


@pytest.mark.parametrize("target", TEXT_TARGETS, ids=lambda target: target.name)
def test_laws_hold_for_any_input(target):
    short = MUTANTS.get(target.name, 600)
    Hunt(target).run(extent(short, 10 * short))
