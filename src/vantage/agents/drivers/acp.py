"""The Agent Client Protocol, version 1: Gemini, opencode, Copilot, Qwen and every other agent that speaks it.

A run is a session. The display text is a resource block of the prompt. Messages wait while a turn runs, since agents
differ in what a second prompt does to the first. The client offers no files and no terminals: agents have their own.
"""

from collections.abc import Callable

from msgspec.structs import replace

from vantage import events as ev
from vantage.agents.drivers.acp_requests import ELICITATION, PERMISSION, Asked, Permission, asked_in, words_in
from vantage.agents.drivers.driver import Delivery, Moment, Options, Output, Send, State
from vantage.agents.drivers.json_rpc import Asked as Call
from vantage.agents.drivers.json_rpc import JsonRpc, is_answer, is_request
from vantage.agents.drivers.questions import NOT_ELICITED, asks_for_password, schema_of
from vantage.agents.drivers.run_state import RunState, request_key, too_late
from vantage.agents.drivers.stream import Stream
from vantage.agents.streams import acp as streams
from vantage.agents.values import Object, obj, objects, text
from vantage.events import Agent, Answer, Event, Json, Request

_VERSION = 1
_INITIALIZE, _NEW, _LOAD, _RESUME = "initialize", "session/new", "session/load", "session/resume"
_PROMPT, _CANCEL = "session/prompt", "session/cancel"
_REQUEST_CANCELLED = -32800
_DISPLAY = "vantage://display"
_OURS = "mcp__vantage__"
"""How our own tools are called once a call is told; they need no leave."""


