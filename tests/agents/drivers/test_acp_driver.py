"""The driver of ACP agents, message by message, where no recording has the case."""

import json

import pytest

from vantage.agents.drivers.driver import Driver, Moment, Options
from vantage.agents.drivers.known import KNOWN
from vantage.events import Answer, Request

MCP = {"command": "vantage", "args": ["mcp"], "env": {"A": "b"}}
OPTIONS = Options(run="r1", cwd="/work", mcp=MCP)
SESSION = "s1"


class Talk:
    """A driver, with what it sends numbered and told to it."""

    def __init__(self, options: Options = OPTIONS, agent: str = "acp") -> None:
        self.driver: Driver = KNOWN[agent].driver(options)
        self.n = 0
        self.messages: list[dict] = []
        self.events: list = []
        self.display = "Narrow."
        self.take(self.driver.start())

    def take(self, output) -> None:
        self.events += output.events
        for send in output.sends:
            self.n += 1
            message = send.make(Moment(self.n, self.display))
            self.messages.append(message)
            self.take(self.driver.sent(self.n, send.key, message))

    def line(self, **message: object) -> None:
        self.take(self.driver.receive(json.dumps({"jsonrpc": "2.0", **message}).encode(), 0))

    def told(self, update: str, **fields: object) -> None:
        params = {"sessionId": SESSION, "update": {"sessionUpdate": update, **fields}}
        self.line(method="session/update", params=params)

    def asked(self, method: str, request_id: object = 0, **params: object) -> None:
        self.line(method=method, id=request_id, params={"sessionId": SESSION, **params})

    def say(self, text: str, attachments: tuple = ()) -> list[dict]:
        self.take(self.driver.say(f"say {self.n}", text, list(attachments)))
        return self.messages[-1]["params"]["prompt"]


