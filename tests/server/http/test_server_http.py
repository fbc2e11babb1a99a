"""HTTP as its users see it: conversations, events, rows, displays, tools, search, export, and what goes wrong."""

import base64
import json
import re
import socket
from contextlib import closing

import pytest

from places import ROOT
from server_home import serving
from terminal_home import PATIENCE
from vantage.presentation import PresentationContext, profile
from vantage.server.security.tokens import Tokens

GAME = ROOT / "examples" / "guess"


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
        assert "VANTAGE_TOKEN=no" not in ran["output"].splitlines(), "it gets the token of its conversation"
        assert server.token not in ran["output"]


def test_calls_return_when_the_program_waits_for_input(server, conversation):
    asked = server.pty(conversation, "exec_block", command="read -p 'Name: ' name; read -s name", timeout_ms=60_000)
    assert (asked["running"], asked["awaiting"], asked["prompt"]) == (True, "line", "Name:")
    assert (asked["because"]["process"], asked["because"]["call"]) == ("bash", "read")
    server.pty(conversation, "send", data="Ada\n")
    waited = server.pty(conversation, "wait_for", match="never", timeout_ms=60_000)
    assert (waited["matched"], waited["reason"], waited["awaiting"]) == (False, "awaiting", "secret")
    assert waited["because"]["canonical"]
    status = server.pty(conversation, "status")
    assert (status["awaiting"], status["awaiting_secret"], status["because"]["process"]) == ("secret", True, "bash")
    server.pty(conversation, "send", data="Ada\n", secret=True)
    server.pty(conversation, "wait_for", match="PROMPT")
    assert server.pty(conversation, "status")["awaiting"] is None


def test_the_engine_of_a_conversation(server):
    with server.conversation(engine="pyte") as made:
        assert server.get(path(made)).json["engine"] == "pyte"
        server.pty(made, "exec_block", command="true")
        assert server.pty(made, "status")["engine"] == "pyte"
    refused = server.post("/v1/conversations", {"engine": "pite"})
    assert refused.status == 400
    said = json.dumps(refused.json)
    assert "did you mean 'pyte'" in said


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
def test_invalid_events_are_refused(server, conversation, body, status):
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


def test_a_presentation_starts_from_its_clients_profile(server, conversation):
    server.ask("PUT", path(conversation, "clients", "phone"), {"presentation": {"client_type": "telegram"}})
    assert server.get(path(conversation, "instructions")).json["text"] == profile("telegram").to_system_instruction()
    assert server.ask("DELETE", path(conversation, "clients", "phone")).status == 200
    event = {"type": "client_config", "client_id": "bot", "presentation": {"client_type": "slack", "content_width": 50}}
    server.post(path(conversation, "events"), event)
    told = server.get(path(conversation, "instructions")).json["text"]
    assert told == profile("slack", content_width=50).to_system_instruction()


def test_unknown_fields_of_a_presentation_are_named_in_the_answer(server, conversation):
    misspelt = {"content_widht": 45}
    for where in ("clients/phone", "agents/sub"):
        answer = server.ask("PUT", path(conversation, where), {"presentation": misspelt})
        [said] = answer.json["warnings"]
        assert "content_widht" in said
        assert "content_width" in said.replace("content_widht", "")
        assert "warnings" not in server.ask("PUT", path(conversation, where), {"presentation": {}}).json
    config = {"type": "client_config", "client_id": "phone", "presentation": misspelt, "primray": True}
    one = server.post(path(conversation, "events"), config).json["warnings"]
    assert [name for name in ("primray", "content_widht") if not any(name in each for each in one)] == []
    many = server.post(path(conversation, "events"), [{"type": "user_message", "text": "hi"}, config]).json["warnings"]
    assert all(each.startswith("event 2: ") for each in many)
    assert "warnings" not in server.post(path(conversation, "events"), {"type": "user_message", "text": "hi"}).json


