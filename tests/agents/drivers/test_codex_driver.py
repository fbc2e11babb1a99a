"""Codex's driver, message by message, where no recording has the case."""

import json

import pytest

from vantage.agents.drivers.codex import Codex
from vantage.agents.drivers.driver import Moment, Options
from vantage.events import Answer, Request

OPTIONS = Options(run="r1", cwd="/work", model="gpt-5.5", mode="auto")
THREAD = "t1"


class Talk:
    """A driver, with what it sends numbered and told to it."""

    def __init__(self, options: Options = OPTIONS) -> None:
        self.driver = Codex(options)
        self.n = 0
        self.messages = []
        self.events = []
        self.take(self.driver.start())

    def take(self, output) -> None:
        self.events += output.events
        for send in output.sends:
            self.n += 1
            message = send.make(Moment(self.n, "Narrow."))
            self.messages.append(message)
            self.take(self.driver.sent(self.n, send.key, message))

    def told(self, method: str, **params: object) -> None:
        self.take(
            self.driver.receive(json.dumps({"method": method, "params": {"threadId": THREAD, **params}}).encode(), 0)
        )

    def asked(self, method: str, request_id: int = 0, **params: object) -> Request:
        before = len(self.events)
        message = {"method": method, "id": request_id, "params": {"threadId": THREAD, **params}}
        self.take(self.driver.receive(json.dumps(message).encode(), 0))
        return self.events[before]

    def answers(self, n: int, **answer: object) -> None:
        self.take(self.driver.receive(json.dumps({"id": n, **answer}).encode(), 0))

    def chosen(self, request: Request, option: str | None, **more: object):
        self.take(self.driver.answer("answer ours", request, Answer(option=option, **more)))
        return self.messages[-1].get("result")


def begun(options: Options = OPTIONS) -> Talk:
    talk = Talk(options)
    talk.answers(1, result={})
    talk.answers(3, result={"thread": {"id": THREAD}, "model": "gpt-5.5"})
    assert talk.driver.state == "idle"
    return talk


def working() -> Talk:
    talk = begun()
    talk.take(talk.driver.say("say 1", "hello", []))
    talk.answers(talk.n, result={"turn": {"id": "u1"}})
    talk.told("turn/started", turn={"id": "u1"})
    return talk


def test_a_thread_starts_with_what_was_chosen():
    talk = Talk(
        Options(run="r", cwd="/work", mode="auto", model="m", mcp={"command": "vantage", "args": [], "env": {}})
    )
    talk.answers(1, result={})
    params = talk.messages[2]["params"]
    assert (params["cwd"], params["model"]) == ("/work", "m")
    assert (params["approvalPolicy"], params["sandbox"]) == ("on-request", "workspace-write")
    assert params["config"]["mcp_servers.vantage"]["default_tools_approval_mode"] == "approve"


def test_a_thread_that_cannot_be_resumed_says_why():
    talk = Talk(Options(run="r", cwd="/work", resume="gone"))
    talk.answers(1, result={})
    assert talk.messages[2]["method"] == "thread/resume"
    talk.answers(3, error={"code": -32600, "message": "no such thread"})
    assert talk.driver.state == "starting"
    assert (talk.events[-2].message, talk.events[-1].error) == ("no such thread", "no such thread")


COMMAND = {
    "itemId": "c1", "command": "/bin/bash -lc 'rm x'", "cwd": "/work/sub", "reason": "To clean",
    "availableDecisions": [
        "accept", "acceptForSession", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["rm"]}},
        {"applyNetworkPolicyAmendment": {"network_policy_amendment": {"host": "a.example", "action": "deny"}}},
        "newer", {"newer": {}}, "cancel",
    ],
}  # fmt: skip


