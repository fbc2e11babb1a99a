"""The mode table: the phases of a shell, and what may happen in each.

A phase is finer than a mode: an agent sees `idle`, `block_running`, `interactive` and `exited`. `TRANSITIONS` lists
every pair of phase and happening that can occur, also those that change nothing: records and marks come late, twice or
not at all. `after` raises on any other pair, because then `TerminalCore` and not the shell is wrong.
"""

from enum import StrEnum
from typing import Literal


class Phase(StrEnum):
    """The values are also those in checkpoints."""

    NONE = "none"
    """No shell was started yet."""
    STARTING = "starting"
    """The shell reads its rc files."""
    IDLE = "idle"
    """The prompt is ready for input."""
    SENT = "sent"
    """A command was typed, and the shell has not begun it."""
    RUNNING = "running"
    """The shell began the command."""
    PROMPTING = "prompting"
    """The command ended, and the shell prints its prompt."""
    EXITED = "exited"
    """The shell is gone."""


class Happening(StrEnum):
    STARTED = "started"
    """The host started a shell."""
    TYPED = "typed"
    """The host typed a command for a client."""
    BEGAN = "began"
    """A block begins."""
    ENDED = "ended"
    """The shell reports a new prompt, or its hooks no longer run."""
    READY = "ready"
    """The prompt was printed whole."""
    GONE = "gone"
    """The shell exited, or the host lost it."""


Mode = Literal["idle", "block_running", "interactive", "exited"]

TRANSITIONS: dict[Phase, dict[Happening, Phase]] = {
    Phase.NONE: {
        Happening.STARTED: Phase.STARTING,
        Happening.TYPED: Phase.NONE,
        Happening.BEGAN: Phase.NONE,
        Happening.ENDED: Phase.NONE,
    },
    Phase.STARTING: {
        Happening.TYPED: Phase.SENT,
        Happening.ENDED: Phase.PROMPTING,
        Happening.READY: Phase.IDLE,
        Happening.GONE: Phase.EXITED,
    },
    Phase.IDLE: {
        Happening.TYPED: Phase.SENT,
        Happening.BEGAN: Phase.RUNNING,
        Happening.ENDED: Phase.PROMPTING,
        Happening.GONE: Phase.EXITED,
    },
    Phase.SENT: {  # never `gone`: the typed command begins before it ends with the shell
        Happening.TYPED: Phase.SENT,
        Happening.BEGAN: Phase.RUNNING,
        Happening.ENDED: Phase.PROMPTING,
    },
    Phase.RUNNING: {
        Happening.TYPED: Phase.RUNNING,
        Happening.BEGAN: Phase.RUNNING,
        Happening.ENDED: Phase.PROMPTING,
        Happening.GONE: Phase.EXITED,
    },
    Phase.PROMPTING: {
        Happening.TYPED: Phase.SENT,
        Happening.BEGAN: Phase.RUNNING,
        Happening.ENDED: Phase.PROMPTING,
        Happening.READY: Phase.IDLE,
        Happening.GONE: Phase.EXITED,
    },
    Phase.EXITED: {
        Happening.STARTED: Phase.STARTING,
        Happening.TYPED: Phase.EXITED,
        Happening.BEGAN: Phase.EXITED,
        Happening.ENDED: Phase.EXITED,
    },
}

NO_SHELL = frozenset({Phase.NONE, Phase.EXITED})
EXPECTS_COMMAND = frozenset({Phase.NONE, Phase.STARTING, Phase.IDLE, Phase.PROMPTING, Phase.EXITED})
"""The phases in which a command may be given: it waits for the prompt, or for a fresh shell."""


def after(phase: Phase, happening: Happening) -> Phase:
    row = TRANSITIONS[phase]
    if happening not in row:
        raise RuntimeError(f"{happening} while the shell is {phase}: expected {', '.join(row)}")
    return row[happening]


def mode(phase: Phase, *, interactive: bool) -> Mode:
    if phase in (Phase.SENT, Phase.RUNNING):
        return "interactive" if interactive else "block_running"
    return "exited" if phase is Phase.EXITED else "idle"