def test_an_agent_has_a_display_of_its_own(server, conversation):
    def told(agent=""):
        return server.get(path(conversation, f"instructions{agent and f'?agent={agent}'}")).json["text"]

    server.ask("PUT", path(conversation, "clients", "phone"), {"presentation": {"client_type": "telegram"}})
    phone = profile("telegram").to_system_instruction()
    config = {"type": "client_config", "client_id": "", "agent": {"id": "sub", "depth": 1}}
    server.post(path(conversation, "events"), {**config, "presentation": {"client_type": "api", "content_width": 200}})
    assert told() == told("other") == phone
    assert told("sub") == profile("api", content_width=200).to_system_instruction()
    assert (
        server.ask("PUT", path(conversation, "agents", "file"), {"presentation": {"content_width": 99}}).status == 200
    )
    assert (told(), told("file")) == (phone, PresentationContext(content_width=99).to_system_instruction())
    assert server.ask("DELETE", path(conversation, "agents", "file")).status == 200
    assert told("file") == phone
    assert server.ask("DELETE", path(conversation, "agents", "file")).code == "not_found"
    server.post(path(conversation, "events"), config)
    assert told("sub") == phone, "without a presentation it writes for the clients again"
    refused = server.ask("PUT", path(conversation, "agents", "sub"), {"presentation": {"content_width": 0}})
    assert refused.code == "bad_input"


def test_an_agent_may_be_named_by_its_id_alone(server, conversation):
    """Its id is used, so no warning says that it was ignored."""
    config = {"type": "client_config", "agent": "sub", "presentation": {"content_width": 32}}
    assert "warnings" not in server.post(path(conversation, "events"), config).json
    assert "32" in server.get(path(conversation, "instructions?agent=sub")).json["text"]
    [said] = server.post(path(conversation, "events"), {**config, "agent": 7, "client_id": "phone"}).json["warnings"]
    assert "agent" in said


def test_fields_may_be_spelt_in_camel_case(server, conversation):
    answer = server.ask("PUT", path(conversation, "clients", "phone"), {"terminalWidth": 41})
    assert (answer.status, answer.json) == (200, {"ok": True})
    assert "41" in server.get(path(conversation, "instructions")).json["text"]
    assert "warnings" not in server.get(path(conversation, "rows?surface=plain&clientId=phone")).json
    both = server.ask("PUT", path(conversation, "clients", "phone"), {"terminalWidth": 41, "terminal_width": 42})
    assert "terminalWidth" in str(both.json["warnings"]), "given twice: our spelling counts"
    assert "42" in server.get(path(conversation, "instructions")).json["text"]


def test_which_display_decides(server, conversation):
    server.ask("PUT", path(conversation, "clients", "phone"), {"presentation": {"client_type": "telegram"}})
    server.ask("PUT", path(conversation, "clients", "log"), {"presentation": {"client_type": "api"}})
    listed = server.get(path(conversation, "clients")).json["clients"]
    assert [each["client_id"] for each in listed] == ["phone", "log"]
    assert listed[0]["presentation"] == profile("telegram").to_dict()
    assert all(each["last_seen"] > 0 and not each["connected"] and not each["primary"] for each in listed)
    assert set(listed[0]) == {"client_id", "presentation", "primary", "last_seen", "connected"}

    def because(query=""):
        answer = server.get(path(conversation, f"instructions?explain=1{query}")).json
        return [(each["field"], each["value"], each["client_id"]) for each in answer["because"]]

    assert because() == [
        ("content_width", 45, "phone"),
        ("supports_tables", False, "phone"),
        ("supports_code_blocks", False, "log"),
        ("supports_markdown", False, "log"),
    ]
    server.ask("PUT", path(conversation, "clients", "log"), {"primary": True})
    assert because()[0] == ("content_width", 120, "log")
    assert [each["primary"] for each in server.get(path(conversation, "clients")).json["clients"]] == [False, True]
    server.ask("PUT", path(conversation, "agents", "sub"), {"presentation": {"content_width": 99}})
    assert because("&agent=sub") == [("content_width", 99, None)]
    assert "because" not in server.get(path(conversation, "instructions")).json


