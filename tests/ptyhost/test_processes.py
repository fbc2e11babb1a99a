"""What /proc says of a process."""

import os
import signal
import subprocess

import pytest

from vantage.ptyhost import processes


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


def test_a_program_dies_of_an_interrupt_until_one_is_on_its_way(sleeper):
    assert processes.dies_of(sleeper.pid, signal.SIGINT)
    sleeper.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
    assert processes.dies_of(sleeper.pid, signal.SIGINT)
    sleeper.send_signal(signal.SIGINT)
    assert not processes.dies_of(sleeper.pid, signal.SIGINT)


def test_a_program_that_ignores_an_interrupt_does_not_die_of_it():
    command = ["sh", "-c", "trap '' INT; echo ready; exec sleep 1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        assert not processes.dies_of(process.pid, signal.SIGINT)
        assert processes.dies_of(process.pid, signal.SIGTERM)
        process.kill()


def test_a_process_that_has_ended_dies_of_nothing(sleeper):
    sleeper.kill()
    sleeper.wait()
    assert not processes.dies_of(sleeper.pid, signal.SIGINT)
    assert processes.group(sleeper.pid) is None
