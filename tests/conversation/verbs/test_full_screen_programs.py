"""Programs that draw the whole screen, driven as a person would: by keys, and by looking."""

import sys

import pytest

from terminal_home import agent_terminal, environment
from vantage.conversation.verbs.terminal import wait


async def test_nano(home, tmp_path):
    note = tmp_path / "note.txt"
    async with agent_terminal(home, cols=80, rows=20) as t:
        session = await t.exec_interactive("nano --ignorercfiles note.txt", cwd=str(tmp_path))
        assert (await t.wait_for({"screen": "GNU nano"})).matched
        await t.send("first line")
        await t.keys(["Enter"])
        await t.send("second line")
        assert (await t.wait_for({"screen": "second line"})).matched
        await t.keys(["C-x"])
        assert (await t.wait_for({"screen": "Save modified buffer"})).matched
        await t.keys(["y", "Enter"])
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
    assert note.read_text() == "first line\nsecond line\n"


async def test_htop(home):
    async with agent_terminal(home, cols=120, rows=30) as t:
        session = await t.exec_interactive("htop")
        assert (await t.wait_for({"all": [{"screen": "PID"}, {"screen": "F10"}]})).matched
        await t.keys(["F2"])
        assert (await t.wait_for({"screen": "Meters"})).matched
        await t.keys(["F10"])
        assert (await t.wait_for({"screen_gone": "Meters"})).matched
        assert (await t.end_session(session.session_id)).how == "exit"
        assert not (await t.read_screen()).alt_screen


async def test_midnight_commander(home, tmp_path):
    for name in ("alpha.txt", "beta.txt"):
        (tmp_path / name).write_text(f"this is {name}\n")
    async with agent_terminal(home, cols=100, rows=24) as t:
        session = await t.exec_interactive(f"mc --nosubshell --nomouse {tmp_path} {tmp_path}")
        assert (await t.wait_for({"screen": "beta.txt"})).matched
        await t.keys(["Down*2", "F3"])
        assert (await t.wait_for({"screen": "this is beta.txt"})).matched
        await t.keys(["F10"])
        assert (await t.wait_for({"screen_gone": "this is beta.txt"})).matched
        await t.keys(["F10"])
        ended = await t.wait_for(
            {"any": [{"eof": True}, {"screen": "Do you really want"}]}, session_id=session.session_id
        )
        if ended.reason == "screen":
            await t.keys(["Enter"])
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched


async def test_tmux(home, tmp_path):
    """A terminal in the terminal, with marks, colours and answers of its own."""
    async with agent_terminal(home, cols=80, rows=20) as t:
        session = await t.exec_interactive(f"tmux -S {tmp_path}/sock -f /dev/null new -s inner 'sh -i'")
        assert (await t.wait_for({"screen": "[inner]"})).matched  # its status line, not the echo of the command
        await t.send("echo answer-$((6*7))\r")
        assert (await t.wait_for({"screen": "answer-42"})).matched  # a bare 42 may stand in a path
        await t.wait_for({"quiet_ms": 20})  # what comes within a millisecond of typed text is pasted, for tmux
        await t.keys(["C-b", "%", "C-b", '"'])
        assert (await t.wait_for({"all": [{"screen": "│"}, {"screen": "├"}]})).matched
        await t.wait_for({"quiet_ms": 20})
        await t.keys(["C-b", "d"])
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert "detached" in (await t.read_block(session.block_id)).output
        killed = await t.exec_block(f"tmux -S {tmp_path}/sock kill-server")
        assert killed.exit_code == 0


TASKS = """
from textual.app import App
from textual.widgets import Button, Input, Label


class Tasks(App):
    def compose(self):
        yield Label("nothing done", id="said")
        yield Button("Finish it", id="finish")
        yield Input()

    def on_descendant_focus(self, event):
        if isinstance(event.widget, Input):
            self.query_one("#said").update("who are you?")

    def on_input_submitted(self, event):
        self.query_one("#said").update(f"thank you, {event.value}")

    def on_button_pressed(self):
        self.query_one("#said").update("all done")

    def key_x(self):
        self.query_one("#said").update("a key was pressed")


Tasks().run()
"""


