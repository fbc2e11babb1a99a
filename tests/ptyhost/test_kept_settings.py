"""The settings that a shell's programs start with, from what the host sees of them."""

import os
import termios

import pytest

from vantage.ptyhost.terminal.settings import KeptSettings, stty_form

IFLAG, LFLAG, CC = 0, 3, 6


@pytest.fixture
def usual():
    master, slave = os.openpty()
    try:
        yield termios.tcgetattr(slave)
    finally:
        os.close(master)
        os.close(slave)


def changed(settings, *, without=0, intr=None, flow=True):
    new = [*settings[:CC], [*settings[CC]]]
    new[LFLAG] &= ~without
    if not flow:
        new[IFLAG] &= ~termios.IXON
    if intr is not None:
        new[CC][termios.VINTR] = intr
    return new


def edited(settings):
    """What a line editor makes of them."""
    new = changed(settings, without=termios.ICANON | termios.ECHO)
    new[CC][termios.VMIN], new[CC][termios.VTIME] = 1, 0
    return new


def test_what_a_command_left_is_what_the_next_starts_with(usual, tmp_path):
    kept = KeptSettings(usual, str(tmp_path / "settings"))
    assert (tmp_path / "settings").read_text() == stty_form(usual)
    kept.given(edited(usual), edits=True)
    left = changed(usual, without=termios.ECHO, intr=b"x")
    kept.left(left)
    kept.given(edited(left), edits=True)
    assert kept.base == left
    assert (tmp_path / "settings").read_text() == stty_form(left)


def test_a_sight_that_came_too_late_is_made_up_for_by_the_editor(usual):
    kept = KeptSettings(usual)
    kept.given(edited(usual), edits=True)
    left = changed(usual, intr=b"x", flow=False)
    kept.left(edited(left))
    assert kept.base == usual
    kept.given(edited(left), edits=True)
    assert kept.base == left


def test_an_editor_that_begins_anew_changes_nothing(usual):
    kept = KeptSettings(usual)
    quiet = changed(usual, without=termios.ECHO)
    kept.left(quiet)
    for _ in range(2):
        kept.given(edited(quiet), edits=True)
        kept.left(edited(quiet))
    assert kept.base == quiet


def test_flow_control_that_an_rc_file_switched_off_is_seen_at_the_first_command(usual):
    kept = KeptSettings(usual)
    kept.given(edited(changed(usual, flow=False)), edits=True)
    assert kept.base == changed(usual, flow=False)


def test_a_shell_without_an_editor_shows_its_settings(usual):
    kept = KeptSettings(usual)
    raw = edited(usual)
    kept.given(raw, edits=False)
    assert kept.base == raw


def test_the_form_is_that_of_stty(usual):
    assert stty_form([1, 2, 3, 0x1A, 15, 15, [b"\x03", b"\xff", 1, 0]]) == "1:2:3:1a:3:ff:1:0"
    assert len(stty_form(usual).split(":")) == 4 + len(usual[CC])
