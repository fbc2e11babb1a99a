"""Claude Code's driver, message by message, where no recording has the case."""

import json

import pytest

from vantage.agents.drivers.claude import Claude, launch
from vantage.agents.drivers.driver import Moment, Options
from vantage.events import Answer, Request

OPTIONS = Options(run="r1", cwd="/work")


def driver(state: str = "working") -> Claude:
    """A driver that has begun; `working` on a message of a person's."""
    made = Claude(OPTIONS)
    (first,) = made.start().sends
    made.sent(1, first.key, first.make(Moment(1, "")))
    told(made, type="control_response", response={"subtype": "success", "request_id": "1", "response": {}})
    if state == "working":
        (said,) = made.say("say 1", "hello", []).sends
        made.sent(2, said.key, said.make(Moment(2, "")))
    assert made.state == state
    return made


def told(made: Claude, **message: object):
    return made.receive(json.dumps(message).encode(), 0)


def asked(made: Claude, request_id: str = "q1", **request: object):
    return told(made, type="control_request", request_id=request_id, request=request)


def only_message(output, display: str = "") -> dict:
    (send,) = output.sends
    return send.make(Moment(9, display))


def answered(made: Claude, request: Request, option: str | None, **more: object) -> dict:
    answer = Answer(request_id="ours", option=option, by="cli", **more)
    message = only_message(made.answer("answer ours", request, answer))
    assert message["type"] == "control_response"
    assert message["response"]["request_id"] == request.protocol_id
    return message["response"]["response"]


BASH = {
    "subtype": "can_use_tool",
    "tool_name": "Bash",
    "input": {"command": "rm x\nls", "description": "List"},
    "tool_use_id": "t1",
    "permission_suggestions": [
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "rm *"}], "behavior": "allow",
         "destination": "localSettings"},
        {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "deny", "destination": "localSettings"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ],
}  # fmt: skip


def permission(made: Claude) -> Request:
    return asked(made, **BASH).events[0]


def test_a_permission_is_named_after_the_command_and_not_after_what_the_model_says_of_it():
    made = driver()
    request = permission(made)
    assert (request.kind, request.title, request.tool_call_id) == ("approval", "Bash: rm x", "t1")
    assert (request.args, request.cwd) == (BASH["input"], "/work")
    assert [(one["id"], one["kind"], one.get("scope")) for one in request.options] == [
        ("allow", "allow", "once"),
        ("allow_session", "allow", "session"),
        ("allow_always", "allow", "always"),
        ("allow_mode", "allow", "session"),
        ("deny", "deny", None),
    ]
    assert request.options[2]["label"] == "Always allow Bash(rm *) in this project"
    assert made.state == "waiting"


RULE = BASH["permission_suggestions"][0]


@pytest.mark.parametrize(
    ("option", "granted"),
    [
        ("allow", None),
        ("allow_session", [{**RULE, "destination": "session"}]),
        ("allow_always", [RULE]),
        ("allow_mode", [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]),
    ],
)
def test_each_way_to_allow_gives_the_input_back_and_grants_what_it_says(option, granted):
    made = driver()
    answer = answered(made, permission(made), option)
    assert answer.pop("updatedPermissions", None) == granted
    assert answer == {"behavior": "allow", "updatedInput": BASH["input"]}


@pytest.mark.parametrize("option", ["deny", None, "", "yes", "ALLOW"])
def test_anything_but_an_option_to_allow_denies(option):
    made = driver()
    assert answered(made, permission(made), option)["behavior"] == "deny"


def test_a_denial_has_the_persons_words_and_an_expiry_says_that_no_person_answered():
    made = driver()
    request = permission(made)
    assert answered(made, request, "deny", text="Use trash.") == {"behavior": "deny", "message": "Use trash."}
    refused = only_message(made.refuse("answer ours", request, "expired"))["response"]["response"]
    assert refused == {
        "behavior": "deny",
        "message": "No person has answered (expired), so this is not allowed.",
    }


