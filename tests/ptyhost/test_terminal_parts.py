"""The parts of a hosted terminal, each without a host: watchers, stall, listening, reader, input writer, answers."""

import heapq
import itertools
import json
import os
import select
import time
import tty
from pathlib import Path

import pytest

from vantage.ptyhost.loop import READ, WRITE, Timer
from vantage.ptyhost.protocol import INDEX_NAME, RAW_NAME, Happening
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.shared.listening import Listening
from vantage.ptyhost.shared.output_events import OutputEvents
from vantage.ptyhost.shared.stall import Stall
from vantage.ptyhost.shared.watchers import Watchers
from vantage.ptyhost.terminal.input.answers import Answers
from vantage.ptyhost.terminal.input.queue import END_OF_INPUT, Input
from vantage.ptyhost.terminal.input.replies import Reply
from vantage.ptyhost.terminal.input.unread import Asker, Unread
from vantage.ptyhost.terminal.input.writer import InputWriter
from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.output.reader import TURN, OutputReader
from vantage.ptyhost.terminal.pty import Pty


class FakeLoop:
    """Remembers what is watched, and fires timers when it is told to."""

    def __init__(self) -> None:
        self.watched: dict[int, int] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._count = itertools.count()

    def watch(self, descriptor, events, handler):
        assert descriptor not in self.watched
        self.watched[descriptor] = events

    def change(self, descriptor, events):
        assert descriptor in self.watched
        self.watched[descriptor] = events

    def unwatch(self, descriptor):
        self.watched.pop(descriptor, None)

    def after(self, seconds, call):
        timer = Timer(call)
        heapq.heappush(self._timers, (seconds, next(self._count), timer))
        return timer

    @property
    def pending(self) -> int:
        return sum(timer.pending for *_, timer in self._timers)

    def fire(self) -> None:
        """Fires the timers that are set now, those with the shortest pause first."""
        due, self._timers = sorted(self._timers), []
        for *_, timer in due:
            timer.fire()


class FullDisk(Journal):
    """A journal whose disk is full while `full` is set."""

    full = False

    def flush(self):
        return False if self.full else super().flush()


class Watching:
    def __init__(self) -> None:
        self.told: list[tuple[str, Happening]] = []

    def tell(self, terminal, what):
        self.told.append((terminal, what))


@pytest.fixture
def loop():
    return FakeLoop()


@pytest.fixture
def log(tmp_path):
    log = FullDisk(str(tmp_path / "terminal"))
    log.open()
    yield log
    log.full = False
    log.flush()
    log.close()


@pytest.fixture
def ends():
    """A PTY as the host has it, and the end that programs have."""
    master, slave = os.openpty()
    os.set_blocking(master, False)
    pty = Pty(master, os.getpid(), 0, 80, 24)
    yield pty, slave
    pty.close()
    os.close(slave)


def readable(slave: int) -> bool:
    return bool(select.select([slave], [], [], 0)[0])


