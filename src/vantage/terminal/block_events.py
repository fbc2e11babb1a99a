"""A block's beginning and end as events of the log."""

from vantage.events import AgentBlockBegin, AgentBlockEnd
from vantage.terminal.output.blocks import Block, Reason


def begin_event(block: Block, raw_offset: int) -> AgentBlockBegin:
    return AgentBlockBegin(
        block_id=block.block_id,
        block_seq=block.seq,
        cmd=block.cmd,
        cwd=block.cwd,
        session_id=block.session_id,
        origin=block.origin,
        ts=block.ts_begin,
        raw_offset=raw_offset,
    )


def end_event(block: Block, reason: Reason, ts: int, raw_offset: int) -> AgentBlockEnd:
    return AgentBlockEnd(
        block_id=block.block_id,
        exit_code=block.exit_code,
        done_because=reason,
        duration_ms=block.duration_ms,
        bytes=block.size,
        ts=ts,
        raw_offset=raw_offset,
    )
