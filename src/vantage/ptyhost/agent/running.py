"""A process with three pipes, from its start until its exit is in the journal.

Every descriptor here is closed on exec. The process gets 0, 1 and 2, and nothing else.
"""

import os
from typing import NamedTuple

from vantage.ptyhost.agent.files import AgentFiles
from vantage.ptyhost.agent.pipes import InputPipe, OutputPipe
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.processes import Pipes
from vantage.ptyhost.shared.child import Command, Inherited, start
from vantage.ptyhost.shared.output_events import OutputEvents
from vantage.ptyhost.shared.stall import Stall


class Started(NamedTuple):
    """A process that was started, and our ends of its pipes, which do not block."""

    pid: int
    stdin: int
    stdout: int
    stderr: int

    def pipes(self) -> Pipes:
        files = [os.fstat(descriptor) for descriptor in (self.stdin, self.stdout, self.stderr)]
        return frozenset((file.st_dev, file.st_ino) for file in files)


def spawn(command: Command, inherited: Inherited) -> Started:
    """Starts a program in a session, and so a process group, of its own. Raises OSError, SpawnError for the program."""
    pairs: list[tuple[int, int]] = []
    try:
        for _ in range(3):
            pairs.append(os.pipe())  # noqa: PERF401 -- those that were made are closed when another cannot be
        (child_in, stdin), (stdout, child_out), (stderr, child_err) = pairs
        for descriptor in (stdin, stdout, stderr):
            os.set_blocking(descriptor, False)
        pid = start(command, (child_in, child_out, child_err), inherited)
    except BaseException:
        for pair in pairs:
            for descriptor in pair:
                os.close(descriptor)
        raise
    for descriptor in (child_in, child_out, child_err):
        os.close(descriptor)
    return Started(pid, stdin, stdout, stderr)


class RunningAgent:
    """A process that runs, and its pipes."""

    def __init__(self, loop: Loop, process: Started, files: AgentFiles, *, stall: Stall, events: OutputEvents) -> None:
        self.pid = process.pid
        self.status: int | None = None
        """The wait status, once the process has been reaped."""
        self.input = InputPipe(loop, process.stdin)
        self._outputs = (
            OutputPipe(loop, process.stdout, files.log.raw, stall=stall, changed=events.changed),
            OutputPipe(loop, process.stderr, files.errors.append, stall=stall, changed=events.changed),
        )

    def listen(self) -> None:
        for output in self._outputs:
            output.listen()

    def drain(self) -> bool:
        """Reads what the process has printed so far; false when it cannot be written."""
        return all(output.drain() for output in self._outputs)

    def resumed(self) -> None:
        """The files can be written again. The pipes are read as `listen` asks, and messages do not wait for a disk."""

    def close(self) -> None:
        self.input.close()
        for output in self._outputs:
            output.close()