def test_a_client_id_belongs_to_the_token_that_used_it_first(server, conversation):
    other, token = Tokens(server.home).new("other")
    where = path(conversation, "clients", "phone")
    assert server.ask("PUT", where, {"terminal_width": 48}).status == 200
    taken = server.ask("PUT", where, {"terminal_width": 50, "owner": "main"}, token=token)
    assert (taken.status, taken.code) == (409, "client_taken")
    assert server.ask("DELETE", where, {"owner": other.id}, token=token).status == 200, "with full rights"
    assert server.ask("PUT", where, {"terminal_width": 50}, token=token).status == 200


def test_an_agents_display_outlives_the_server(private_home):
    with serving(private_home) as server, server.conversation(id="kept") as conversation:
        server.ask("PUT", path(conversation, "agents", "file"), {"presentation": {"content_width": 99}})
        server.kill()
        server.start()
        assert "99" in server.get(path(conversation, "instructions?agent=file")).json["text"]
        assert "99" not in server.get(path(conversation, "instructions")).json["text"]


def test_rows_are_drawn_for_the_client_that_is_named(server, conversation):
    table = "| a | b |\n|---|---|\n| one | two |\n\n" + "word " * 40
    server.post(path(conversation, "events"), {"type": "assistant_text", "text": table})
    display = {"content_width": 33, "supports_tables": False}
    server.ask("PUT", path(conversation, "clients", "phone"), {"presentation": display})

    def drawn(query, below="rows"):
        answer = server.get(path(conversation, f"{below}?surface=plain{query}")).json
        return answer["rows"][0]["text"] if below == "rows" else answer["text"], answer.get("warnings", [])

    usual, _ = drawn("")
    for below in ("rows", "rows/r1"):
        text, warnings = drawn("&client_id=phone", below)
        assert warnings == []
        assert max(map(len, text.splitlines())) <= 33 < max(map(len, usual.splitlines()))
        assert "─" not in text
        wider, _ = drawn("&client_id=phone&width=60", below)
        assert 33 < max(map(len, wider.splitlines())) <= 60
        assert "─" not in wider
        same, [warning] = drawn("&client_id=unknown", below)
        assert same == usual
        assert "unknown" in warning


def test_a_screen_has_all_its_rows(server, conversation):
    server.pty(conversation, "exec_block", command="clear; echo one")
    server.pty(conversation, "resize", cols=60, rows=17)
    for more in ({}, {"style": True}, {"at_offset": 0}):
        seen = server.pty(conversation, "read_screen", **more)
        assert len(seen["rows"]) == seen["rows_count"] > 10
        assert "style" not in more or len(seen["runs"]) == seen["rows_count"]
    part = server.pty(conversation, "read_screen", region={"row": 3, "rows": 5})
    assert (len(part["rows"]), part["rows_count"]) == (5, 5)


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


def test_an_unknown_field_is_named(server, conversation):
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


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/conversations", "GET, OPTIONS, POST"),
        ("/v1/tools/mcp:x/y", "OPTIONS, PUT"),
        ("/login", "DELETE, GET, OPTIONS, POST"),
        ("/", "GET, OPTIONS"),
    ],
)
def test_every_path_says_which_methods_it_takes(server, path, methods):
    answer = server.ask("OPTIONS", path)
    assert (answer.status, answer.headers["Allow"], answer.body) == (204, methods, b"")


@pytest.mark.parametrize("where", ["/v1/conversations/", "//v1/conversations", "/v1//conversations"])
def test_empty_parts_of_a_path_are_dropped(server, where):
    assert server.get(where).json["conversations"] == server.get("/v1/conversations").json["conversations"]
    assert server.get(where, token="").status == 401


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
    """Repeats a request until the condition holds: the server makes progress between two requests."""
    import time

    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline


