"""The pump's table: every pair of phase and happening is listed or raises, and the docs show the same table."""

import re

import pytest

from places import ROOT
from state_diagram import mermaid
from vantage.conversation.live.pump import MAX_RETRY_S, RETRY_S, TRANSITIONS, Happening, Phase, after, retry_delay

PAGE = (ROOT / "docs/architecture.md").read_text()
PAIRS = [(phase, happening) for phase in Phase for happening in Happening]


@pytest.mark.parametrize(("phase", "happening"), PAIRS, ids=[f"{phase.name}-{what.name}" for phase, what in PAIRS])
def test_a_happening_leads_where_the_table_says_or_raises(phase, happening):
    if happening in TRANSITIONS[phase]:
        assert after(phase, happening) is TRANSITIONS[phase][happening]
    else:
        with pytest.raises(RuntimeError, match=f"{happening.name} while the pump is {phase.name}: expected "):
            after(phase, happening)


def test_every_phase_is_reached():
    reached, new = set(), {Phase.CURRENT}
    while new:
        reached |= new
        new = {target for phase in new for target in TRANSITIONS[phase].values()} - reached
    assert reached == set(Phase)


def test_what_is_known_is_current_again_only_after_everything_is_derived():
    """A restart makes the known state one of the past; no happening but ENDED leads back to the present."""
    for phase in (Phase.REDERIVING, Phase.FAILED_AGAIN):
        for happening, target in TRANSITIONS[phase].items():
            current = target in (Phase.CURRENT, Phase.DERIVING, Phase.FAILED)
            assert current == (happening is Happening.ENDED), (phase, happening)


def test_a_closed_pump_stays_closed():
    assert set(TRANSITIONS[Phase.CLOSED].values()) == {Phase.CLOSED}
    assert all(TRANSITIONS[phase][Happening.CLOSED] is Phase.CLOSED for phase in Phase)


def test_retries_come_less_and_less_often():
    delays = [retry_delay(failures) for failures in range(12)]
    assert delays[:4] == [0.0, RETRY_S, 2 * RETRY_S, 4 * RETRY_S]
    assert delays == sorted(delays)
    assert delays[-1] == MAX_RETRY_S


def test_the_diagram_in_the_docs_is_the_table():
    drawn = mermaid(Phase.CURRENT, TRANSITIONS)
    [shown] = re.findall(r"```mermaid\n(.*?)\n```", PAGE, re.DOTALL)
    assert shown == drawn, f"docs/architecture.md should have:\n{drawn}"
