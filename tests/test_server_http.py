"""HTTP as its users see it: conversations, events, rows, displays, tools, search, export, and what goes wrong."""

import base64
import json
import re
import socket
from contextlib import closing
from pathlib import Path

import pytest

from terminal_home import PATIENCE

GAME = Path(__file__).parent.parent / "examples" / "guess"


@pytest.fixture
def conversation(server):
    with server.conversation() as made:
        yield made


def path(conversation, *below):
    return "/".join(["/v1/conversations", conversation, *below])


# conversations


def test_a_conversation_from_its_beginning_to_its_end(server, tmp_path):
    made = server.post("/v1/conversations", {"id": "whole-life", "name": "First", "cwd": str(tmp_path), "cols": 90})
    assert (made.status, made.json["id"], made.json["cols"], made.json["state"]) == (201, "whole-life", 90, "new")
    assert server.post("/v1/conversations", {"id": "whole-life"}).code == "conflict"
    renamed = server.ask("PATCH", path("whole-life"), {"name": "Second"})
    assert (renamed.status, renamed.json["name"]) == (200, "Second")
    assert "whole-life" in [each["id"] for each in server.get("/v1/conversations").json["conversations"]]
    server.pty("whole-life", "exec_block", command="true")
    assert server.get(path("whole-life")).json["state"] == "idle"
    assert server.post(path("whole-life", "close")).json["state"] == "ended"
    assert server.ask("DELETE", path("whole-life")).json == {"ok": True}
    assert server.get(path("whole-life")).status == 404


def test_a_shell_gets_its_creators_environment_and_none_of_ours(server):
    with server.conversation(env={"PATH": "/usr/bin:/bin", "MINE": "yes", "VANTAGE_TOKEN": "no"}) as made:
        ran = server.pty(made, "exec_block", command="echo $MINE; env")
        assert ran["output"].startswith("yes\n")
        assert "VANTAGE_TOKEN" not in ran["output"]
        assert server.token not in ran["output"]


# what is logged, and how it is read


def test_one_event_or_many(server, conversation):
    assert server.post(path(conversation, "events"), {"type": "user_message", "text": "one"}).json["seq"] == 1
    many = [{"type": "assistant_text", "text": str(number)} for number in range(2, 6)]
    assert server.post(path(conversation, "events"), many).json == {"ok": True, "seq": 5, "count": 4}
    page = server.get(path(conversation, "events?after=1&limit=2")).json
    assert [event["seq"] for event in page["events"]] == [2, 3]
    assert page["next"] == 3
    assert server.get(path(conversation, f"events?after={page['next']}")).json["next"] is None
    back = server.get(path(conversation, "events?before=5&limit=2")).json
    assert ([event["seq"] for event in back["events"]], back["next"]) == ([3, 4], 3)


@pytest.mark.parametrize(
    ("body", "status"),
    [("", 400), ("7", 400), ("[7]", 422), ('[{"type": "screen_delta"}]', 400), ("[" * 5000, 400)],
)
def test_what_is_no_event(server, conversation, body, status):
    answer = server.post(path(conversation, "events"), body)
    assert (answer.status, bool(answer.json["error"]["message"])) == (status, True)
    assert server.get(path(conversation, "events")).json["events"] == []


def test_rows_forward_and_back(server, conversation):
    server.post(path(conversation, "events"), [{"type": "assistant_text", "text": f"line {n}"} for n in range(1, 8)])
    seen, after = [], 0
    while after is not None:
        page = server.get(path(conversation, f"rows?surface=plain&limit=3&after={after}")).json
        seen += [row["text"] for row in page["rows"]]
        after = page["next"]
    assert seen == [f"• line {n}" for n in range(1, 8)]
    seen, before = [], page["seq"] + 1
    while before is not None:
        page = server.get(path(conversation, f"rows?limit=3&before={before}")).json
        seen = [row["row"]["id"] for row in page["rows"]] + seen
        before = page["next"]
    assert seen == [f"r{n}" for n in range(1, 8)]
    assert server.get(path(conversation, "rows?after=7")).json["rows"] == []


