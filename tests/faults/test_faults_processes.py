"""Programs that do not end, and shells that are stopped."""

import os
import signal
import sys

from aftermath import assert_all_is_well
from load import PROGRAM
from machine import living, marked, stat, until

MANY = 300


def test_a_program_with_hundreds_of_children_is_ended_whole(stage):
    """Deaf to TERM and HUP, in sessions of their own, orphaned: a process with the terminal open belongs to it."""
    beside = stage.printer()
    conversation = stage.conversation()
    stage.watcher()
    brood = PROGRAM.with_name("brood.py")
    started = stage.pty(conversation, "exec_block", command=f"{sys.executable} {brood} {MANY}", timeout_ms=0)
    assert stage.pty(conversation, "wait_for", match=f"brood of {MANY}\n", from_cursor=started["cursor"])["matched"]
    until(lambda: sum("brood" in command for command in marked(stage.home).values()) == MANY + 1, "some are missing")
    before = beside.lines
    shell = stage.pty(conversation, "reset")
    left = [pid for pid, command in marked(stage.home).items() if "brood" in command]
    assert not left, f"{len(left)} outlived the reset: {[stat(pid)[:5] for pid in left[:8]]}"
    assert stage.shell(conversation) == shell["pid"]
    assert stage.pty(conversation, "read_block", block_id=started["block_id"])["block"]["done_because"] == "reset"
    beside.until(before + 1)
    assert_all_is_well(stage)


def test_a_stopped_shell(stage):
    """A stopped program neither prints nor reads; it is continued or ended, and no output is made up for it."""
    printer = stage.printer()
    conversation, other = printer.conversation, stage.runner()
    stage.watcher()
    shell = stage.shell(conversation)
    os.kill(shell, signal.SIGSTOP)
    for _ in range(2):  # the program runs until the host has noticed the stop, and has checked the foreground again
        printer.further(50)
        stage.pty(conversation, "status")
    printer.stop()
    until(lambda: printer.word not in str(marked(stage.home)), "the program does not end")
    other.turned(3)
    status = stage.pty(conversation, "status")
    assert (status["mode"], status["active_block_id"]) == ("block_running", printer.started["block_id"])
    waited = stage.pty(conversation, "wait_for", match="PROMPT", timeout_ms=100)
    assert (waited["matched"], waited["reason"]) == (False, "timeout")
    busy = stage.server.post(f"/v1/conversations/{conversation}/pty/exec_block", {"command": "echo never"})
    assert (busy.status, busy.code) == (409, "busy")
    os.kill(shell, signal.SIGCONT)
    cursor = printer.started["cursor"]
    assert stage.pty(conversation, "wait_for", match="PROMPT", from_cursor=cursor)["matched"]
    os.kill(shell, signal.SIGSTOP)
    assert stage.pty(conversation, "reset")["pid"] != shell
    assert not living(shell)
    assert_all_is_well(stage)
