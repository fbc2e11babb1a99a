"""`vantage context`, as a command and in a real terminal."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest
from click.testing import CliRunner

from vantage.cli.commands.agents.context import context
from vantage.presentation import PresentationContext, profile

# The terminal that every test sees, in whichever the tests run.
PLAIN = {
    **dict.fromkeys(["LC_ALL", "LC_CTYPE", "TMUX", "VANTAGE_CONVERSATION", "TERM_PROGRAM", "COLORTERM", "COLORFGBG"]),
    **dict.fromkeys(["NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"]),
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
}


def run(*arguments: str, columns: str | None = "126"):
    return CliRunner(env={**PLAIN, "COLUMNS": columns}).invoke(context, arguments)


def test_the_instruction_for_this_terminal():
    assert run().stdout == "## Display Context\nOutput width: 120 characters.\n"


def test_a_profile():
    assert run("--profile", "telegram").stdout == profile("telegram").to_system_instruction() + "\n"


def test_a_conversations_displays(vantage, server, work):
    """Named, or by VANTAGE_CONVERSATION as in a shell that Vantage started; a profile or a width asks for neither."""
    phone = {"presentation": {"client_type": "telegram"}}
    server.ask("PUT", f"/v1/conversations/{work}/clients/phone", phone)
    told = profile("telegram").to_system_instruction() + "\n"
    assert vantage("context", "--conversation", work) == told
    assert vantage("context", VANTAGE_CONVERSATION=work) == told
    assert vantage("context", "--profile", "slack", VANTAGE_CONVERSATION=work) != told
    answer = json.loads(vantage("context", "--json", "--conversation", work))
    assert answer["because"][0] == {"field": "content_width", "value": 45, "client_id": "phone"}
    assert vantage("exec", work, "--", f"{sys.executable} -m vantage context") == told
    server.ask("PUT", f"/v1/conversations/{work}/agents/sub", {"presentation": {"content_width": 99}})
    assert "99" in vantage("context", "--agent", "sub", VANTAGE_CONVERSATION=work)
    for wrong in (("--conversation", work, "--width", "45"), ("--agent", "sub")):
        assert vantage.run("context", *wrong).code == 2, wrong
    assert vantage.run("context", "--conversation", "no-such-one").code == 1


def test_a_width():
    assert run("--width", "45").stdout == PresentationContext(content_width=45).to_system_instruction() + "\n"
    assert "Output width: 70 characters." in run("--profile", "telegram", "--width", "70").stdout


def test_json_can_be_sent_as_a_presentation():
    sent = json.loads(run("--profile", "slack", "--width", "60", "--json").stdout)
    assert PresentationContext.from_dict(sent) == profile("slack", content_width=60)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "telegrm"], "no profile is called 'telegrm': did you mean 'telegram'?"),
        (["--width", "0"], "'--width': 0 is not in the range"),
        (["--width", "wide"], "'--width': 'wide' is not a valid integer"),
        (["--colour"], "'--colour'"),
        (["more"], "unexpected extra argument (more)"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def in_terminal(columns: int, stdout: int | None, **environment: str) -> tuple[str, str]:
    """Run in a terminal so wide; what came through the pipe, and what the terminal showed."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in {*PLAIN, "COLUMNS"}}
        finished = subprocess.run(
            [sys.executable, "-c", "from vantage.cli.commands.agents.context import context; context()"],
            stdin=theirs,
            stdout=theirs if stdout is None else stdout,
            stderr=theirs,
            env={**inherited, **{name: value for name, value in PLAIN.items() if value}, **environment},
            check=True,
            timeout=60,
        )
        # A mark of our own ends the reading: the terminal hands over everything before it.
        os.write(theirs, b"\0")
        shown = b""
        while not shown.endswith(b"\0"):
            shown += os.read(ours, 4096)
        return (finished.stdout or b"").decode(), shown[:-1].decode().replace("\r\n", "\n")
    finally:
        os.close(ours)
        os.close(theirs)


def test_on_a_terminal():
    piped, shown = in_terminal(126, None)
    assert shown == "## Display Context\nOutput width: 120 characters.\n"
    assert piped == ""


def test_in_a_command_substitution_the_terminal_is_still_found():
    """As in `claude --append-system-prompt "$(vantage context)"`: only stdout is a pipe."""
    piped, shown = in_terminal(51, subprocess.PIPE)
    assert piped == PresentationContext(content_width=45).to_system_instruction() + "\n"
    assert shown == ""


def test_a_locale_without_the_characters_still_gets_utf8():
    piped, _ = in_terminal(51, subprocess.PIPE, PYTHONIOENCODING="latin-1")
    assert "Avoid markdown tables — use" in piped


def test_without_a_terminal_eighty_columns_are_assumed():
    finished = subprocess.run(
        [sys.executable, "-c", "from vantage.cli.commands.agents.context import context; context()"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
        check=True,
        timeout=60,
    )
    assert finished.stdout.decode().splitlines()[1] == "Output width: 74 characters."