def test_rows_that_one_event_changed_come_together(server, conversation):
    """A message that streams is closed by what comes next: both rows carry that number."""
    server.post(path(conversation, "events"), {"type": "assistant_delta", "message_id": "m", "text": "half a sen"})
    server.post(path(conversation, "events"), {"type": "user_message", "text": "stop"})
    page = server.get(path(conversation, "rows?limit=1")).json
    assert [(row["row"]["id"], row["seq"]) for row in page["rows"]] == [("r1", 2), ("r2", 2)]
    assert page["next"] is None


@pytest.mark.parametrize(
    ("surface", "field"),
    [("plain", "text"), ("terminal", "text"), ("html", "html"), ("telegram", "messages"), ("slack", "messages")],
)
def test_a_row_on_every_surface(server, conversation, surface, field):
    server.post(path(conversation, "events"), {"type": "assistant_text", "text": "some *words* to be wrapped"})
    row = server.get(path(conversation, f"rows/r1?surface={surface}&width=40")).json
    assert "words" in json.dumps(row[field])
    assert row["row"]["blocks"]


def test_a_row_has_what_its_command_printed(server, conversation):
    server.pty(conversation, "exec_block", command="echo out of the $((40 + 2))")
    rows = server.get(path(conversation, "rows")).json["rows"]
    assert any("out of the 42" in row["text"] for row in rows)


# displays and tools


def test_a_display_shapes_the_instruction(server, conversation):
    assert "48" not in server.get(path(conversation, "instructions")).json["text"]
    server.ask("PUT", path(conversation, "clients", "phone"), {"terminal_width": 48, "client_id": "another"})
    assert "48" in server.get(path(conversation, "instructions?additional=Be%20brief.")).json["text"]
    assert server.ask("DELETE", path(conversation, "clients", "phone")).status == 200
    assert server.ask("DELETE", path(conversation, "clients", "phone")).code == "not_found"


def test_tools_of_one_conversation_and_of_all(server, conversation):
    spec = {"specVersion": 1, "collapsed": {"title": "Deploy {{args.service}}"}}
    put = server.ask("PUT", path(conversation, "tools", "deploy"), {"renderSpec": spec})
    assert put.status == 200
    call = {"type": "tool_start", "tool": "deploy", "toolCallId": "1", "args": {"service": "web"}}
    server.post(path(conversation, "events"), call)
    assert "Deploy web" in server.get(path(conversation, "rows")).json["rows"][0]["text"]
    assert server.ask("PUT", "/v1/tools/mcp:x/y", {"renderSpec": spec}).json["tool"] == "mcp:x/y"
    assert {"mcp:x/y"} <= {each["tool"] for each in server.get("/v1/tools").json["tools"]}
    here = {each["tool"] for each in server.get(path(conversation, "tools")).json["tools"]}
    assert {"deploy", "mcp:x/y"} <= here
    assert server.ask("PUT", "/v1/tools/bad", {"renderSpec": {"specVersion": 1}}).code == "bad_spec"


# search and export


def test_search_finds_what_was_said_and_printed(server, conversation):
    server.post(path(conversation, "events"), {"type": "user_message", "text": "zebra crossing"})
    server.pty(conversation, "exec_block", command="echo zeb''ra printed")
    found = server.get(f"/v1/search?q=zebra&conversation={conversation}").json["hits"]
    assert {hit["kind"] for hit in found} == {"user", "output"}
    assert server.get("/v1/search?q=").status == 422


@pytest.mark.parametrize("format", ["asciicast", "html", "markdown", "text"])
def test_an_export_is_a_file(server, conversation, format):
    server.pty(conversation, "exec_block", command="echo kept for ever")
    answer = server.get(path(conversation, f"export?format={format}"))
    assert answer.status == 200
    assert b"kept for ever" in answer.body
    assert re.fullmatch(rf'attachment; filename="{conversation}\.\w+"', answer.headers["Content-Disposition"])


# what goes wrong