def test_an_answer_is_delivered_when_it_was_sent_and_too_late_when_the_request_is_gone():
    made = driver()
    request = permission(made)
    message = only_message(made.answer("answer ours", request, Answer(option="allow")))
    assert made.state == "waiting"
    assert made.sent(3, "answer ours", message).events[0].state == "working"
    told(made, **message)  # the receipt
    late = made.answer("answer ours", request, Answer(option="allow"))
    assert (late.events[0].why, late.events[0].request_id, late.sends) == ("too_late", "q1", [])


def test_a_request_that_is_repeated_is_one_request():
    made = driver()
    permission(made)
    assert asked(made, **BASH).events == []


def test_a_receipt_without_an_answer_of_ours_closes_the_request_as_answered_elsewhere():
    made = driver()
    permission(made)
    closed, state = told(made, type="control_response", response={"subtype": "success", "request_id": "q1"}).events
    assert (closed.request_id, closed.why, state.state) == ("q1", "answered_elsewhere", "working")


def test_several_questions_are_one_form():
    one = {"question": "Which?", "options": [{"label": "A", "description": "a"}, {"label": "B"}], "multiSelect": True}
    two = {"question": "Why?", "options": [{"label": "So"}]}
    made = driver()
    given = {"questions": [one, two]}
    request = asked(made, subtype="can_use_tool", tool_name="AskUserQuestion", input=given).events[0]
    assert (request.kind, request.title) == ("question", "2 questions")
    assert request.schema == {
        "type": "object",
        "properties": {
            "question_1": {
                "type": "array", "title": "Which?",
                "items": {"type": "string", "anyOf": [{"const": "A", "title": "A: a"}, {"const": "B", "title": "B"}]},
            },
            "question_2": {
                "type": "string", "title": "Why?",
                "anyOf": [{"const": "So", "title": "So"}, {"type": "string"}],
            },
        },
        "required": ["question_1", "question_2"],
    }  # fmt: skip
    answer = answered(made, request, None, values={"question_1": ["A", "B"], "question_2": "because"})
    assert answer["updatedInput"] == {**given, "answers": {"Which?": "A, B", "Why?": "because"}}
    assert answered(made, request, "decline")["behavior"] == "deny"


def test_one_question_takes_an_option_or_words():
    made = driver()
    given = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    request = asked(made, subtype="can_use_tool", tool_name="AskUserQuestion", input=given).events[0]
    assert [one["id"] for one in request.options] == ["1", "2", "other", "decline"]
    assert answered(made, request, "2")["updatedInput"]["answers"] == {"Which?": "B"}
    assert answered(made, request, "other", text="Neither")["updatedInput"]["answers"] == {"Which?": "Neither"}


def test_a_form_of_an_mcp_server_is_a_question():
    made = driver()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    form = {"subtype": "elicitation", "mcp_server_name": "git", "message": "Who?", "requested_schema": schema}
    request = asked(made, **form).events[0]
    assert (request.kind, request.title, request.schema) == ("question", "Who?", schema)
    assert answered(made, request, None, values={"name": "Ann"}) == {"action": "accept", "content": {"name": "Ann"}}
    assert answered(made, request, "decline") == {"action": "decline"}
    assert only_message(made.refuse("k", request, "expired"))["response"]["response"] == {"action": "cancel"}


def test_a_form_that_asks_for_a_password_is_refused():
    made = driver()
    schema = {"type": "object", "properties": {"word": {"type": "string", "format": "password"}}}
    output = asked(made, subtype="elicitation", message="Login", requested_schema=schema)
    assert [event.type for event in output.events] == ["warning"]
    assert only_message(output)["response"]["response"] == {"action": "cancel"}
    assert made.state == "working"


def test_an_unknown_request_is_answered_with_the_protocols_error_and_shown():
    made = driver()
    output = asked(made, subtype="oauth_token_refresh")
    assert [event.type for event in output.events] == ["unknown"]
    response = only_message(output)["response"]
    assert (response["subtype"], response["request_id"]) == ("error", "q1")
    assert output.sends[0].key == asked(made, subtype="oauth_token_refresh").sends[0].key, "the same in each replay"