NEVER = {"match": "never", "timeout_ms": 600_000}


@pytest.mark.parametrize(
    ("verb", "fields"), [("wait_for", NEVER), ("send", {"data": "whole\n", "wait_for": NEVER})], ids=["wait", "turn"]
)
def test_a_wait_ends_when_its_client_disconnects(server, conversation, verb, fields):
    before = waits(server)
    cat = server.pty(conversation, "exec_interactive", command="cat")
    body = json.dumps(fields).encode()
    request = f"POST {path(conversation, 'pty', verb)} HTTP/1.1\r\nHost: localhost\r\n"
    request += f"Authorization: Bearer {server.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        line.sendall(request.encode() + body)
        until(lambda: waits(server) == before + 1)
    until(lambda: waits(server) == before)
    if verb == "send":
        typed = server.pty(conversation, "wait_for", match="whole\nwhole", from_cursor=cat["cursor"])
        assert typed["matched"], "the input is not cut"


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


def test_an_answer_with_rows_is_bounded_and_nothing_is_lost(server, conversation):
    sent = [
        server.post(path(conversation, "events"), {"type": "assistant_text", "text": "word " * 130_000}).json["seq"]
        for _ in range(20)
    ]
    for asked in ("after", "before"):
        found: list[str] = []
        at: int | None = 0 if asked == "after" else sent[-1] + 1
        answers = 0
        while at is not None:
            answer = server.get(path(conversation, f"rows?surface=html&{asked}={at}"))
            assert len(answer.body) < (8 << 20) + 1000
            assert answer.json["rows"], "every answer has at least one row"
            found += [row["row"]["id"] for row in answer.json["rows"]]
            at, answers = answer.json["next"], answers + 1
        assert sorted(found) == sorted(f"r{number}" for number in range(1, 21))
        assert answers > 1


def test_a_row_that_is_too_long_says_what_is_missing_and_where_it_is(server, conversation):
    whole = "[a](http://b) " * 100_000
    server.post(path(conversation, "events"), {"type": "assistant_text", "text": whole})
    for surface, field in (("html", "html"), ("plain", "text")):
        answer = server.get(path(conversation, f"rows?surface={surface}"))
        row = answer.json["rows"][0]
        assert len(answer.body) < 8 << 20
        assert "characters more are not drawn: GET rows/r1 has them in `blocks`" in row[field]
    assert server.get(path(conversation, "rows/r1")).json["row"]["blocks"][0]["content"] == whole


def test_pages_of_events_are_bounded_in_bytes(server):
    """Ten events of 3 MB: pages of at most 8 MiB, forwards and backwards, with every event once and in order."""
    with server.conversation() as c:
        for number in range(1, 11):
            event = {"type": "user_message", "text": f"{number} " + "x" * 3_000_000}
            assert server.post(f"/v1/conversations/{c}/events", event).status == 200
        for towards, start in (("after", 0), ("before", 11)):
            seen, following = [], start
            while following is not None:
                answer = server.get(f"/v1/conversations/{c}/events?{towards}={following}&limit=10")
                assert answer.status == 200
                assert len(answer.body) < 9 << 20
                page = [event["seq"] for event in answer.json["events"]]
                assert page
                seen = seen + page if towards == "after" else page + seen
                following = answer.json["next"]
            assert seen == list(range(1, 11))


def test_an_event_larger_than_a_page_is_a_page(server):
    with server.conversation() as c:
        for size in (1, 9_000_000, 1):
            server.post(f"/v1/conversations/{c}/events", {"type": "user_message", "text": "x" * size})
        pages = [server.get(f"/v1/conversations/{c}/events?{query}").json for query in ("after=1", "before=3")]
        assert [[event["seq"] for event in page["events"]] for page in pages] == [[2], [2]]
        assert [page["next"] for page in pages] == [2, 2]