async def test_a_textual_app(home, tmp_path):
    """With keys, with text, and with the mouse on what is visible."""
    (tmp_path / "tasks.py").write_text(TASKS)
    async with agent_terminal(home, cols=60, rows=16) as t:
        session = await t.exec_interactive(f"{sys.executable} {tmp_path}/tasks.py")
        assert (await t.wait_for({"all": [{"screen": "nothing done"}, {"screen": "Finish it"}]})).matched
        await t.keys(["x"])
        assert (await t.wait_for({"screen": "a key was pressed"})).matched
        await t.mouse("click", on_text="Finish it")
        assert (await t.wait_for({"screen": "all done"})).matched
        await t.keys(["Tab"])
        assert (await t.wait_for({"screen": "who are you?"})).matched
        await t.send("Ada\n")
        assert (await t.wait_for({"screen": "thank you, Ada"})).matched, "a line end is Enter, not Ctrl-J"
        await t.keys(["C-q"])
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert not (await t.read_screen()).alt_screen


@pytest.mark.parametrize("draw", ["\\r%s working", "\\b\\b\\b\\b\\b\\b\\b\\b\\b%s working"])
async def test_a_spinner_is_one_line(home, draw):
    async with agent_terminal(home, cols=60, rows=10) as t:
        ran = await t.exec_block(
            f"printf '%s' '- working'; for c in '\\' '|' '/' '-'; do printf '{draw}' \"$c\"; done; echo; echo over"
        )
        assert ran.output == "- working\nover\n"
        await t.wait_for("PROMPT")
        assert [row for row in (await t.read_screen()).rows if row.endswith(" working")] == ["- working"]


async def test_a_progress_bar_as_people_write_them(home, tmp_path):
    (tmp_path / "bar.py").write_text(
        "import sys\n"
        "for n in range(0, 101, 5):\n"
        "    sys.stdout.write(f'\\r\\x1b[K[{\"#\" * (n // 5):<20}] {n}%')\n"
        "    sys.stdout.flush()\n"
        "sys.stdout.write('\\r\\x1b[Kinstalled 3 packages\\n')\n"
    )
    async with agent_terminal(home) as t:
        ran = await t.exec_block(f"{sys.executable} {tmp_path}/bar.py")
        assert ran.output == "installed 3 packages\n"


async def test_programs_see_the_size_they_are_given(home):
    async with agent_terminal(home, cols=91, rows=17, env=environment(COLUMNS="10", LINES="5")) as t:
        assert (await t.exec_block("stty size; tput cols")).output == "17 91\n91\n"


async def test_the_last_screen_of_a_full_screen_program_is_kept_with_its_command(home):
    async with agent_terminal(home) as t:
        vim = await t.exec_interactive("vim -u NONE -N --not-a-term story.txt")
        await t.wait_for({"screen": "[New]"})
        await t.send("iOnce upon a time\x1b")
        await t.wait_for({"screen": "Once upon a time"})
        assert "Once upon a time" in (await t.read_block(vim.block_id)).screen, "while it runs"
        await t.send(":wq\r")  # which says what was written, and ends that line
        await t.wait_for("EOF", session_id=vim.session_id)
        await t.exec_block("rm story.txt")
        shown = (await t.read_block(vim.block_id)).screen.splitlines()
        assert shown[:2] == ["Once upon a time", "~"]
        plain = await t.exec_block("echo plain")
        assert (await t.read_block(plain.block_id)).screen is None


async def test_a_screen_is_read_when_it_is_drawn(home, monkeypatch):
    """The text that is waited for comes before the rest of the picture."""
    monkeypatch.setattr(wait, "SETTLE_S", 2.0)
    monkeypatch.setattr(wait, "MAX_SETTLE_S", 30.0)
    picture = r"printf '\033[?1049h\033[2J\033[Hfir''st\n'; sleep 0.05; printf second; head -c 1; printf '\033[?1049l'"
    async with agent_terminal(home) as t:
        shown = await t.exec_interactive(picture, wait_for="first")
        assert shown.screen.split() == ["first", "second"]