def begun(options: Options = OPTIONS, agent: str = "acp", **result: object) -> Talk:
    talk = Talk(options, agent)
    talk.line(id=1, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    talk.line(id=2, result={"sessionId": SESSION, **result})
    assert talk.driver.state == "idle"
    return talk


def working() -> Talk:
    talk = begun()
    talk.say("hello")
    assert talk.driver.state == "working"
    return talk


OPTIONS_OF_THE_AGENT = [
    {"optionId": "a", "name": "Always", "kind": "allow_always"},
    {"optionId": "o", "name": "Once", "kind": "allow_once"},
    {"optionId": "r", "name": "No", "kind": "reject_once"},
    {"optionId": "x", "name": "Newer", "kind": "surrender"},
]


def permission(talk: Talk, request_id: object = 0, **call: object) -> Request | None:
    given = {"toolCallId": "c1", "title": "rm x", "kind": "execute", "rawInput": {"command": "rm x"}, **call}
    talk.asked("session/request_permission", request_id, toolCall=given, options=OPTIONS_OF_THE_AGENT)
    return next((event for event in reversed(talk.events) if isinstance(event, Request)), None)


def outcome(talk: Talk) -> object:
    return talk.messages[-1]["result"]["outcome"]


def test_a_session_begins_without_files_and_terminals_and_with_our_tools():
    talk = begun()
    assert talk.messages[0]["params"]["clientCapabilities"] == {"elicitation": {"form": {}, "url": {}}}
    server = {"name": "vantage", "command": "vantage", "args": ["mcp"], "env": [{"name": "A", "value": "b"}]}
    assert talk.messages[1]["params"] == {"cwd": "/work", "mcpServers": [server]}


def test_another_version_of_the_protocol_is_an_error_and_no_session_begins():
    talk = Talk()
    talk.line(id=1, result={"protocolVersion": 2})
    assert "it speaks version 2 of the Agent Client Protocol, expected 1" in talk.events[-2].message
    assert (talk.driver.state, talk.events[-1].error is not None, len(talk.messages)) == ("starting", True, 1)


@pytest.mark.parametrize(
    ("capabilities", "method"),
    [({"loadSession": True}, "session/load"), ({"sessionCapabilities": {"resume": {}}}, "session/resume")],
)
def test_a_session_is_continued_in_the_way_that_the_agent_can(capabilities, method):
    talk = Talk(Options(run="r1", cwd="/work", resume="s0"))
    talk.line(id=1, result={"protocolVersion": 1, "agentCapabilities": capabilities})
    assert (talk.messages[1]["method"], talk.messages[1]["params"]["sessionId"]) == (method, "s0")


@pytest.mark.parametrize("capable", [True, False])
def test_a_session_that_cannot_be_continued_is_replaced_by_a_new_one(capable):
    talk = Talk(Options(run="r1", cwd="/work", resume="s0"))
    talk.line(id=1, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": capable}})
    if capable:
        talk.line(id=2, error={"code": -32603, "message": "no such session"})
    assert talk.messages[-1]["method"] == "session/new"
    talk.line(id=talk.n, result={"sessionId": "s1"})
    (warning,) = [event.message for event in talk.events if event.type == "warning"]
    assert "a new one begins, without what was said before" in warning
    assert ("no such session" in warning) == capable
    assert (talk.driver.state, talk.driver.session) == ("idle", "s1")
    assert talk.say("hello")[0]["text"] == "hello\n"


def test_what_a_loaded_session_replays_is_not_said_again():
    talk = Talk(Options(run="r1", cwd="/work", resume="s0"))
    talk.line(id=1, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    talk.told("user_message_chunk", content={"type": "text", "text": "before"})
    talk.told("agent_message_chunk", content={"type": "text", "text": "long ago"})
    talk.line(id=2, result={})
    assert [event.type for event in talk.events] == ["agent_state", "agent_state"]
    assert (talk.driver.state, talk.driver.session) == ("idle", "s0")
    talk.say("now")
    talk.told("agent_message_chunk", content={"type": "text", "text": "new"})
    assert talk.events[-1].text == "new"


def test_a_session_that_cannot_begin_says_why():
    talk = Talk()
    talk.line(id=1, result={"protocolVersion": 1})
    talk.line(
        id=2, error={"code": -32000, "message": "Authentication required", "data": {"details": "run gemini once"}}
    )
    assert (talk.events[-2].type, talk.events[-2].message) == ("error", "Authentication required: run gemini once")
    assert talk.events[-1].error == "Authentication required: run gemini once"


def test_the_display_is_a_resource_of_the_prompt_and_never_part_of_a_command():
    text, resource = begun().say("hello")
    assert text == {"type": "text", "text": "hello\n"}
    assert resource["resource"] == {"uri": "vantage://display", "mimeType": "text/plain", "text": "Narrow."}
    assert begun().say("/init") == [{"type": "text", "text": "/init"}]
    talk = begun()
    talk.display = ""
    assert talk.say("hello") == [{"type": "text", "text": "hello"}]


def test_images_are_sent_and_other_files_are_linked():
    image = {"mime_type": "image/png", "path": "/a.png", "data": "aGk="}
    file = {"mime_type": "text/csv", "path": "/b.csv", "name": "b.csv"}
    _, first, second, _ = begun().say("See", (image, file))
    assert first == {"type": "image", "mimeType": "image/png", "data": "aGk="}
    assert (second["type"], second["uri"]) == ("resource_link", "file:///b.csv")


def test_a_permission_has_the_agents_options_that_are_known():
    talk = working()
    request = permission(talk)
    assert (request.title, request.tool, request.args) == ("Run: rm x", "shell", {"command": "rm x"})
    assert [(one["id"], one["kind"], one["scope"]) for one in request.options] == [
        ("a", "allow", "always"), ("o", "allow", "once"), ("r", "deny", "once"),
    ]  # fmt: skip
    talk.take(talk.driver.answer("answer 1", request, Answer(option="o")))
    assert outcome(talk) == {"outcome": "selected", "optionId": "o"}
    assert talk.driver.state == "working"


@pytest.mark.parametrize("option", ["x", None, "", "allow"])
def test_anything_but_an_option_is_refused(option):
    talk = working()
    talk.take(talk.driver.answer("answer 1", permission(talk), Answer(option=option)))
    assert outcome(talk) == {"outcome": "selected", "optionId": "r"}


def test_words_of_a_denial_are_the_next_prompt():
    talk = working()
    talk.take(talk.driver.answer("answer 1", permission(talk), Answer(option="r", text="Use trash.")))
    prompt = talk.n - 1
    talk.line(id=prompt, result={"stopReason": "end_turn"})
    assert talk.messages[-1]["params"]["prompt"][0]["text"] == "Use trash.\n"
    assert talk.driver.state == "working"
    talk.line(id=talk.n, result={"stopReason": "end_turn"})
    assert talk.driver.state == "idle"


def test_words_of_several_answers_are_one_prompt():
    talk = working()
    prompt = talk.n
    for number, said in enumerate(("Use trash.", "And ask first.")):
        request = permission(talk, number, toolCallId=f"c{number}")
        talk.take(talk.driver.answer(f"answer {number}", request, Answer(option="r", text=said)))
    count = len(talk.messages)
    talk.line(id=prompt, result={"stopReason": "end_turn"})
    talk.line(id=talk.n, result={"stopReason": "end_turn"})
    assert [one["params"]["prompt"][0]["text"] for one in talk.messages[count:]] == ["Use trash.\nAnd ask first.\n"]
    assert talk.driver.state == "idle"


def test_an_interrupt_cancels_the_turn_and_what_is_asked_in_it():
    talk = working()
    request = permission(talk)
    talk.take(talk.driver.interrupt("interrupt 1"))
    assert talk.messages[-2]["method"] == "session/cancel"
    assert outcome(talk) == {"outcome": "cancelled"}
    late = talk.driver.answer("answer 1", request, Answer(option="o"))
    assert (late.sends, late.events[0].why) == ([], "too_late")


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ({"title": "vantage_pty_exec_block", "kind": "other", "rawInput": {"command": "make"}}, True),
        ({"title": "vantage_pty_exec_block", "kind": "edit", "rawInput": {}}, False),
        ({"title": "vantage_pty_exec_block", "kind": "execute", "rawInput": {"command": "rm"}}, False),
        ({"title": "other_pty_exec_block", "kind": "other", "rawInput": {}}, False),
        ({"title": "vantage_deploy", "kind": "other", "rawInput": {}}, False),
    ],
)
def test_only_our_own_tools_need_no_leave(call, allowed):
    talk = working()
    request = permission(talk, **call)
    assert (request is None) == allowed
    if allowed:
        assert outcome(talk) == {"outcome": "selected", "optionId": "o"}


def test_a_form_is_a_question_and_one_for_a_password_is_refused():
    talk = working()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    talk.asked("elicitation/create", "e1", mode="form", message="Who?", requestedSchema=schema)
    request = talk.events[-2]
    assert (request.kind, request.schema, request.protocol_id) == ("question", schema, "e1")
    talk.take(talk.driver.answer("answer 1", request, Answer(values={"name": "Ann"})))
    assert talk.messages[-1]["result"] == {"action": "accept", "content": {"name": "Ann"}}
    secret = {"type": "object", "properties": {"word": {"type": "string", "format": "password"}}}
    talk.asked("elicitation/create", "e2", mode="form", message="Key?", requestedSchema=secret)
    assert talk.messages[-1]["result"] == {"action": "cancel"}


def test_an_address_that_was_visited_closes_its_question():
    talk = working()
    talk.asked("elicitation/create", "e1", mode="url", message="Log in", url="https://a.example", elicitationId="i")
    assert "<https://a.example>" in talk.events[-2].text
    talk.line(method="elicitation/complete", params={"elicitationId": "i"})
    assert talk.events[-2].why == "answered_elsewhere"
    assert talk.messages[-1]["result"] == {"action": "accept"}


def test_a_request_that_the_agent_takes_back_is_withdrawn():
    talk = working()
    permission(talk, 7)
    talk.line(method="$/cancel_request", params={"requestId": 7})
    assert talk.events[-2].why == "withdrawn"
    assert talk.messages[-1]["error"]["code"] == -32800


@pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "newer/method"])
def test_what_was_not_offered_is_answered_with_an_error(method):
    talk = working()
    talk.asked(method, 3, path="/etc/passwd")
    assert (talk.messages[-1]["error"]["code"], talk.messages[-1]["id"]) == (-32601, 3)
    assert talk.events[-1].type == "unknown"


