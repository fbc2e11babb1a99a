"""The chain that turns a call into a presentation: native presenter → forwarded ANSI → generic."""

from vantage.timeline.calls import ToolCall
from vantage.timeline.tools import Presentation, presenter_for
from vantage.timeline.tools.forwarded import forwarded
from vantage.timeline.tools.generic import generic


def present(call: ToolCall) -> tuple[Presentation, list[str]]:
    """The call by the first link that knows it, and why earlier ones did not serve."""
    notes: list[str] = []
    for link in (presenter_for(call.tool), forwarded):
        if link is None:
            continue
        try:
            shown = link(call)
        except Exception as error:  # noqa: BLE001 -- one presenter's bug must not take the transcript down
            name = getattr(link, "__name__", repr(link))
            notes.append(f"presenter {name} failed on {call.tool}: {type(error).__name__}: {error}")
            continue
        if shown is not None:
            return shown, notes
    return generic(call), notes