class Acp:
    """One method for each kind of message, listed in `_answers` and `_notifications`, hence their number."""

    def __init__(self, options: Options, *, agent: Agent, chooses_model: bool = True) -> None:
        self._options = options
        self._chooses_model = chooses_model
        """The session is told the model; other agents are told it when they are launched."""
        self._run = RunState(agent)
        self._run.session = options.resume
        self._stream = Stream(agent.name, streams.Acp())
        self._rpc = JsonRpc({"jsonrpc": "2.0"})
        self._words: list[tuple[str, str]] = []
        """What people said with their answers, with a key, until the turn is over."""
        self._answers: dict[str, Callable[[Object], Output]] = {
            _INITIALIZE: self._initialized,
            _NEW: self._session_open,
            _LOAD: self._session_open,
            _RESUME: self._session_open,
        }
        self._notifications: dict[str, Callable[[Object], Output]] = {
            "session/update": self._update,
            "$/cancel_request": self._withdrawn,
            "elicitation/complete": self._elicited,
        }

    @property
    def state(self) -> State:
        return self._run.state

    @property
    def session(self) -> str | None:
        return self._run.session

    def start(self) -> Output:
        params = {
            "protocolVersion": _VERSION,
            "clientCapabilities": {"elicitation": {"form": {}, "url": {}}},
            "clientInfo": {"name": "vantage", "title": "Vantage", "version": "1"},
        }
        return self._run.output([], self._rpc.call("initialize", _INITIALIZE, params))

    def receive(self, line: bytes, offset: int) -> Output:  # noqa: ARG002
        message = self._stream.read(line)
        if isinstance(message, list):
            return Output(message)
        if is_request(message):
            return self._request(message)
        call = self._rpc.answered(message)
        if call is not None:
            return self._answered(call, message)
        method = text(message, "method")
        if method in self._notifications:
            return self._notifications[method](message)
        if method.startswith(("_", "$/")):  # an extension of the agent's, which may be ignored
            return Output()
        return self._run.output(self._stream.not_known(method or "message", message))

    def sent(self, n: int, key: str, message: Json) -> Output:  # noqa: ARG002
        call = self._rpc.sent(key, message)
        if call is not None and call.method == _PROMPT:
            self._run.phase = "working"
            return self._run.output(self._told(message))
        if is_answer(message):
            answered = self._run.requests.pop(request_key(message.get("id")), None)
            if answered is not None and (said := words_in(message.get("result"))):
                self._words.append((f"{key} text", said))
            # the adapter hears outcomes alone: both sides count their ids from the start
            return self._run.output(self._told(message) if obj(message, "result", "outcome") else [])
        if text(message, "method") == _CANCEL:
            return self._cancelled()
        return self._run.output()

    def exited(self, status: int | None, stderr: str) -> Output:
        return self._run.output([*self._stream.finish(), *self._run.exited(status, stderr)])

    # what a person does

    def delivery(self) -> Delivery:
        match self.state:
            case "exited":
                return "refused"
            case "idle":
                return "now"
        return "queued"

    def say(self, key: str, text: str, attachments: list[Json]) -> Output:
        return Output([], [self._prompt(key, text, attachments)])

    def _prompt(self, key: str, said: str, attachments: list[Json]) -> Send:
        session = self._run.session

        def params(moment: Moment) -> Object:
            is_command = said.startswith("/")
            blocks: list[Object] = [{"type": "text", "text": said}, *map(_attached, attachments)]
            if moment.display and not is_command:
                # a line of its own: some agents put the resource's name into the text where it stands
                blocks[0]["text"] = f"{said}\n"
                resource = {"uri": _DISPLAY, "mimeType": "text/plain", "text": moment.display}
                blocks.append({"type": "resource", "resource": resource})
            return {"sessionId": session, "prompt": blocks}

        return self._rpc.call(key, _PROMPT, params)

    def interrupt(self, key: str) -> Output:
        if self.state not in ("working", "waiting"):
            return Output()
        return Output([], [self._rpc.notify(key, _CANCEL, {"sessionId": self._run.session})])

    def answer(self, key: str, request: Request, answer: Answer) -> Output:
        return self._reply(key, request, lambda asked: asked.answered(answer))

    def refuse(self, key: str, request: Request, why: str) -> Output:  # noqa: ARG002 -- an outcome has no words
        return self._reply(key, request, lambda asked: asked.refused())

    def _reply(self, key: str, request: Request, reply: Callable[[Asked], Object]) -> Output:
        message = self._run.requests.get(request_key(request.protocol_id))
        asked = asked_in(message) if message else None
        if message is None or asked is None:
            return too_late(request)
        return Output([], [self._rpc.result(key, message, reply(asked))])

    # what the agent asks

    def _request(self, message: Object) -> Output:
        asked = asked_in(message)
        if asked is None:
            said = self._stream.not_known(text(message, "method"), message)
            return self._run.output(said, self._rpc.not_found(message))
        params, key = obj(message, "params"), request_key(message["id"])
        if asks_for_password(schema_of(params)):
            warning = ev.Warning(message="a form that asks for a password was refused")
            return self._run.output([warning], self._rpc.result(f"refuse {key}", message, NOT_ELICITED))
        said = self._told(message) if text(message, "method") == PERMISSION else []
        call_id = text(params.get("toolCall"), "toolCallId") or text(params, "toolCallId")
        shown = asked.request(self._stream.adapter.calls.open.get(call_id))
        if allowed := self._allowed(asked, shown):
            return self._run.output(said, self._rpc.result(f"allow {key}", message, allowed))
        opened = self._run.ask(message["id"], message, shown, self._options.cwd)
        return self._run.output([*said, *self._stream.clean(opened)])

    def _allowed(self, asked: Asked, shown: Request) -> Object | None:
        """Leave for a tool of ours: a call of none of the protocol's kinds, whose titles a model may choose."""
        if not isinstance(asked, Permission) or not self._options.mcp or not (shown.tool or "").startswith(_OURS):
            return None
        return asked.allowed() if text(asked.params.get("toolCall"), "kind") in ("", "other") else None

    def _cancelled(self) -> Output:
        """The turn is to end: the protocol wants what is asked in it answered as cancelled."""
        events, sends = [], []
        for key, message in list(self._run.requests.items()):
            asked = asked_in(message)
            events += self._run.close(key, "withdrawn")
            sends += [self._rpc.result(f"cancelled {key}", message, asked.cancelled())] if asked else []
        return self._run.output(events, *sends)

    def _withdrawn(self, message: Object) -> Output:
        key = request_key(obj(message, "params").get("requestId"))
        asked = self._run.requests.get(key)
        events = self._run.close(key, "withdrawn")
        sends = [self._rpc.error(asked, _REQUEST_CANCELLED, "cancelled")] if asked else []
        return self._run.output(events, *sends)

    def _elicited(self, message: Object) -> Output:
        """What an address was for is done, and its request is over."""
        of = text(message.get("params"), "elicitationId")
        events, sends = [], []
        for key, asked in list(self._run.requests.items()):
            if of and text(asked, "method") == ELICITATION and text(asked.get("params"), "elicitationId") == of:
                events += self._run.close(key, "answered_elsewhere")
                sends.append(self._rpc.result(f"done {key}", asked, {"action": "accept"}))
        return self._run.output(events, *sends)

    # what the agent answers

    def _answered(self, call: Call, message: Object) -> Output:
        if call.method == _PROMPT:
            return self._turn_over(message)
        if "error" in message:
            said = streams.words_of_error(message.get("error")) or f"{call.method} failed"
            if call.method in (_LOAD, _RESUME):
                return self._anew(said)
            if call.method in (_INITIALIZE, _NEW):
                self._run.error = said
            return self._run.output(self._stream.clean([ev.Error(message=said)]))
        handle = self._answers.get(call.method)
        return handle(obj(message, "result")) if handle else self._run.output()

    def _initialized(self, result: Object) -> Output:
        if result.get("protocolVersion") != _VERSION:
            spoken = result.get("protocolVersion")
            return self._cannot(f"it speaks version {spoken} of the Agent Client Protocol, expected {_VERSION}")
        if not self._options.resume:
            return self._run.output([], self._rpc.call("session", _NEW, self._place()))
        able = obj(result, "agentCapabilities")
        method = _RESUME if "resume" in obj(able, "sessionCapabilities") else _LOAD if able.get("loadSession") else ""
        if not method:
            return self._anew("the agent cannot do that")
        params = {"sessionId": self._options.resume, **self._place()}
        return self._run.output([], self._rpc.call("session", method, params))

    def _place(self) -> Object:
        """Where a session works, with the servers of its tools."""
        return {"cwd": self._options.cwd, "mcpServers": _servers(self._options.mcp)}

    def _anew(self, why: str) -> Output:
        """A session that cannot be continued is replaced by a new one, so that the agent can be talked to."""
        self._run.session = None
        said = f"the session could not be continued ({why}): a new one begins, without what was said before"
        return self._run.output([ev.Warning(message=said)], self._rpc.call("session anew", _NEW, self._place()))

    def _cannot(self, why: str) -> Output:
        self._run.error = why
        return self._run.output([ev.Error(message=f"{self._run.agent.name} cannot be used: {why}")])

    def _session_open(self, result: Object) -> Output:
        self._stream = Stream(self._run.agent.name, streams.Acp())  # what was replayed is in the log already
        self._run.session = text(result, "sessionId") or self._run.session
        self._run.phase = "idle"
        offered = _offered(result)
        events: list[Event] = []
        sends: list[Send] = []
        for category, chosen in (("mode", self._options.mode), ("model", self._options.model)):
            if not chosen or (category == "model" and not self._chooses_model):
                continue
            if chosen in offered.get(category, {}):
                method, params = offered[category][chosen]
                sends.append(self._rpc.call(f"set {category}", method, {"sessionId": self._run.session, **params}))
            else:
                listed = ", ".join(offered.get(category, {})) or "none"
                events.append(ev.Warning(message=f"there is no {category} {chosen!r}; the session offers: {listed}"))
        self._run.model = self._options.model or _current_model(result) or self._run.model
        return self._run.output(events, *sends)

    def _turn_over(self, message: Object) -> Output:
        closed = [event for key in list(self._run.requests) for event in self._run.close(key, "withdrawn")]
        said = [_interrupted(event) for event in self._told(message)]
        words, self._words = self._words, []
        if words:
            prompt = self._prompt(words[0][0], "\n".join(one for _, one in words), [])
            return self._run.output([*closed, *said], prompt)
        self._run.phase = "idle"
        return self._run.output([*closed, *said])

    # what the agent tells

    def _update(self, message: Object) -> Output:
        said = self._told(message)
        return self._run.output([] if self._rpc.waits_for(_LOAD) else said)

    def _told(self, message: Object) -> list[Event]:
        """What a message of either side says; what people said is in the log already."""
        return [event for event in self._stream.events(message) if not isinstance(event, ev.UserMessage)]