def test_a_command_offers_what_codex_offers():
    request = working().asked("item/commandExecution/requestApproval", **COMMAND)
    assert (request.title, request.text, request.cwd) == ("Run: rm x", "To clean", "/work/sub")
    assert (request.tool, request.tool_call_id, request.protocol_id) == ("shell", "c1", 0)
    assert [(one["id"], one["kind"]) for one in request.options] == [
        ("allow", "allow"), ("allow_session", "allow"), ("allow_rule", "allow"), ("host_3", "deny"), ("stop", "deny"),
        ("deny", "deny"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("option", "decision"),
    [
        ("allow", "accept"), ("allow_session", "acceptForSession"), ("allow_rule", COMMAND["availableDecisions"][2]),
        ("host_3", COMMAND["availableDecisions"][3]), ("stop", "cancel"), ("deny", "decline"), (None, "decline"),
        ("yes", "decline"),
    ],
)  # fmt: skip
def test_each_option_is_its_decision_and_anything_else_declines(option, decision):
    talk = working()
    request = talk.asked("item/commandExecution/requestApproval", **COMMAND)
    assert talk.chosen(request, option) == {"decision": decision}
    assert talk.driver.state == "working"


def test_a_change_of_files_has_the_diff_of_its_item():
    talk = working()
    change = {"path": "/work/a.py", "kind": {"type": "update", "move_path": None}, "diff": "@@ -1 +1 @@\n-a\n+b\n"}
    talk.told("item/started", item={"type": "fileChange", "id": "c2", "changes": [change], "status": "inProgress"})
    request = talk.asked("item/fileChange/requestApproval", itemId="c2")
    assert request.title == "Change /work/a.py"
    assert request.details == "--- /work/a.py\n+++ /work/a.py\n@@ -1 +1 @@\n-a\n+b"
    assert talk.chosen(request, "allow_session") == {"decision": "acceptForSession"}


def test_words_of_a_denial_join_the_turn_before_it_goes_on():
    talk = working()
    request = talk.asked("item/commandExecution/requestApproval", **COMMAND)
    assert talk.chosen(request, "deny", text="Use trash.") == {"decision": "decline"}
    words = talk.messages[-2]
    assert (words["method"], words["params"]["input"][0]["text"]) == ("turn/steer", "Use trash.")


def test_more_rights_are_granted_as_they_were_asked_for_or_not_at_all():
    talk = working()
    asked = {"network": {"enabled": True}, "fileSystem": None}
    request = talk.asked("item/permissions/requestApproval", permissions=asked, cwd="/work")
    assert request.args == {"network": {"enabled": True}}
    assert talk.chosen(request, "allow_session") == {"permissions": asked, "scope": "session"}
    request = talk.asked("item/permissions/requestApproval", 1, permissions=asked, cwd="/work")
    talk.take(talk.driver.refuse("answer 2", request, "expired"))
    assert talk.messages[-1]["result"] == {"permissions": {}, "scope": "turn"}


def test_a_question_is_answered_by_its_id():
    talk = working()
    options = [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
    request = talk.asked(
        "item/tool/requestUserInput", questions=[{"id": "q", "question": "Which?", "options": options}]
    )
    assert (request.kind, request.title) == ("question", "Which?")
    assert talk.chosen(request, "2") == {"answers": {"q": {"answers": ["Blue"]}}}


def test_a_question_for_a_secret_is_refused():
    talk = working()
    warning = talk.asked("item/tool/requestUserInput", questions=[{"id": "q", "question": "Key?", "isSecret": True}])
    assert warning.type == "warning"
    assert talk.messages[-1]["result"] == {"answers": {}}


def test_a_tool_of_another_server_is_an_approval():
    talk = working()
    meta = {"codex_approval_kind": "mcp_tool_call", "tool_params": {"id": 1}}
    request = talk.asked("mcpServer/elicitation/request", mode="form", message="Allow git?", _meta=meta)
    assert (request.kind, request.title, request.args) == ("approval", "Allow git?", {"id": 1})
    assert talk.chosen(request, "deny") == {"action": "decline"}


def test_an_unknown_request_is_answered_with_an_error():
    talk = working()
    assert talk.asked("attestation/generate").type == "unknown"
    assert talk.messages[-1]["error"]["code"] == -32601


def test_a_request_that_another_client_answers_is_closed():
    talk = working()
    request = talk.asked("item/commandExecution/requestApproval", **COMMAND)
    talk.told("serverRequest/resolved", requestId=0)
    closed = talk.events[-2]
    assert (closed.request_id, closed.why) == (request.request_id, "answered_elsewhere")
    late = talk.driver.answer("answer ours", request, Answer(option="allow"))
    assert (late.sends, late.events[0].why) == ([], "too_late")


def test_a_message_that_cannot_join_is_sent_when_the_turn_is_over():
    talk = working()
    assert talk.driver.delivery() == "steered"
    talk.take(talk.driver.say("say 2", "And this.", []))
    assert talk.messages[-1]["params"]["expectedTurnId"] == "u1"
    talk.answers(talk.n, error={"message": "not steerable"})
    count = len(talk.messages)
    talk.told("turn/completed", turn={"id": "u1", "status": "completed"})
    assert [one["method"] for one in talk.messages[count:]] == ["turn/start"]
    assert talk.messages[-1]["params"]["input"] == [{"type": "text", "text": "And this."}]
    assert talk.driver.state == "working"


def test_messages_that_no_turn_took_are_each_offered_once_and_one_after_the_other():
    talk = working()
    for key in ("say 2", "say 3"):
        talk.take(talk.driver.say(key, key, []))
    over = {"method": "turn/completed", "params": {"threadId": THREAD, "turn": {"id": "u1", "status": "interrupted"}}}
    (first,) = talk.driver.receive(json.dumps(over).encode(), 0).sends
    notice = {"method": "thread/status/changed", "params": {"threadId": THREAD}}
    assert talk.driver.receive(json.dumps(notice).encode(), 0).sends == [], "it waits to be sent already"
    message = first.make(Moment(50, ""))
    talk.take(talk.driver.sent(50, first.key, message))
    talk.answers(50, result={"turn": {"id": "u2"}})
    count = len(talk.messages)
    talk.told("turn/completed", turn={"id": "u2", "status": "completed"})
    asked = [message, *talk.messages[count:]]
    assert [one["params"]["input"][0]["text"] for one in asked] == ["say 2", "say 3"]


def test_a_message_that_was_taken_is_not_sent_again():
    talk = working()
    talk.take(talk.driver.say("say 2", "And this.", []))
    talk.answers(talk.n, result={"turnId": "u1"})
    talk.told("item/started", item={"type": "userMessage", "id": "m", "clientId": "say 2"})
    count = len(talk.messages)
    talk.told("turn/completed", turn={"id": "u1", "status": "completed"})
    assert (talk.messages[count:], talk.driver.state) == ([], "idle")


def test_a_message_of_another_client_is_shown():
    talk = working()
    content = [{"type": "text", "text": "from the TUI"}]
    talk.told("item/completed", item={"type": "userMessage", "id": "m", "clientId": None, "content": content})
    assert (talk.events[-1].type, talk.events[-1].text) == ("user_message", "from the TUI")


def test_a_turn_that_fails_to_start_leaves_the_agent_idle():
    talk = begun()
    talk.take(talk.driver.say("say 1", "hello", []))
    talk.answers(talk.n, error={"message": "no quota"})
    assert [event.type for event in talk.events[-2:]] == ["error", "agent_state"]
    assert talk.driver.state == "idle"


def test_sub_agents_threads_are_theirs():
    talk = working()
    item = {"type": "agentMessage", "id": "m", "text": "I help."}
    talk.told("item/completed", threadId="t2", item=item)
    assert (talk.events[-1].text, talk.events[-1].agent.id, talk.events[-1].agent.depth) == ("I help.", "t2", 1)
    talk.told("turn/completed", threadId="t2", turn={"id": "u9", "status": "completed"})
    assert talk.driver.state == "working"


def test_a_failed_turn_says_its_error_once():
    talk = working()
    error = {"message": "the model is resting"}
    talk.told("error", error=error, willRetry=False)
    talk.told("turn/completed", turn={"id": "u1", "status": "failed", "error": error})
    said = [
        (event.type, getattr(event, "message", "")) for event in talk.events if event.type in ("error", "turn_complete")
    ]
    assert said == [("error", "the model is resting"), ("turn_complete", "")]


def test_images_are_sent_as_files():
    talk = begun()
    talk.take(talk.driver.say("say 1", "See", [{"mime_type": "image/png", "path": "/a.png"}]))
    assert talk.messages[-1]["params"]["input"][1] == {"type": "localImage", "path": "/a.png"}
