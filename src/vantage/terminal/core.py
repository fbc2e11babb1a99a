"""One terminal: raw bytes and journal records in; spool, blocks, events and replies out.

A pure function of the two files: the same bytes in any chunks give the same. `TerminalCore.feed` is the pipeline.
"""

from collections.abc import Callable
from typing import ClassVar

import msgspec

from vantage.events import Event, PtyGap, PtyState
from vantage.terminal import modes
from vantage.terminal.block_events import begin_event, end_event
from vantage.terminal.journal import Record
from vantage.terminal.modes import NO_SHELL, Happening, Phase
from vantage.terminal.output.blocks import MAX_MARKS, Block, ByteRange, Origin, Reason, block_id
from vantage.terminal.output.marks import Mark, Marks
from vantage.terminal.output.reading import fold
from vantage.terminal.output.spool import Spool
from vantage.terminal.screen.drawing import Drawing
from vantage.terminal.screen.screen import Screen
from vantage.terminal.state import Continuation, Pending, State, Step

_MAX_ECHO = 8192
_PROMPT_MARKS = ("D", "A", "B")
EDITOR_BEGINS = b"\x1b[?2004h"
"""What bash's editor prints before its prompt."""


class TerminalCore:
    """Feed it `output.raw` in order, and each record of `output.index` at its place.

    It has more than 20 methods, because bytes, marks and records change one state through one mode table: a method per
    kind of record (`_ON_RECORD`), a method per transition, and the pipeline that calls them in order. Text, marks and
    the screen are objects of their own (`Spool`, `Marks`, `Drawing`).
    """

    def __init__(self, state: State | None = None, screen: Screen | None = None) -> None:
        self.state = state or State()
        self._drawing = Drawing(screen, self.state)
        self._marks = Marks(self.state.secret, self.state.raw, self.state.held, self.state.spelled)
        self._spool = Spool(self.state.spool)
        self._passed = self.state.raw - len(self.state.held)
        """The offset of the next byte in the raw output."""
        self._step = Step()

    def checkpoint(self) -> State:
        """The state as a value; the screen has its own (`Screen.encode`)."""
        state = self.state
        state.held, state.spelled = self._marks.held, self._marks.spelled
        state.spool = self._spool.state()
        self._drawing.save()
        return msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=State)

    # State

    @property
    def screen(self) -> Screen | None:
        return self._drawing.screen

    @screen.setter
    def screen(self, screen: Screen | None) -> None:
        self._drawing.screen = screen

    @property
    def screen_as_it_is(self) -> Screen | None:
        """The screen without the output that waits to be drawn on it: to close it, or to draw another one."""
        return self._drawing.as_it_is

    @property
    def drawn(self) -> int:
        """How many bytes must be fed to draw its screen again."""
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

    # Input

    def feed(self, data: bytes) -> Step:
        """The bytes after those it has seen."""
        self.state.raw += len(data)
        for piece in self._marks.split(data):
            if isinstance(piece, Mark):
                self._at_mark(piece)
            else:
                self._output(piece)
        return self._take()

    def record(self, record: Record) -> Step:
        """Applies a record of the journal whose place is here."""
        if on_record := self._ON_RECORD.get(record.t):
            on_record(self, record)
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
        if state.block is None and state.pending is not None and not state.pending.lines:
            state.pending.tail = (state.pending.tail + data)[-len(EDITOR_BEGINS) :]
        self._passed += len(data)
        added = self._spool.add(data)
        self._step.spool += added
        if not self._spool.plain:
            self._drawing.not_plain()
        if state.block is not None:
            state.block.alt_screen |= self._spool.alternate
        elif state.pending is None and state.phase is Phase.IDLE:
            state.echo = (state.echo + added)[:_MAX_ECHO]
        self._spool.alternate = False

    def _skip_echo(self, pending: Pending, data: bytes) -> bytes:
        """Adds the echo of a command to the spool, so that its block begins after it; returns the rest of `data`.

        A command that never begins (a syntax error) prints after its echo, which has as many lines as the command.
        Lines are added one at a time: not every line end of the raw output is one of the spool's.
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
            if mark.kind == "B" and state.phase in (Phase.STARTING, Phase.PROMPTING):
                self._ready()
            elif mark.kind == "A" and self._prompted_again():
                self._asks_more(mark)
        elif mark.kind == "K":
            state.pokes_read += 1
        elif (
            mark.cycle == state.cycle and mark.kind == "C" and state.phase in (Phase.IDLE, Phase.SENT, Phase.PROMPTING)
        ):
            self._begin(mark)
        elif mark.cycle == state.cycle and mark.kind == "P" and self._runs_given():
            self._asks_more(mark)
        elif mark.cycle == state.cycle and mark.kind == "P" and state.phase is Phase.IDLE:
            state.continues = True
        if state.block is not None and len(state.block.marks) < MAX_MARKS and mark.start >= state.block.raw.start:
            state.block.marks.append(ByteRange(mark.start, mark.end))

    def _prompted_again(self) -> bool:
        """Whether the shell's editor starts again after it took a command: bash shows its last prompt for `[[ a ==`.

        An editor that only redraws its prompt has not started again.
        """
        pending = self.state.pending
        return self.state.phase is Phase.SENT and pending is not None and pending.tail == EDITOR_BEGINS

    def _asks_more(self, mark: Mark) -> None:
        """The shell waits for the rest of a command that has none."""
        if self.state.asked is None:
            self.state.asked = Continuation(self._spool.length, mark.start)
            self._step.asks_more = True

    def _runs_given(self) -> bool:
        """Whether the shell works on a command that a client gave as a whole, so that no rest will be typed."""
        active = self.state.pending or self.state.block
        return active is not None and active.origin != "typed"

    def _ready(self) -> None:
        self._step.spool += self._spool.prompt()
        self.state.echo = b""
        self.state.phase = modes.after(self.state.phase, Happening.READY)
        self._step.ready = True

    def _begin(self, mark: Mark | None) -> None:
        """A block begins: at the shell's mark, or without one when the shell refused the command."""
        state = self.state
        pending, state.pending = state.pending, None
        state.continues = False
        if mark is not None:
            state.asked = None  # the rest was typed
        spool, raw, ts = self._spool.length, self._passed, state.now
        if mark is None and pending is not None:
            spool, raw, ts = pending.spool, pending.raw, pending.ts
            if state.asked is not None:  # no command ran: the output after the echo is the shell's question
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
            spool=ByteRange(spool, spool),
            raw=ByteRange(raw, raw),
            shell_id=state.shell_id,
            session_id=pending.session if pending else None,
            exec_id=pending.id if pending else None,
        )
        state.started_at = mark.ts if mark else None
        state.phase = modes.after(state.phase, Happening.BEGAN)
        self._step.begun.append(state.block)
        self._event(begin_event(state.block, self._passed))

    def _typed(self, mark: Mark | None) -> str:
        """The text of a command that a person typed: as the shell gives it, else as it was echoed."""
        if mark is not None and mark.cmd is not None:
            return mark.cmd
        return fold(self.state.echo.decode("utf-8", "ignore")).strip()

    def _command_over(self, mark: Mark) -> None:
        state = self.state
        state.unhooked = state.continues = False
        if state.pending is not None and state.phase is Phase.SENT and state.block is None and self._refused():
            self._begin(None)
        if state.block is not None:
            if state.block.alt_screen and (mark.status or state.ending is not None):
                self._drawing.program_died()
            if state.asked is not None:
                self._end("incomplete", None, mark)
            else:
                self._end(state.ending or "mark", mark.status, mark)
        if mark.status is not None:
            state.last_exit_code = mark.status
        state.phase = modes.after(state.phase, Happening.ENDED)

    def _refused(self) -> bool:
        """Whether a prompt ends a command that was given and never began.

        In sh every command begins: a prompt before that answers a line that a person typed.
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
        block.spool = ByteRange(min(block.spool.start, spool_end), spool_end)
        block.raw = ByteRange(min(block.raw.start, raw_end), raw_end)
        block.marks = [span for span in block.marks if span.end <= raw_end]
        state.block = None
        state.asked = None
        state.ending = None
        state.started_at = None
        state.awaiting_secret = False  # the command that asked for a secret is over
        if state.pending is not None:  # typed ahead: output so far belongs to this block
            state.pending.raw, state.pending.spool = self._passed, self._spool.length
        self._step.ended.append(block)
        self._event(end_event(block, reason, block.ts_end, self._passed))

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

    # Records

    def _on_output_time(self, record: Record) -> None:
        self.state.now = record.ts

    def _on_shell(self, record: Record) -> None:
        state = self.state
        if state.phase not in NO_SHELL:
            self._gone("lost", None, record)
        if state.phase is not Phase.NONE:
            self._drawing.fresh_shell()
        state.shell_id = record.shell_id
        state.kind = record.kind
        state.secret = record.secret
        state.pid = record.pid
        state.cwd = record.cwd
        state.cycle = -1
        state.unhooked = state.continues = False
        state.pending = None
        state.ending = None
        state.now = record.ts
        state.phase = modes.after(state.phase, Happening.STARTED)
        self._marks.secret = record.secret
        self._spool.follow(record.spool)
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
        state.phase = modes.after(state.phase, Happening.TYPED)

    def _on_size(self, record: Record) -> None:
        self.state.cols, self.state.rows = record.cols, record.rows
        self._drawing.resize(record.cols, record.rows)

    def _on_exit(self, record: Record) -> None:
        self._gone(self.state.ending or "exit", record.status, record)

    def _on_lost(self, record: Record) -> None:
        self._gone("lost", None, record)

    def _gone(self, reason: Reason, status: int | None, record: Record) -> None:
        state = self.state
        if state.phase in NO_SHELL:
            return
        self._settle_held()
        state.now = record.ts
        if state.block is not None:
            self._end(reason, status, None)
        if state.pending is not None:
            self._begin(None)
            self._end(reason, status, None)
        state.phase = modes.after(state.phase, Happening.GONE)
        state.pid = None
        state.awaiting_secret = False
        state.foreground = None
        state.ending = None
        self._state_event(record.ts)

    def _settle_held(self) -> None:
        """A shell's last bytes: a held-back half of a mark was no mark."""
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

    def _on_unhooked(self, record: Record) -> None:
        """The shell's hooks do not run any more: no mark will end the command."""
        state = self.state
        state.now = record.ts
        state.unhooked = True
        if state.pending is not None and state.block is None:
            self._begin(None)
        if state.block is not None:
            self._end("lost", None, None)
        state.phase = modes.after(state.phase, Happening.ENDED)

    def _on_gap(self, record: Record) -> None:
        gap = PtyGap(start=record.start, end=record.end, why=record.why, ts=record.ts, raw_offset=self.state.raw)
        self._step.gaps.append(gap)
        self._event(gap)

    _ON_RECORD: ClassVar[dict[str, Callable[["TerminalCore", Record], None]]] = {
        "out": _on_output_time,
        "shell": _on_shell,
        "exec": _on_exec,
        "size": _on_size,
        "exit": _on_exit,
        "lost": _on_lost,
        "state": _on_state,
        "end": _on_end,
        "reset": _on_reset,
        "unhooked": _on_unhooked,
        "gap": _on_gap,
    }