@pytest.mark.parametrize(
    ("body", "status", "code", "says"),
    [
        ("{", 400, "bad_input", "not JSON"),
        ("[1]", 400, "bad_input", "a list"),
        ('"text"', 400, "bad_input", "a string"),
        (b'{"command": "\xff"}', 400, "bad_input", "UTF-8"),
        ('{"command": "\\ud800"}', 400, "bad_input", "not JSON"),
        ('{"command": ' + "[" * 1000 + "]" * 1000 + "}", 400, "bad_input", "levels"),
        ('{"command": ' + "[" * 200_000, 400, "bad_input", "levels"),
        ('{"command": 7}', 422, "validation", "command"),
        ("{}", 422, "validation", "command"),
        ('{"command": "true", "timeout_ms": -1}', 422, "validation", "timeout_ms"),
        ('{"command": "true", "timeout_ms": 1e400}', 400, "bad_input", "range"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_bodies_that_cannot_be_read(server, conversation, body, status, code, says):
    answer = server.post(path(conversation, "pty", "exec_block"), body)
    error = answer.json["error"]
    assert (answer.status, answer.json["ok"], error["code"]) == (status, False, code)
    assert says in error["message"] or says in error["hint"]
    assert error["hint"]


def test_a_field_that_nobody_knows_is_named(server, conversation):
    said = server.pty(conversation, "exec_block", command="true", timeout=5)
    assert "did you mean 'timeout_ms'?" in said["warnings"][0]


@pytest.mark.parametrize(
    ("method", "where", "status", "hint"),
    [
        ("GET", "/v1/nothing", 404, "/v1/openapi.json"),
        ("GET", "/v1/conversations/unknown", 404, "list them"),
        ("POST", "/v1/conversations/x/pty/exec_blok", 404, "did you mean 'exec_block'?"),
        ("PUT", "/v1/conversations", 405, "Allow"),
    ],
)
def test_paths_that_lead_nowhere(server, method, where, status, hint):
    answer = server.ask(method, where)
    assert answer.status == status
    assert hint in answer.json["error"]["hint"]
    if status == 405:
        assert set(answer.headers["Allow"].split(", ")) == {"GET", "POST", "OPTIONS"}


def test_a_word_that_is_no_choice_is_answered_with_the_choices(server, conversation):
    refused = server.get(path(conversation, "export?format=pdf"))
    assert (refused.status, refused.code) == (422, "validation")
    assert refused.json["error"]["hint"] == "`format` is one of asciicast, html, markdown, player, text"
    refused = server.post(path(conversation, "pty", "read_block"), {"block_id": "b1", "part": "middle"})
    assert refused.json["error"]["hint"] == "`part` is one of both, head, tail"


@pytest.mark.parametrize("where", ["/", "/healthz", "/v1/conversations", "/v1/openapi.json", "/v1/nothing"])
def test_head_is_get_without_the_body(server, where):
    with closing(server.connection()) as connection:
        said = {}
        for method in ("HEAD", "GET"):  # over one connection: a body that came all the same would be read as an answer
            connection.request(method, where, headers={"Authorization": f"Bearer {server.token}"})
            answer = connection.getresponse()
            answer.read()
            said[method] = answer.status, answer.headers["Content-Type"], answer.headers["Content-Length"]
    assert said["HEAD"] == said["GET"]


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2ftoken", "a%00b", "%2fetc", "a" * 65, ".x", "a%0ab", "ü"])
@pytest.mark.parametrize("below", ["", "/events", "/pty/status", "/export?format=text"])
def test_no_id_leads_out_of_the_home(server, name, below):
    from urllib.parse import quote

    method = "POST" if "/pty/" in below else "GET"
    answer = server.ask(method, f"/v1/conversations/{quote(name, safe='%')}{below}")
    assert answer.status in (400, 404, 405)
    assert answer.json["ok"] is False


def test_a_cursor_past_the_end_is_an_error(server, conversation):
    answer = server.post(path(conversation, "pty", "read_spool"), {"from_cursor": 10**9})
    assert answer.status == 400


def test_busy_says_what_to_call_instead(server, conversation):
    server.pty(conversation, "exec_block", command="read line", timeout_ms=0)
    answer = server.post(path(conversation, "pty", "exec_block"), {"command": "true"})
    assert (answer.status, answer.code) == (409, "busy")
    assert "wait_for" in answer.json["error"]["hint"]


# waiting


def waits(server):
    return float(re.search(rb"^vantage_waits (.+)$", server.get("/metrics").body, re.MULTILINE)[1])


def until(holds):
    """Asks again until it holds: each time the server has done something in between."""
    import time

    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline


def test_a_wait_ends_with_whoever_waited(server, conversation):
    before = waits(server)
    body = json.dumps({"match": "never", "timeout_ms": 600_000}).encode()
    request = f"POST {path(conversation, 'pty', 'wait_for')} HTTP/1.1\r\nHost: localhost\r\n"
    request += f"Authorization: Bearer {server.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        line.sendall(request.encode() + body)
        until(lambda: waits(server) == before + 1)
    until(lambda: waits(server) == before)


def test_guessing_a_number(server, conversation):
    """The flow of a program that talks back: start it, wait for its question, answer, until it is over."""
    game = server.pty(conversation, "exec_interactive", command=str(GAME))
    low, high, cursor = 1, 10, game["cursor"]
    while True:
        asked = server.pty(conversation, "wait_for", match="Guess a number", from_cursor=cursor)
        assert asked["matched"]
        guess = (low + high) // 2
        server.pty(conversation, "send", data=f"{guess}\r", session_id=game["session_id"])
        said = server.pty(
            conversation, "wait_for", match="Too low|Too high|Correct!", regex=True, from_cursor=asked["cursor"]
        )
        cursor = said["cursor"]
        if said["match_text"] == "Correct!":
            break
        low, high = (guess + 1, high) if said["match_text"] == "Too low" else (low, guess - 1)
    assert server.pty(conversation, "wait_for", match="EOF", session_id=game["session_id"])["matched"]
    assert server.pty(conversation, "read_block", block_id=game["block_id"])["block"]["exit_code"] == 0
    assert server.pty(conversation, "status")["mode"] == "idle"


# about the server


def test_numbers_name_routes_and_no_ids(server, conversation):
    server.pty(conversation, "exec_block", command="true")
    text = server.get("/metrics").body.decode()
    assert re.search(r'vantage_http_requests_total\{method="POST",route="/v1/conversations/\{.*?/pty/\{', text)
    assert conversation not in text
    assert re.search(r"^vantage_terminals [1-9]", text, re.MULTILINE)
    assert server.get("/healthz", token="").json == {"ok": True}


# pictures

DOT = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


def put_picture(server, conversation, name, data):
    return server.ask("PUT", path(conversation, "assets", name), {"data_b64": base64.b64encode(data).decode()})


def test_a_picture_is_kept_and_given_back(server, conversation):
    kept = put_picture(server, conversation, "dot.gif", DOT)
    assert kept.json == {"ok": True, "asset": "dot.gif", "media": "image/gif", "bytes": len(DOT)}
    read = server.get(path(conversation, "assets", "dot.gif"))
    assert (read.status, read.headers["content-type"], read.body) == (200, "image/gif", DOT)
    assert read.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("data", [b"<svg onload=alert(1)>", b"<html>", b"", b"RIFF1234WAVE"])
def test_only_pictures_are_pictures(server, conversation, data):
    refused = put_picture(server, conversation, "a", data)
    assert (refused.status, refused.code) == (400, "bad_input")
    assert server.get(path(conversation, "assets", "a")).status == 404


@pytest.mark.parametrize("name", ["..", "%2e%2e%2fconversation.json", ".hidden", "a" * 65])
def test_a_picture_is_a_file_of_its_own(server, conversation, name):
    assert put_picture(server, conversation, name, DOT).status in (400, 404, 405, 422)
    assert server.get(path(conversation, "assets", name)).status in (400, 404, 405, 422)
