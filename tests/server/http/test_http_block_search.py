"""Searching what one command printed, over HTTP: of a command that has ended, of one that runs, of a long output."""

import pytest


@pytest.fixture
def conversation(server):
    with server.conversation() as made:
        yield made


def run(server, conversation, command):
    return server.pty(conversation, "exec_block", command=command)["block_id"]


def test_lines_with_a_text_come_with_their_numbers_and_neighbours(server, conversation):
    block = run(server, conversation, "seq 1 30 | sed 's/^/line /'")

    def read(**fields):
        return server.pty(conversation, "read_block", block_id=block, **fields)

    found = read(search="line 9", context=1)
    assert (found["output"], found["found"]) == ("8-line 8\n9:line 9\n10-line 10\n", 1)
    assert (found["block"]["block_id"], "truncated" in found) == (block, False)
    assert read(search="line 30")["output"] == "28-line 28\n29-line 29\n30:line 30\n", "two lines unless told otherwise"
    matched = read(search="^line [12]$", regex=True, context=0)
    assert (matched["output"], matched["found"]) == ("1:line 1\n2:line 2\n", 2)
    assert (read(search="[", context=0)["output"], read(search="line [12]$")["found"]) == ("", 0)


def test_what_does_not_fit_is_counted(server, conversation):
    block = run(server, conversation, "seq -f 'item %.0f' 1 200000")
    fields = {"block_id": block, "search": "item", "context": 0, "max_output": 50}
    first = server.pty(conversation, "read_block", **fields)
    assert (first["found"], first["omitted_found"], first["truncated"]) == (200_000, 199_996, True)
    assert first["output"] == "1:item 1\n2:item 2\n3:item 3\n4:item 4\n… 199,996 more lines have it …\n"
    last = server.pty(conversation, "read_block", **fields, part="tail")
    assert last["output"] == "… 199,998 more lines have it …\n199999:item 199999\n200000:item 200000\n"
    assert (
        server.pty(conversation, "read_block", **{**fields, "search": "m 199999"})["output"] == "199999:item 199999\n"
    )


def test_a_command_that_runs_is_searched_as_far_as_it_is(server, conversation):
    ran = server.pty(conversation, "exec_block", command="echo o'n'e; echo r'e'ady; cat", wait_for="ready")
    assert ran["running"]
    fields = {"block_id": ran["block_id"], "search": "two", "context": 0}
    assert server.pty(conversation, "read_block", **fields)["found"] == 0
    server.pty(conversation, "send", data="two\n", wait_for="two\ntwo")
    assert server.pty(conversation, "read_block", **fields)["output"] == "3:two\n4:two\n"
    server.pty(conversation, "keys", keys=["C-c"], wait_for="PROMPT")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"search": "("}, None),
        ({"search": "(", "regex": True}, "no regular expression"),
        ({"regex": True}, "goes with `search`"),
        ({"search": ""}, "search"),
        ({"search": "x", "context": 101}, "context"),
    ],
)
def test_wrong_questions(server, conversation, fields, message):
    block = run(server, conversation, "echo one")
    answer = server.post(f"/v1/conversations/{conversation}/pty/read_block", {"block_id": block, **fields})
    assert (answer.status == 200) if message is None else (message in answer.json["error"]["message"])
