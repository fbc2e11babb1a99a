"""What a wait shows, over HTTP: what is new since its cursor, around the match or at its end, and never too much."""

import re

import pytest

GAP = re.compile(r"… ([\d,]+) (?:bytes|characters) left out .*?…\n?")
LONG = "seq 1 2000; echo nee''dle; seq 3001 5000; echo fi''nished; read -r _; seq 1 500"
DRAWN = r"printf '\033[?1049h\033[Hdrawn he''re'; read -r _; printf '\033[?1049l'; echo le''ft"
LIMIT = 60


@pytest.fixture
def conversation(server):
    with server.conversation() as made:
        yield made


def missing(text):
    return [int(number.replace(",", "")) for number in GAP.findall(text)]


def kept(text):
    return GAP.sub("", text)


def test_a_match_is_shown_with_its_neighbours(server, conversation):
    begun = server.pty(conversation, "exec_interactive", command=LONG)
    last = server.pty(conversation, "wait_for", match="finished")
    assert kept(last["tail"]).splitlines()[-3:] == ["4999", "5000", "finished"]
    found = server.pty(conversation, "wait_for", match="needle", from_cursor=begun["cursor"])
    lines = kept(found["tail"]).splitlines()
    at = lines.index("needle")
    assert lines[at - 3 : at + 3] == ["1998", "1999", "2000", "needle", "3001", "3002"]
    assert "1" not in lines, "the begin is far before the match"
    assert "finished" not in lines, "the end is far behind it"
    before, after = missing(found["tail"])
    whole = len("\n".join([*map(str, range(1, 2001)), "needle", *map(str, range(3001, 5001)), "finished", ""]))
    assert before + len(kept(found["tail"])) + after == whole, "every byte is shown or counted"


def test_a_short_answer_is_whole(server, conversation):
    server.pty(conversation, "exec_interactive", command="python3 -q", wait_for=">>> ")
    said = server.pty(conversation, "send", data="print(*range(40), 'end', sep='\\n')\n", wait_for="end\n>>> ")
    lines = [line.strip("\r") for line in said["tail"].splitlines()]
    assert lines[1:] == [*map(str, range(40)), "end", ">>> "]


def test_a_wait_shows_nothing_older_than_its_cursor(server, conversation):
    server.pty(conversation, "exec_block", command="echo older")
    begun = server.pty(conversation, "exec_interactive", command="echo newer; cat")
    assert server.pty(conversation, "wait_for", match="newer")["tail"] == "newer"
    missed = server.pty(conversation, "wait_for", match="never", timeout_ms=0)
    assert (missed["matched"], missed.get("tail", "")) == (False, "")
    again = server.pty(conversation, "wait_for", match="never", timeout_ms=0, from_cursor=begun["cursor"])
    assert again["tail"] == "newer"


def test_a_wait_that_failed_shows_the_end_of_what_is_new(server, conversation):
    begun = server.pty(conversation, "exec_interactive", command=LONG)
    server.pty(conversation, "wait_for", match="finished")
    missed = server.pty(conversation, "wait_for", match="never", timeout_ms=0, from_cursor=begun["cursor"])
    assert kept(missed["tail"]).endswith("5000\nfinished")
    assert len(kept(missed["tail"])) <= 2000
    assert missing(missed["tail"])[0] > 10_000