def _interrupted(event: Event) -> Event:
    if isinstance(event, ev.TurnComplete) and event.finish in ("cancelled", "canceled"):
        return replace(event, finish="interrupted")
    return event


def _servers(mcp: dict[str, Json] | None) -> list[Object]:
    if not mcp:
        return []
    env = [{"name": name, "value": value} for name, value in obj(mcp, "env").items()]
    return [{"name": "vantage", "command": mcp.get("command"), "args": mcp.get("args") or [], "env": env}]


_Choice = tuple[str, Object]
"""The method that chooses something, and its parameters."""


def _offered(result: Object) -> dict[str, dict[str, _Choice]]:
    """What a session lets one choose: of modes and models, how each is chosen."""
    offered: dict[str, dict[str, _Choice]] = {"mode": {}, "model": {}}
    for config in objects(result, "configOptions"):
        category = text(config, "category") or text(config, "id")
        for one in objects(config, "options"):
            choice = {"configId": text(config, "id"), "value": text(one, "value")}
            offered.setdefault(category, {})[text(one, "value")] = ("session/set_config_option", choice)
    for one in objects(result.get("modes"), "availableModes"):
        offered["mode"].setdefault(text(one, "id"), ("session/set_mode", {"modeId": text(one, "id")}))
    for one in objects(result.get("models"), "availableModels"):
        offered["model"].setdefault(text(one, "modelId"), ("session/set_model", {"modelId": text(one, "modelId")}))
    return offered


def _current_model(result: Object) -> str | None:
    stated = [text(one, "currentValue") for one in objects(result, "configOptions") if text(one, "category") == "model"]
    return next(filter(None, [*stated, text(result.get("models"), "currentModelId")]), None)


def _attached(attachment: Json) -> Object:
    kind, path = text(attachment, "mime_type"), text(attachment, "path")
    if kind.startswith("image/") and text(attachment, "data"):
        return {"type": "image", "mimeType": kind, "data": text(attachment, "data")}
    link = {"type": "resource_link", "uri": f"file://{path}", "name": text(attachment, "name") or path}
    return {**link, "mimeType": kind} if kind else link
