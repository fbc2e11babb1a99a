"""A conversation's screen now or at any moment of its past, drawn from its files.

The files are only read: a live terminal of the same conversation is not disturbed.
"""

from vantage.conversation.checks import not_dropped
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.replay import Replay, dropped_bytes
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.screen import Screen


def output_length(folder: ConversationFolder) -> int:
    """The length of the conversation's raw output now."""
    raw = GrowingFile(folder.raw)
    try:
        return raw.size
    finally:
        raw.close()


def past_screen(
    folder: ConversationFolder, at_offset: int, *, first: int | None = None, styled: bool
) -> ScreenSnapshot:
    """The screen when the raw output had a length. Raises Gone if that output was dropped.

    `first` is where the output begins that retention has kept; without it, the files are searched for it.
    """
    first = dropped_bytes(folder) if first is None else first
    not_dropped(at_offset, first)
    with Replay(folder, start=at_offset, first=first) as replay:
        past = replay.to(at_offset)
        assert past.screen is not None
        block = past.state.block
        return ScreenSnapshot.of(
            past.screen,
            past.state.now,
            raw_offset=past.raw,
            block_id=block.block_id if block else None,
            styled=styled,
        )


def last_screen(folder: ConversationFolder) -> Screen:
    """The screen as it is now. The caller closes it."""
    end = output_length(folder)
    with Replay(folder, start=end, first=dropped_bytes(folder)) as replay:
        replay.to(end)
        screen = replay.take().terminal.screen
    assert screen is not None
    return screen
