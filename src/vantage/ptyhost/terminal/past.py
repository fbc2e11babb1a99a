"""What the journal of a terminal knows of its last process."""

from dataclasses import dataclass

from vantage.ptyhost.shared.journal import Journal


@dataclass(slots=True)
class Past:
    """The last process of the terminal, as the journal has it."""

    unfinished: bool = False
    """It has neither ended nor been declared lost."""
    answered: int = -1
    """The highest query that was replied to."""
    cols: int | None = None
    rows: int | None = None


def read_past(journal: Journal) -> Past:
    """Repairs what a killed host left behind and reads the last process; makes no files."""
    with journal.records() as records:
        shell = records.last(b"shell")
        if shell < 0:
            return Past()
        size = records.fields(max(records.last(b"size", shell), shell))
        reply = records.fields(records.last(b"reply", shell))
        return Past(records.unfinished(shell), reply.get("query", -1), size.get("cols"), size.get("rows"))
