"""The mode table: what a shell can be doing, and what may happen then.

A phase is finer than a mode: an agent sees `idle`, `block_running`, `interactive` and `exited`. What the table does not
have is not an error of anyone's (Ctrl-C at an empty prompt ends a command that never began): it changes nothing.
"""

from typing import Literal

Phase = Literal["none", "starting", "idle", "sent", "running", "prompting", "exited"]
"""
`none`       no shell was started yet
`starting`   it reads its rc files
`idle`       the prompt is ready for input
`sent`       a command was typed, the shell has not begun it
`running`    the shell began it
`prompting`  it ended, the prompt is being printed
`exited`     the shell is gone
"""
Happening = Literal["started", "typed", "began", "ended", "ready", "gone"]
Mode = Literal["idle", "block_running", "interactive", "exited"]

TRANSITIONS: dict[tuple[Phase, Happening], Phase] = {
    ("none", "started"): "starting",
    ("exited", "started"): "starting",
    ("starting", "ended"): "prompting",
    ("starting", "ready"): "idle",
    ("starting", "typed"): "sent",
    ("prompting", "ready"): "idle",
    ("prompting", "typed"): "sent",
    ("prompting", "began"): "running",
    ("prompting", "ended"): "prompting",
    ("idle", "typed"): "sent",
    ("idle", "began"): "running",
    ("idle", "ended"): "prompting",
    ("sent", "began"): "running",
    ("sent", "ended"): "prompting",
    ("running", "ended"): "prompting",
    **{(phase, "gone"): "exited" for phase in ("starting", "idle", "sent", "running", "prompting")},
}

EXPECTS_COMMAND: frozenset[Phase] = frozenset({"none", "starting", "idle", "prompting", "exited"})
"""Where a command may be given: it waits for the prompt, or for a fresh shell."""


def after(phase: Phase, happening: Happening) -> Phase:
    return TRANSITIONS.get((phase, happening), phase)


def mode(phase: Phase, *, interactive: bool) -> Mode:
    if phase in ("sent", "running"):
        return "interactive" if interactive else "block_running"
    return "exited" if phase == "exited" else "idle"