def whole(slave: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        assert select.select([slave], [], [], 10)[0], f"only {data!r} came"
        data += os.read(slave, size - len(data))
    return data


class TestWatchers:
    def test_the_nearest_window_pauses_reading(self):
        watchers, near, far = Watchers("t"), Watching(), Watching()
        watchers.add(far, 900)
        watchers.add(near, 100)
        watchers.add(Watching(), None)
        assert [watchers.pause_at(offset) for offset in (0, 99, 100, 901)] == [False, False, True, True]

    @pytest.mark.parametrize("leave", [Watchers.discard, lambda watchers, each: watchers.set_window(each, None)])
    def test_a_window_that_is_gone_pauses_nothing(self, leave):
        watchers, watcher = Watchers("t"), Watching()
        watchers.add(watcher, 100)
        leave(watchers, watcher)
        assert not watchers.pause_at(1 << 40)

    def test_an_event_reaches_each_watcher_even_if_one_leaves_at_it(self):
        watchers, stays = Watchers("t"), Watching()

        class Leaving(Watching):
            def tell(self, terminal, what):
                super().tell(terminal, what)
                watchers.discard(self)

        leaves = Leaving()
        watchers.add(leaves, None)
        watchers.add(stays, None)
        for what in (Happening.OUTPUT, Happening.EXIT):
            watchers.tell(what)
        assert leaves.told == [("t", Happening.OUTPUT)]
        assert stays.told == [("t", Happening.OUTPUT), ("t", Happening.EXIT)]
        assert (stays in watchers, leaves in watchers) == (True, False)


class TestStall:
    @pytest.fixture
    def said(self):
        return []

    @pytest.fixture
    def stall(self, loop, log, said):
        return Stall(
            loop,
            log,
            began=lambda: said.append("began"),
            resumed=lambda: said.append("resumed"),
            settled=lambda: said.append("settled"),
        )

    def test_a_call_is_made_at_once_while_the_disk_has_room(self, stall, said):
        stall.when_written(lambda: said.append("call"))
        assert said == ["call"]

    def test_calls_wait_for_the_disk_and_come_between_resuming_and_settling(self, loop, log, stall, said):
        log.full = True
        log.record({"t": "cancel"})
        stall.begin()
        stall.begin()
        stall.when_written(lambda: said.append("first"))
        stall.when_written(lambda: said.append("second"))
        loop.fire()
        loop.fire()
        assert (said, stall.active) == (["began"], True)
        log.full = False
        loop.fire()
        assert said == ["began", "resumed", "first", "second", "settled"]
        assert (stall.active, loop.pending) == (False, 0)


class TestListening:
    @pytest.fixture
    def wanted(self):
        return [READ]

    @pytest.fixture
    def listening(self, loop, wanted):
        return Listening(loop, 7, wanted=lambda: wanted[0], ready=lambda _events: None)

    def test_the_loop_is_asked_for_what_is_wanted(self, loop, listening, wanted):
        for wanted[0], watched in ((READ, {7: READ}), (READ | WRITE, {7: READ | WRITE}), (0, {}), (WRITE, {7: WRITE})):
            listening.update()
            assert loop.watched == watched
            assert listening.reads == bool(wanted[0] & READ)

    def test_a_terminal_that_hangs_is_left_alone_for_a_while(self, loop, listening):
        listening.update()
        listening.hang()
        listening.hang()
        listening.update()
        assert (loop.watched, loop.pending) == ({}, 1)
        loop.fire()
        assert loop.watched == {7: READ}

    def test_a_closed_one_is_not_listened_to_again(self, loop, listening):
        listening.update()
        listening.hang()
        listening.close()
        loop.fire()
        listening.update()
        listening.hang()
        assert (loop.watched, loop.pending) == ({}, 0)


class TestOutputReader:
    @pytest.fixture
    def said(self):
        return []

    @pytest.fixture
    def reader(self, loop, log, ends, said):
        def tell(what):
            """The event, with what the files had when it was told."""
            folder = Path(log.folder)
            first = (folder / INDEX_NAME).read_text().splitlines()[0]
            said.append((what, (folder / RAW_NAME).read_bytes(), json.loads(first)["t"]))

        events = OutputEvents(loop, log, watched=lambda: True, tell=tell)
        stall, hung = (lambda: said.append("stall")), (lambda: said.append("hung"))
        return OutputReader(ends[0], log, Noticed(), events, stall=stall, hung=hung)

    def test_bytes_and_their_time_are_in_the_files_before_the_event(self, reader, ends, said):
        os.write(ends[1], b"hello")
        assert reader.turn()
        assert said == [(Happening.OUTPUT, b"hello", "out")]

    def test_output_that_cannot_be_written_is_no_event(self, reader, log, ends, said):
        log.full = True
        log.record({"t": "cancel"})
        os.write(ends[1], b"hello")
        assert not reader.turn()
        os.write(ends[1], b"more")
        assert not reader.drain()
        assert (said, log.offset) == (["stall", "stall"], 0)
        log.full = False
        assert log.flush()
        assert log.offset == len(b"hellomore")

    def test_drain_reads_to_the_end_where_a_turn_does_not(self, reader, log, ends):
        tty.setraw(ends[1])
        os.set_blocking(ends[1], False)
        size = os.write(ends[1], b"x" * (1 << 20))
        assert reader.drain()
        assert log.offset == size
        assert not ends[0].unread_output()
        assert size < TURN * 4

    def test_a_terminal_that_no_process_has_open_is_reported(self, loop, log, said):
        master, slave = os.openpty()
        os.close(slave)
        os.set_blocking(master, False)
        pty = Pty(master, os.getpid(), 0, 80, 24)
        events = OutputEvents(loop, log, watched=lambda: False, tell=lambda _what: None)
        hung = OutputReader(pty, log, Noticed(), events, stall=lambda: None, hung=lambda: said.append("hung"))
        assert hung.turn()
        pty.close()
        assert said == ["hung"]


class Typed:
    """An input writer with its answers, on a PTY that a test reads."""

    def __init__(self, loop, log, pty) -> None:
        self.done: list[tuple[int, str]] = []
        self.said: list[str] = []
        noticed = Noticed()
        self.answers = Answers(loop, pty, log, noticed, catch_up=lambda: True, typing=lambda: self.writer.waiting)
        self.writer = InputWriter(
            loop,
            pty,
            log,
            noticed,
            self.answers,
            catch_up=lambda: True,
            recorded=lambda: self.said.append("stalled" if log.stalled else "recorded"),
            pumped=lambda: None,
        )

    def type(self, data: bytes, *, record=None, seconds=60.0) -> None:
        self.writer.type(
            Input(
                data,
                "none",
                record,
                time.monotonic() + seconds,
                lambda written, why: self.done.append((written, why)),
                lambda code: self.done.append((0, code)),
            )
        )


class TestInputWriter:
    @pytest.fixture
    def typed(self, loop, log, ends):
        tty.setraw(ends[1])
        return Typed(loop, log, ends[0])

    def test_input_is_written_and_told(self, typed, ends):
        typed.type(b"one")
        typed.type(b"two")
        assert whole(ends[1], 6) == b"onetwo"
        assert typed.done == [(3, ""), (3, "")]
        assert not typed.writer.waiting

    def test_a_record_is_in_the_journal_before_the_first_byte_is_written(self, typed, log, ends):
        log.full = True
        typed.type(b"make\r", record={"t": "command"})
        assert (typed.said, typed.done, typed.writer.waiting) == (["stalled"], [], True)
        assert not readable(ends[1])
        log.full = False
        log.flush()
        typed.writer.pump()
        assert whole(ends[1], 5) == b"make\r"
        assert typed.done == [(5, "")]

    def test_what_is_not_read_is_dropped_at_its_deadline(self, typed, loop):
        typed.type(b"x" * (1 << 18), seconds=0)
        assert typed.writer.wants_to_write
        loop.fire()
        [(written, why)] = typed.done
        assert why == "timeout"
        assert 0 < written < 1 << 18
        assert (typed.writer.waiting, loop.pending) == (False, 0)

    def test_input_that_is_dropped_says_how_much_was_lost(self, typed, loop):
        typed.type(b"x" * (1 << 18))
        typed.type(b"later")
        lost = typed.writer.drop("interrupted")
        (written, why), second = typed.done
        assert (why, second) == ("interrupted", (0, "interrupted"))
        assert lost == (1 << 18) - written + len(b"later")
        assert loop.pending == 0

    def test_a_ctrl_d_in_canonical_mode_waits_for_a_reader(self, loop, log):
        master, slave = os.openpty()
        os.set_blocking(master, False)
        typed = Typed(loop, log, Pty(master, os.getpid(), 0, 80, 24))
        os.write(master, b"unread\n")
        typed.type(END_OF_INPUT)
        assert typed.writer.waiting
        assert not typed.writer.wants_to_write
        assert whole(slave, 7) == b"unread\n"
        loop.fire()
        assert typed.done == [(1, "")]
        assert os.read(slave, 100) == b""
        os.close(master)
        os.close(slave)


class TestAnswers:
    @pytest.fixture
    def typed(self, loop, log, ends):
        return Typed(loop, log, ends[0])

    def test_an_answer_whose_program_has_gone_is_not_written(self, typed, ends):
        sent = []
        typed.answers.add(Reply(0, b"\x1b[0n", by_shell=False, done=sent.append))
        assert sent == [False]
        assert not readable(ends[1])

    def test_what_was_written_before_is_no_longer_watched(self, typed):
        outcomes = []
        for name in ("first", "second"):
            asker = Asker(None, 0, secret=True)
            typed.answers.watch(Unread(asker, lambda outcome, name=name: outcomes.append((name, outcome))))
        assert outcomes == [("first", "waiting")]
        typed.answers.clear("gone")
        assert outcomes == [("first", "waiting"), ("second", "gone")]

    def test_typed_input_is_not_thrown_away_with_an_answer(self, loop, log):
        master, slave = os.openpty()
        tty.setraw(slave)

        class Program(Pty):
            group = 1

            def foreground(self):
                return self.group

        pty = Program(master, os.getpid(), 0, 80, 24)
        typed = Typed(loop, log, pty)
        os.write(master, b"answer")
        typed.answers.watch(Unread(Asker(1, 0, secret=False)))
        typed.type(b"typed")
        pty.group = 2
        typed.answers.look()
        assert whole(slave, 11) == b"answertyped"
        assert typed.done == [(5, "")]
        pty.close()
        os.close(slave)