def test_messages_wait_while_a_turn_runs():
    assert working().driver.delivery() == "queued"
    assert begun().driver.delivery() == "now"


def test_a_mode_and_a_model_are_chosen_in_the_session():
    modes = {"availableModes": [{"id": "plan", "name": "Plan"}], "currentModeId": "default"}
    config = {"id": "m", "category": "model", "currentValue": "small", "options": [{"value": "big"}]}
    chosen = Options(run="r1", cwd="/work", mode="plan", model="big")
    talk = begun(chosen, modes=modes, configOptions=[config])
    assert [(one["method"], one["params"]) for one in talk.messages[2:]] == [
        ("session/set_mode", {"sessionId": SESSION, "modeId": "plan"}),
        ("session/set_config_option", {"sessionId": SESSION, "configId": "m", "value": "big"}),
    ]
    talk = begun(Options(run="r1", cwd="/work", mode="fast"), modes=modes)
    assert [event.message for event in talk.events if event.type == "warning"] == [
        "there is no mode 'fast'; the session offers: plan"
    ]


def test_a_turn_that_fails_is_over():
    talk = working()
    talk.line(id=talk.n, error={"code": -32603, "message": "Internal error", "data": {"details": "no quota"}})
    assert [event.type for event in talk.events[-3:]] == ["error", "turn_complete", "agent_state"]
    assert talk.driver.state == "idle"


def test_ids_of_both_sides_may_be_the_same():
    talk = working()
    request = permission(talk, talk.n)
    talk.take(talk.driver.answer("answer 1", request, Answer(option="r")))
    assert talk.driver.state == "working", "the answer to the agent is not the answer to the prompt"
