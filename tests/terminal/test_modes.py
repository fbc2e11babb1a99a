"""The mode table: exactly the pairs that occur are listed, any other raises, and the docs show the same table."""

import re

import msgspec
import pytest

from places import ROOT
from state_diagram import mermaid
from term_strategies import mark, shell
from vantage.terminal import modes
from vantage.terminal.core import EDITOR_BEGINS, TerminalCore
from vantage.terminal.journal import Record
from vantage.terminal.modes import TRANSITIONS, Happening, Phase
from vantage.terminal.state import State

PAIRS = [(phase, happening) for phase in Phase for happening in Happening]
RECORDS = (
    Record(t="shell", shell_id="a", kind="bash", secret="s3cret", cols=80, rows=24, at=0, ts=0),
    Record(t="shell", shell_id="b", kind="sh", secret="s3cret", cols=80, rows=24, at=0, ts=0),
    Record(t="exec", id="x", cmd="ls", origin="exec", at=0, ts=0),
    Record(t="exec", id="y", cmd="a\nb", origin="interactive", at=0, ts=0),
    *(Record(t=kind, at=0, ts=0) for kind in ("exit", "lost", "end", "reset", "unhooked", "out", "state", "gap")),
)
OUTPUTS = (b"x\r\n", EDITOR_BEGINS)
CYCLES = {"older": -1, "same": 0, "next": 1}
"""Of a mark, from that of the last prompt seen."""


def test_the_mode_table():
    """What happens (across) in which phase (down). A dot: nothing changes; a dash: it cannot happen."""
    drawn = """
                started   typed  began    ended      ready  gone
    none        starting  .      .        .          -      -
    starting    -         sent   -        prompting  idle   exited
    idle        -         sent   running  prompting  -      exited
    sent        -         .      running  prompting  -      -
    running     -         .      .        prompting  -      exited
    prompting   -         sent   running  .          idle   exited
    exited      starting  .      .        .          -      -
    """
    first, *rows = [line.split() for line in drawn.strip().splitlines()]
    assert first == list(Happening)
    assert [row[0] for row in rows] == list(Phase)
    for phase, *cells in rows:
        listed = {happening: cell for happening, cell in zip(first, cells, strict=True) if cell != "-"}
        assert TRANSITIONS[Phase(phase)] == {each: phase if cell == "." else cell for each, cell in listed.items()}


@pytest.mark.parametrize(("phase", "happening"), PAIRS, ids=[f"{phase}-{happening}" for phase, happening in PAIRS])
def test_a_happening_leads_where_the_table_says_or_raises(phase, happening):
    if happening in TRANSITIONS[phase]:
        assert modes.after(phase, happening) is TRANSITIONS[phase][happening]
    else:
        with pytest.raises(RuntimeError, match=f"{happening} while the shell is {phase}: expected "):
            modes.after(phase, happening)


@pytest.mark.parametrize(
    ("phase", "block", "interactive"),
    [
        ("none", "idle", "idle"),
        ("starting", "idle", "idle"),
        ("idle", "idle", "idle"),
        ("sent", "block_running", "interactive"),
        ("running", "block_running", "interactive"),
        ("prompting", "idle", "idle"),
        ("exited", "exited", "exited"),
    ],
)
def test_what_an_agent_sees_of_a_phase(phase, block, interactive):
    assert modes.mode(Phase(phase), interactive=False) == block
    assert modes.mode(Phase(phase), interactive=True) == interactive


def test_the_diagram_in_the_docs_is_the_table():
    drawn = mermaid(State().phase, TRANSITIONS)
    [shown] = re.findall(r"```mermaid\n(.*?)\n```", (ROOT / "docs/pty.md").read_text(), re.DOTALL)
    assert shown == drawn, f"docs/pty.md should have:\n{drawn}"


def decides(state: State) -> tuple[object, ...]:
    """What of a state decides which happenings a record or a mark becomes: counters and places do not."""
    pending, block = state.pending, state.block
    return (
        state.phase, state.kind, state.secret, state.ending, state.unhooked, state.asked is not None,
        pending and (pending.origin, pending.lines, pending.tail == EDITOR_BEGINS), block and block.origin,
    )  # fmt: skip


def successors(encoded: bytes) -> list[State]:
    """The states after each record, each output and each mark with each cycle."""
    found = []
    for record in RECORDS:
        terminal = restored(encoded)
        terminal.record(record)
        found.append(terminal.checkpoint())
    cycle = restored(encoded).state.cycle
    marks = [mark(kind, cycle + step) for kind in "DABCPK" for step in CYCLES.values()]
    for output in (*OUTPUTS, *marks):
        terminal = restored(encoded)
        terminal.feed(output)
        found.append(terminal.checkpoint())
    return found


def restored(encoded: bytes) -> TerminalCore:
    return TerminalCore(msgspec.msgpack.decode(encoded, type=State))


def test_exactly_the_listed_pairs_occur_whatever_comes_in_whatever_order(monkeypatch):
    """Breadth first through every state that records, marks and outputs of any order lead to."""
    occurred = set()
    listed = modes.after

    def recorded(phase, happening):
        occurred.add((phase, happening))
        return listed(phase, happening)

    monkeypatch.setattr(modes, "after", recorded)
    new = [State()]
    known = {decides(new[0])}
    while new:
        states, new = new, []
        for state in states:
            for after in successors(msgspec.msgpack.encode(state)):
                if decides(after) not in known:
                    known.add(decides(after))
                    new.append(after)
    assert {phase for phase, *_ in known} == set(Phase)
    assert occurred == {(phase, happening) for phase, row in TRANSITIONS.items() for happening in row}


def test_a_checkpoint_holds_the_phase_as_its_word():
    state = msgspec.msgpack.decode(msgspec.msgpack.encode(TerminalCore().checkpoint()))
    assert state["phase"] == "none"
    before = TerminalCore()
    before.record(shell())
    again = msgspec.convert({**state, "phase": "starting"}, State)
    assert again.phase is before.state.phase is Phase.STARTING
