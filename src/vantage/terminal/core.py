"""One terminal: raw bytes and journal records in; spool, blocks, events and replies out.

A pure function of the two files: fed again, in whatever chunks, it says the same. `Terminal.feed` is the pipeline.
"""

import msgspec

from vantage.events import AgentBlockBegin, AgentBlockEnd, Event, PtyGap, PtyState
from vantage.terminal import modes
from vantage.terminal.blocks import MOST_MARKS, Block, Origin, Reason, Span, block_id
from vantage.terminal.drawing import Drawing
from vantage.terminal.journal import Record
from vantage.terminal.marks import Mark, Marks
from vantage.terminal.reading import fold
from vantage.terminal.screen import Screen
from vantage.terminal.spool import Spool
from vantage.terminal.state import Asked, Pending, State, Step

_MOST_ECHO = 8192
_PROMPT_MARKS = ("D", "A", "B")


class Terminal:
    """Feed it `output.raw` in order, and each record of `output.index` at its place."""

    def __init__(self, state: State | None = None, screen: Screen | None = None) -> None:
        self.state = state or State()
        self._drawing = Drawing(screen, self.state)
        self._marks = Marks(self.state.secret, self.state.raw, self.state.held)
        self._spool = Spool(self.state.spool)
        self._passed = self.state.raw - len(self.state.held)
        """Where in the raw output the next byte that is passed on stands."""
        self._step = Step()

    def checkpoint(self) -> State:
        """The state as a value; the screen has its own (`Screen.encode`)."""
        state = self.state
        state.held = self._marks.held
        state.spool = self._spool.state()
        self._drawing.save()
        return msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=State)

    # what is asked of it

    @property
    def screen(self) -> Screen | None:
        return self._drawing.screen

    @screen.setter
    def screen(self, screen: Screen | None) -> None:
        self._drawing.screen = screen

    @property
    def drawn(self) -> int:
        """What drawing its screen again would cost, in bytes."""
        return self._drawing.drawn

    @property
    def raw(self) -> int:
        """How much of the raw output it has seen."""
        return self.state.raw

    @property
    def cursor(self) -> int:
        """The end of the spool."""
        return self._spool.length

    @property
    def mode(self) -> modes.Mode:
        active = self.state.block or self.state.pending
        return modes.mode(self.state.phase, interactive=active is not None and active.origin == "interactive")

    # what happens to it

    def feed(self, data: bytes) -> Step:
        """The bytes behind those it has seen."""
        self.state.raw += len(data)
        for piece in self._marks.split(data):
            if isinstance(piece, Mark):
                self._at_mark(piece)
            else:
                self._output(piece)
        return self._take()

    def record(self, record: Record) -> Step:
        """A record of the journal whose place is here."""
        name = _RECORDS.get(record.t)
        if name is not None:
            getattr(self, name)(record)
        return self._take()

    def _take(self) -> Step:
        step, self._step = self._step, Step()
        step.spool_from = self._spool.length - len(step.spool)
        return step

    def _output(self, data: bytes) -> None:
        self._step.replies += self._drawing.add(data, self._passed)
        state = self.state
        if state.block is None and state.pending is not None and state.pending.lines:
            data = self._skip_echo(state.pending, data)
            self._drawing.not_plain()
        self._passed += len(data)
        added = self._spool.add(data)
        self._step.spool += added
        if not self._spool.plain:
            self._drawing.not_plain()
        if state.block is not None:
            state.block.alt_screen |= self._spool.alternate
        elif state.pending is None and state.phase == "idle":
            state.echo = (state.echo + added)[:_MOST_ECHO]
        self._spool.alternate = False

    def _skip_echo(self, pending: Pending, data: bytes) -> bytes:
        """A command that never begins (a syntax error) prints behind its echo, which has as many lines as it has.

        Takes in one line at a time: not every line end of the raw output is one of the spool's. Returns the rest.
        """
        at = 0
        while pending.lines and (end := data.find(b"\n", at) + 1):
            added = self._spool.add(data[at:end])
            self._step.spool += added
            self._passed += end - at
            at = end
            if added.endswith(b"\n"):
                pending.lines -= 1
                pending.raw, pending.spool = self._passed, self._spool.length
        return data[at:]

    def _at_mark(self, mark: Mark) -> None:
        self._passed = mark.end
        self._step.replies += self._drawing.end_sequence(self._passed)
        if self._spool.unsettled:
            self._step.spool += self._spool.settle()
        state = self.state
        if mark.kind in _PROMPT_MARKS and mark.cycle >= state.cycle:
            if mark.cycle > state.cycle:
                state.cycle = mark.cycle
                self._command_over(mark)
            if mark.cwd is not None:
                state.cwd = mark.cwd
            if mark.kind == "B" and state.phase in ("starting", "prompting"):
                self._ready()
        elif mark.cycle == state.cycle and mark.kind == "C" and state.phase in ("idle", "sent", "prompting"):
            self._begin(mark)
        elif mark.cycle == state.cycle and mark.kind == "P" and self._runs_given() and state.asked is None:
            state.asked = Asked(self._spool.length, mark.start)
            self._step.asks_more = True
        if state.block is not None and len(state.block.marks) < MOST_MARKS and mark.start >= state.block.raw.start:
            state.block.marks.append(Span(mark.start, mark.end))

    def _runs_given(self) -> bool:
        """Whether the shell works on a command that came whole, so that nobody will type the rest."""
        active = self.state.pending or self.state.block
        return active is not None and active.origin != "typed"

    def _ready(self) -> None:
        self._step.spool += self._spool.prompt()
        self.state.echo = b""
        self.state.phase = modes.after(self.state.phase, "ready")
        self._step.ready = True

    def _begin(self, mark: Mark | None) -> None:
        """A block begins: at the shell's mark, or without one when the shell refused the command."""
        state = self.state
        pending, state.pending = state.pending, None
        if mark is not None:
            state.asked = None  # somebody gave the rest
        spool, raw, ts = self._spool.length, self._passed, state.now
        if mark is None and pending is not None:
            spool, raw, ts = pending.spool, pending.raw, pending.ts
            if state.asked is not None:  # nothing ran: what is behind the echo is the shell's question
                spool, raw = state.asked.spool, state.asked.raw
        elif mark is not None and mark.ts is not None:
            ts = round(mark.ts)
        state.blocks += 1
        state.block = Block(
            block_id=block_id(state.blocks),
            seq=state.blocks,
            cmd=pending.cmd if pending else self._typed(mark),
            cwd=mark.cwd if mark and mark.cwd is not None else state.cwd,
            origin=pending.origin if pending else "typed",
            ts_begin=ts,
            spool=Span(spool, spool),
            raw=Span(raw, raw),
            shell_id=state.shell_id,
            session_id=pending.session if pending else None,
            exec_id=pending.id if pending else None,
        )
        state.started_at = mark.ts if mark else None
        state.phase = modes.after(state.phase, "began")
        self._step.begun.append(state.block)
        self._event(
            AgentBlockBegin(
                block_id=state.block.block_id,
                block_seq=state.block.seq,
                cmd=state.block.cmd,
                cwd=state.block.cwd,
                session_id=state.block.session_id,
                origin=state.block.origin,
                ts=ts,
                raw_offset=self._passed,
            )
        )

    def _typed(self, mark: Mark | None) -> str:
        """A command that somebody typed: as the shell gives it, else as it was echoed."""
        if mark is not None and mark.cmd is not None:
            return mark.cmd
        return fold(self.state.echo.decode("utf-8", "ignore")).strip()

    def _command_over(self, mark: Mark) -> None:
        state = self.state
        if state.pending is not None and state.phase == "sent" and state.block is None and self._refused():
            self._begin(None)
        if state.block is not None:
            if state.asked is not None:
                self._end("incomplete", None, mark)
            else:
                self._end(state.ending or "mark", mark.status, mark)
        if mark.status is not None:
            state.last_exit_code = mark.status
        state.phase = modes.after(state.phase, "ended")

    def _refused(self) -> bool:
        """Whether a prompt ends a command that was given and never began.

        In sh every one begins: a prompt before that is the answer to a line that somebody typed.
        """
        return self.state.kind != "sh" or self.state.asked is not None

    def _end(self, reason: Reason, exit_code: int | None, mark: Mark | None) -> None:
        state = self.state
        block = state.block
        assert block is not None
        ts: float = state.now
        if mark is not None and mark.ts is not None:
            ts = mark.ts
        timed = state.started_at is not None and mark is not None and mark.ts is not None
        begun = state.started_at if timed and state.started_at is not None else block.ts_begin
        spool_end, raw_end = self._spool.length, mark.start if mark is not None else state.raw
        if reason == "incomplete" and state.asked is not None:
            spool_end, raw_end = state.asked.spool, state.asked.raw
        block.ts_end = max(round(ts), block.ts_begin)
        block.duration_ms = round(max(ts - begun, 0.0), 3)
        block.exit_code = exit_code
        block.done_because = reason
        block.spool = Span(min(block.spool.start, spool_end), spool_end)
        block.raw = Span(min(block.raw.start, raw_end), raw_end)
        block.marks = [span for span in block.marks if span.end <= raw_end]
        state.block = None
        state.asked = None
        state.ending = None
        state.started_at = None
        state.awaiting_secret = False  # whatever asked for one is over
        if state.pending is not None:  # typed ahead: what came so far belongs to this block
            state.pending.raw, state.pending.spool = self._passed, self._spool.length
        self._step.ended.append(block)
        self._event(
            AgentBlockEnd(
                block_id=block.block_id,
                exit_code=block.exit_code,
                done_because=reason,
                duration_ms=block.duration_ms,
                bytes=block.size,
                ts=block.ts_end,
                raw_offset=self._passed,
            )
        )

    def _event(self, event: Event) -> None:
        self._step.events.append(event)

    def _state_event(self, ts: int) -> None:
        state = self.state
        self._event(
            PtyState(
                mode=self.mode,
                foreground=state.foreground,
                awaiting_secret=state.awaiting_secret,
                ts=ts,
                raw_offset=state.raw,
            )
        )

    # records

    def _on_output_time(self, record: Record) -> None:
        self.state.now = record.ts

    def _on_shell(self, record: Record) -> None:
        state = self.state
        if state.phase not in ("none", "exited"):
            self._gone("lost", None, record)
        if state.phase != "none":
            self._drawing.fresh_shell()
        state.shell_id = record.shell_id
        state.kind = record.kind
        state.secret = record.secret
        state.pid = record.pid
        state.cwd = record.cwd
        state.cycle = -1
        state.pending = None
        state.ending = None
        state.now = record.ts
        state.phase = modes.after(state.phase, "started")
        self._marks.secret = record.secret
        self._on_size(record)
        self._state_event(record.ts)

    def _on_exec(self, record: Record) -> None:
        state = self.state
        origin: Origin = "interactive" if record.origin == "interactive" else "exec"
        state.pending = Pending(
            id=record.id,
            cmd=record.cmd,
            origin=origin,
            session=record.session,
            spool=self._spool.length,
            raw=state.raw,
            ts=record.ts,
            lines=record.cmd.rstrip("\n").count("\n") + 1,
        )
        state.now = record.ts
        state.phase = modes.after(state.phase, "typed")

    def _on_size(self, record: Record) -> None:
        self.state.cols, self.state.rows = record.cols, record.rows
        self._drawing.resize(record.cols, record.rows)

    def _on_exit(self, record: Record) -> None:
        self._gone(self.state.ending or "exit", record.status, record)

    def _on_lost(self, record: Record) -> None:
        self._gone("lost", None, record)

    def _gone(self, reason: Reason, status: int | None, record: Record) -> None:
        state = self.state
        if state.phase in ("none", "exited"):
            return
        self._settle_held()
        state.now = record.ts
        if state.block is not None:
            self._end(reason, status, None)
        if state.pending is not None:
            self._begin(None)
            self._end(reason, status, None)
        state.phase = modes.after(state.phase, "gone")
        state.pid = None
        state.awaiting_secret = False
        state.foreground = None
        state.ending = None
        self._state_event(record.ts)

    def _settle_held(self) -> None:
        """A shell's last bytes: what was held back as half a mark was none."""
        if held := self._marks.release():
            self._output(held)
        self._step.spool += self._spool.settle()
        self._step.replies += self._drawing.end_sequence(self._passed)

    def _on_state(self, record: Record) -> None:
        state = self.state
        secret = record.canonical and not record.echo
        if (secret, record.foreground) != (state.awaiting_secret, state.foreground):
            state.awaiting_secret, state.foreground = secret, record.foreground
            self._state_event(record.ts)

    def _on_end(self, record: Record) -> None:  # noqa: ARG002
        if self.state.block is not None or self.state.pending is not None:
            self.state.ending = "ended"

    def _on_reset(self, record: Record) -> None:  # noqa: ARG002
        self.state.ending = "reset"

    def _on_gap(self, record: Record) -> None:
        gap = PtyGap(start=record.start, end=record.end, why=record.why, ts=record.ts, raw_offset=self.state.raw)
        self._step.gaps.append(gap)
        self._event(gap)


_RECORDS = {
    "out": "_on_output_time",
    "shell": "_on_shell",
    "exec": "_on_exec",
    "size": "_on_size",
    "exit": "_on_exit",
    "lost": "_on_lost",
    "state": "_on_state",
    "end": "_on_end",
    "reset": "_on_reset",
    "gap": "_on_gap",
}
