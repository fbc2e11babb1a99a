"""Turns over HTTP: what is typed and what is waited for in one request."""

import pytest

from places import ROOT

GAME = ROOT / "examples" / "guess"


@pytest.fixture
def conversation(server):
    with server.conversation() as made:
        yield made


def test_a_game_with_three_answers_is_four_requests(server, conversation):
    asked = server.pty(conversation, "exec_interactive", command=f"{GAME} 7", wait_for="10: ")
    assert (asked["matched"], asked["match_text"], asked["reason"]) == (True, "10: ", "text")
    low = server.pty(conversation, "send", data="3\n", wait_for="10: ")
    high = server.pty(conversation, "send", data="9\n", wait_for={"match": "10: ", "timeout_ms": 20_000})
    right = server.pty(conversation, "send", data="7\n", wait_for="EOF", session_id=asked["session_id"])
    assert ("Too low." in low["tail"], "Too high." in high["tail"]) == (True, True)
    assert (right["matched"], right["reason"], "Correct!" in right["tail"]) == (True, "eof", True)
    assert server.pty(conversation, "read_block", block_id=asked["block_id"])["block"]["exit_code"] == 0


def test_every_verb_that_types_or_starts_waits(server, conversation):
    ran = server.pty(conversation, "exec_block", command="echo up; cat", wait_for={"regex": "^up$"})
    assert (ran["matched"], ran["running"]) == (True, True)
    pressed = server.pty(conversation, "keys", keys=["a", "Enter"], wait_for="a\na")
    assert pressed["match_span"][1] == pressed["cursor"]
    missed = server.pty(conversation, "keys", keys=["b"], wait_for="never", timeout_ms=1)
    assert (missed["matched"], missed["reason"]) == (False, "timeout")
    server.pty(conversation, "keys", keys="C-c", wait_for="PROMPT")


def test_a_turn_without_a_wait_says_nothing_of_one(server, conversation):
    server.pty(conversation, "exec_interactive", command="cat")
    assert server.pty(conversation, "send", data="x\n").keys() == {"ok", "cursor"}


def test_a_wait_does_not_match_in_the_echo(server, conversation):
    server.pty(conversation, "exec_interactive", command="python3 -q", wait_for=">>> ")
    said = server.pty(conversation, "send", data="print('do' + 'ne', 'done')\n", wait_for="done")
    assert said["tail"].splitlines()[1].lstrip("\r") == "done done"


@pytest.mark.parametrize("key", ["Ctrl+C", "ctrl-c", "^C"])
def test_keys_as_people_write_them_leave_a_secret_prompt(server, conversation, key):
    asked = server.pty(
        conversation, "exec_interactive", command="read -rsp 'Password: ' it", wait_for={"secret_prompt": True}
    )
    assert asked["matched"]
    assert server.pty(conversation, "keys", keys=[key], wait_for="PROMPT")["matched"]


def test_enter_answers_a_secret_prompt(server, conversation):
    command = "read -rsp 'Password (empty for none): ' it; echo; echo \"<$it>\""
    server.pty(conversation, "exec_interactive", command=command, wait_for={"secret_prompt": True})
    assert server.pty(conversation, "keys", keys="Return", wait_for="<>")["matched"]


def test_looking_at_an_unknown_conversation_is_an_error(server):
    answer = server.post("/v1/conversations/not-there/pty/status", {})
    assert (answer.status, answer.code) == (404, "not_found")
    assert server.get("/v1/conversations/not-there").status == 404


def codes(typed):
    return [note["code"] for note in typed.get("notes", ())]


def test_slips_are_noted(server, conversation):
    server.pty(conversation, "exec_block", command="true")
    typed = server.pty(conversation, "send", data="echo hi\n", wait_for="PROMPT")
    assert codes(typed) == ["typed_at_shell"]
    assert typed["notes"][0]["steps"][0]["verb"] == "exec_block"
    asked = server.pty(conversation, "exec_interactive", command="read -r it; (exit 3)")
    literal = server.pty(conversation, "send", data="yes\\n")
    assert codes(literal) == ["literal_line_end"]
    assert codes(server.pty(conversation, "send", data="\n", wait_for="PROMPT")) == []
    late = server.pty(conversation, "send", data="true\n", wait_for="PROMPT")
    assert (codes(late), late["notes"][0]["facts"]) == (
        ["program_ended"], {"block_id": asked["block_id"], "exit_code": 3}
    )  # fmt: skip
    server.pty(conversation, "exec_interactive", command="read -rs it", wait_for={"secret_prompt": True})
    assert codes(server.pty(conversation, "send", data="hush", secret=True)) == ["secret_without_enter"]
    assert server.pty(conversation, "keys", keys=["Enter"], wait_for="PROMPT")["matched"]


def test_a_call_that_is_sent_twice_is_done_once(server, conversation, tmp_path):
    run = {"command": f"echo done >> {tmp_path}/log; cat {tmp_path}/log", "call_id": "the-same-call"}
    first, second = (server.pty(conversation, "exec_block", **run) for _ in range(2))
    assert (first["output"], second["output"]) == ("done\n", "done\n")
    assert first["block_id"] == second["block_id"]


def test_a_wait_for_the_screen_does_not_see_the_command_itself(server, conversation, tmp_path):
    file = tmp_path / "notes.txt"
    turn = server.pty(conversation, "exec_interactive", command=f"vim -u NONE -N {file}", wait_for={"screen": "notes"})
    assert "[New]" in turn["screen"]  # vim's first line; the rest of its screen may come later
    assert "vim -u" not in turn["screen"]
    server.pty(conversation, "end_session")
    again = {"match": {"screen": "ready"}, "timeout_ms": 60_000}
    turn = server.pty(conversation, "exec_interactive", command="sleep 0.3; echo ready; cat", wait_for=again)
    assert turn["tail"].startswith("ready")