def test_a_full_screen_program_is_shown_as_its_screen(server, conversation):
    drawn = server.pty(conversation, "exec_interactive", command=DRAWN, wait_for="drawn here")
    assert (drawn["matched"], drawn["screen"], "tail" in drawn) == (True, "drawn here", False)
    missed = server.pty(conversation, "wait_for", match="never", timeout_ms=0)
    assert (missed["matched"], missed["screen"], "tail" in missed) == (False, "drawn here", False)
    left = server.pty(conversation, "keys", keys=["Enter"], wait_for="PROMPT")
    assert ("screen" in left, "left" in left["tail"]) == (False, True)


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("send", {"data": "\n", "wait_for": "PROMPT", "max_output": LIMIT}),
        ("keys", {"keys": ["Enter"], "wait_for": {"match": "PROMPT", "max_output": LIMIT}}),
    ],
)
def test_max_output_limits_an_answer(server, conversation, verb, fields):
    server.pty(conversation, "exec_interactive", command=LONG, wait_for="finished")
    answer = server.pty(conversation, verb, **fields)
    assert len(kept(answer["tail"])) <= LIMIT + 1, "and the line end before the mark"
    assert missing(answer["tail"])[0] > 1000


def test_max_output_limits_the_first_answer_and_the_screen(server, conversation):
    begun = server.pty(conversation, "exec_interactive", command=LONG, wait_for="finished", max_output=LIMIT)
    assert len(kept(begun["tail"])) <= LIMIT
    screen = server.pty(conversation, "read_screen", max_output=LIMIT)
    assert len(kept(screen["text"])) <= LIMIT + 1, "and the line end before the mark"
    assert missing(screen["text"])[0] > 0
    assert len(screen["rows"]) == screen["rows_count"], "rows are all there"
    refused = server.post(f"/v1/conversations/{conversation}/pty/send", {"data": "x", "max_output": 0})
    assert (refused.status, refused.code) == (422, "validation")


def test_over_http_a_result_has_all_its_fields(server, conversation):
    ran = server.pty(conversation, "exec_block", command="echo hi")
    assert {"ok", "block_id", "seq", "ts_begin", "cursor", "output", "exit_code", "done_because", "cwd"} <= ran.keys()


# what was drawn

TABLE = r"""while read -r _; do printf 'name\033[20Gsize\n'; done"""


def test_a_wait_shows_what_was_drawn(server):
    """The spool has a blank where the cursor moved; a person saw a column."""
    with server.conversation() as made:
        server.pty(made, "exec_interactive", command=TABLE)
        turn = server.pty(made, "send", data="go\n", wait_for="size")
        assert turn["matched"]
        assert turn["tail"] == "go\nname               size"
        assert server.pty(made, "ctrl_d")


RAW = "stty raw -echo; echo up; cat > /dev/null"


def test_a_terminal_that_was_left_in_raw_mode_is_itself_again(server):
    with server.conversation() as made:
        server.pty(made, "exec_interactive", command=RAW, wait_for="up")
        assert server.pty(made, "end_session")["how"] != "already_ended"
        assert {"isig", "icanon", "echo"} <= set(server.pty(made, "exec_block", command="stty -a")["output"].split())
        server.pty(made, "exec_block", command="sleep 1000", timeout_ms=0)
        server.pty(made, "wait_for", match={"foreground": "sleep"})
        assert server.pty(made, "keys", keys=["C-c"], wait_for="PROMPT")["matched"]


FULL_SCREEN = r"printf '\033[?1049h\033[2J\033[Hfu''ll'; cat > /dev/null"


def test_a_program_that_is_ended_leaves_its_alternate_screen(server, conversation):
    server.pty(conversation, "exec_interactive", command=FULL_SCREEN, wait_for={"screen": "full"})
    server.pty(conversation, "end_session")
    assert server.pty(conversation, "status")["alt_screen"] is False
    typed = server.pty(conversation, "send", data="echo a''fter\n", wait_for="after")
    assert (typed.get("screen"), "after" in typed["tail"].splitlines()) == (None, True)


def test_what_stood_on_the_screen_is_not_output(server, conversation):
    server.pty(conversation, "exec_block", command="seq 100")
    ran = server.pty(conversation, "exec_block", command=r"printf 'a\033[5;40Hto\033[5;60Hconnect\033[40;3H b\n'")
    drawn, last = ran["output"].splitlines()
    assert (drawn.split()[1:], last) == (["to", "connect"], "a  b")
