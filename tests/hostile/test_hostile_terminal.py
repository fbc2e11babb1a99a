"""Whatever a program prints: marks, spool, blocks, screen, pictures, waits."""

import pytest

from extent import extent
from hunting import Hunt
from terminal_targets import TERMINAL_TARGETS

MUTANTS = {"terminal": 50, "screen": 50, "spool": 200, "marks": 200}


@pytest.mark.parametrize("target", TERMINAL_TARGETS, ids=lambda target: target.name)
def test_laws_hold_for_any_input(target):
    short = MUTANTS.get(target.name, 600)
    Hunt(target).run(extent(short, 10 * short))
