"""Screens over HTTP: what a program highlights, now, in the past, and in the answer of a command."""

import pytest

MENU = r"""
import curses
def main(screen):
    curses.curs_set(0)
    at = 0
    while True:
        screen.erase()
        for number, name in enumerate(["Red", "Green", "Blue"]):
            screen.addstr(2 + number, 2, name, curses.A_REVERSE if number == at else 0)
        screen.addstr(6, 0, f"at {at + 1} of 3")
        screen.refresh()
        key = screen.getch()
        if key == ord("q"):
            return
        at += (key == curses.KEY_DOWN) - (key == curses.KEY_UP)
curses.wrapper(main)
"""


@pytest.fixture
def conversation(server):
    with server.conversation() as made:
        yield made


@pytest.fixture
def menu(tmp_path):
    file = tmp_path / "menu.py"
    file.write_text(MENU)
    return f"python3 {file}"


def test_the_entry_of_a_menu_is_selected(server, conversation, menu):
    def read(**fields):
        return server.pty(conversation, "read_screen", **fields)

    assert "selected" not in read()
    server.pty(conversation, "exec_interactive", command=menu, wait_for={"screen": "at 1 of 3"})
    first = read()
    assert (first["selected"], "runs" in first) == (["Red"], False)
    server.pty(conversation, "keys", keys=["Down"], wait_for={"screen": "at 2 of 3"})
    assert read(style=True)["selected"] == ["Green"]
    assert read(region={"row": 0, "rows": 1})["selected"] == ["Green"], "of the whole screen"
    changed = read(since=first["delta_cursor"])
    assert ("rows" in changed, changed["selected"]) == (False, ["Green"])
    assert read(at_offset=first["raw_offset"])["selected"] == ["Red"]
    server.pty(conversation, "keys", keys=["q"], wait_for="PROMPT")
    assert "selected" not in read()


def test_a_command_with_a_screen_says_what_is_selected_on_it(server, conversation, menu):
    ran = server.pty(conversation, "exec_block", command=menu, wait_for={"screen": "at 1 of 3"})
    assert (ran["running"], ran["selected"], "at 1 of 3" in ran["screen"]) == (True, ["Red"], True)
    server.pty(conversation, "keys", keys=["Down"], wait_for={"screen": "at 2 of 3"})
    assert server.pty(conversation, "read_block", block_id=ran["block_id"])["selected"] == ["Green"]
    server.pty(conversation, "keys", keys=["q"], wait_for="PROMPT")
    assert server.pty(conversation, "read_block", block_id=ran["block_id"])["selected"] == ["Green"], "as it left"


def test_the_directory_is_that_of_the_program_in_the_foreground(server, tmp_path):
    here, link, there = tmp_path / "here", tmp_path / "link", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    link.symlink_to(here)
    with server.conversation(cwd=str(link)) as conversation:

        def cwd():
            return server.pty(conversation, "status")["cwd"]

        server.pty(conversation, "exec_block", command=f"cd {link}")
        assert cwd() == str(link)
        server.pty(conversation, "exec_interactive", command="sh -c 'echo up; read it'", wait_for="up")
        assert cwd() == str(link), "the same directory has the shell's name"
        server.pty(conversation, "keys", keys=["Enter"], wait_for="PROMPT")
        command = f"sh -c 'cd {there} && echo u\"\"p && read it'"
        server.pty(conversation, "exec_interactive", command=command, wait_for="up")
        assert cwd() == str(there)
        server.pty(conversation, "keys", keys=["Enter"], wait_for="PROMPT")
        assert cwd() == str(link)
        assert server.pty(conversation, "exec_block", command="pwd")["output"] == f"{link}\n"
        server.pty(conversation, "exec_interactive", command=f'cd {there}; echo u""p; read it; cd -', wait_for="up")
        assert cwd() == str(there), "the shell itself has gone there"
        server.pty(conversation, "keys", keys=["Enter"], wait_for="PROMPT")


def test_a_wait_says_what_is_selected_on_the_main_screen(server, conversation):
    """Dialog draws on it. A menu's text stays the same when another entry is chosen."""
    command = "dialog --menu 'Pick one' 12 40 4 a Apple b Banana"
    shown = {"all": [{"screen": "<  OK  >"}, {"quiet_ms": 300}]}
    first = server.pty(conversation, "exec_interactive", command=command, wait_for=shown)
    assert "Banana" in first["tail"]
    drawn = {"all": [{"regex": "."}, {"quiet_ms": 300}]}
    moved = server.pty(conversation, "keys", keys=["Down"], wait_for=drawn)
    assert ["Apple" in " ".join(each["selected"]) for each in (first, moved)] == [True, False]
    over = server.pty(conversation, "keys", keys=["Enter"], wait_for="PROMPT")
    assert over["matched"]
    assert "selected" not in over


def test_a_command_that_asks_with_a_menu_says_what_is_selected_on_it(server, conversation):
    asks = server.pty(conversation, "exec_block", command="dialog --yesno 'Go on?' 8 30")
    assert (asks["awaiting"], asks["selected"]) == ("key", ["< Yes >"])
    assert server.pty(conversation, "keys", keys=["Enter"], wait_for="PROMPT")["matched"]


def test_a_screen_beside_an_answer_has_no_rows_of_filler(server, conversation):
    vim = server.pty(conversation, "exec_interactive", command="vim -u NONE -N new.txt", wait_for={"screen": "New"})
    assert (vim["screen"].count("~"), "37 more rows like this" in vim["screen"]) == (1, True)
    assert server.pty(conversation, "read_screen")["rows"].count("~") == 38, "a look over HTTP has every row"