def test_an_unknown_dialog_is_answered_as_cancelled():
    output = asked(driver(), subtype="request_user_dialog", dialog_kind="new", payload={})
    assert only_message(output)["response"]["response"] == {"behavior": "cancelled"}


def test_the_display_text_goes_with_each_prompt_and_with_a_message_that_joins_a_turn():
    made = driver()
    hook = asked(made, subtype="hook_callback", callback_id="display", input={"session_id": "s1"})
    assert only_message(hook, "Narrow.")["response"]["response"]["hookSpecificOutput"] == {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": "Narrow.",
    }
    assert only_message(hook)["response"]["response"] == {}
    assert made.session == "s1"
    joining = made.say("say 2", "And this.", [])
    assert [part["text"] for part in only_message(joining, "Narrow.")["message"]["content"]] == ["Narrow.", "And this."]
    assert only_message(joining)["message"]["content"] == "And this."


def test_a_message_has_the_same_id_whenever_it_is_made():
    first, again = (only_message(driver().say("say 5", "hello", []))["uuid"] for _ in range(2))
    assert first == again
    assert first != only_message(driver().say("say 6", "hello", []))["uuid"]


def test_images_are_sent_and_other_files_are_named():
    image = {"name": "a.png", "mime_type": "image/png", "path": "/assets/a.png", "data": "aGk="}
    file = {"name": "b.csv", "mime_type": "text/csv", "path": "/assets/b.csv"}
    content = only_message(driver("idle").say("say 2", "See", [image, file]))["message"]["content"]
    assert [part["type"] for part in content] == ["text", "image", "text"]
    assert content[1]["source"] == {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert content[2]["text"] == "Attached file: /assets/b.csv"


def test_a_version_that_does_not_tell_its_state_is_idle_after_the_result():
    made = driver()
    told(made, type="result", subtype="success", result="hello")
    assert made.state == "idle"
    asked(made, subtype="hook_callback", callback_id="display", input={})
    assert made.state == "working", "a message that waited begins a turn of its own"


def test_a_process_that_ends_loses_its_requests_and_says_why():
    made = driver()
    permission(made)
    output = made.exited(1, "Error: [ede_diagnostic] noise\nNo conversation found with session ID: x\n")
    closed, turn, state = output.events
    assert (closed.request_id, closed.why) == ("q1", "lost")
    assert turn.finish == "exited"
    assert (state.state, state.error) == ("exited", "exited with status 1: No conversation found with session ID: x")
    assert made.delivery() == "refused"


def test_a_run_that_could_not_begin_says_what_was_wrong():
    made = Claude(OPTIONS)
    (first,) = made.start().sends
    made.sent(1, first.key, first.make(Moment(1, "")))
    error, state = told(
        made, type="control_response", response={"subtype": "error", "request_id": "1", "error": "too new"}
    ).events
    assert (error.message, state.state, state.error) == ("too new", "starting", "too new")


def test_a_secret_of_our_tool_is_not_in_the_request_and_is_given_back_to_claude():
    made = driver()
    given = {"data": "correct horse", "secret": True}
    request = asked(made, subtype="can_use_tool", tool_name="mcp__vantage__pty_send", input=given).events[0]
    assert request.args == {"data": "[redacted]", "secret": True}
    assert answered(made, request, "allow")["updatedInput"] == given


def test_the_launch_has_what_was_chosen():
    mcp = {"command": "vantage", "args": ["mcp"], "env": {}}
    chosen = Options(run="r1", cwd="/work", model="opus", mode="plan", resume="s1", mcp=mcp)
    argv = " ".join(launch(chosen).argv)
    assert "--model opus --permission-mode plan --resume s1 --mcp-config" in argv
    assert '"mcpServers": {"vantage": {"type": "stdio", "command": "vantage"' in argv
    assert "--mcp-config" not in launch(OPTIONS).argv
