"""What the journal of an agent knows of its last run."""

from dataclasses import dataclass

from vantage.ptyhost.shared.journal import Journal


@dataclass(slots=True)
class Past:
    """The last run, as the journal has it."""

    unfinished: bool = False
    """It has neither ended nor been declared lost."""
    run: str | None = None
    sent: int = 0
    """The number of the last message that it was sent."""
    pid: int = 0
    started: int | None = None
    """When its process was started, in clock ticks."""
    boot: str = ""


def read_past(journal: Journal) -> Past:
    """Repairs what a killed host left behind and reads the last run; makes no files."""
    with journal.records() as records:
        start = records.last(b"start")
        if start < 0:
            return Past()
        begun = records.fields(start)
        sent = records.fields(records.last(b"sent", start)).get("n", 0)
        facts = (begun.get(name) for name in ("run", "pid", "started", "boot"))
        run, pid, started, boot = facts
        return Past(records.unfinished(start), run, sent, pid or 0, started, boot or "")
