"""Codex: `codex app-server`, JSON lines in both directions.

A run is a thread. The display text is the turn's `additionalContext`. A message of a person's joins the turn that runs;
one that the turn did not take, because it cannot be steered or was over, is sent again as a turn of its own.
"""

from collections.abc import Callable

from vantage import events as ev
from vantage.agents.drivers.codex_requests import Asked, asked_in, is_secret
from vantage.agents.drivers.driver import Delivery, Launch, Moment, Options, Output, Send, State
from vantage.agents.drivers.json_rpc import Asked as Call
from vantage.agents.drivers.json_rpc import JsonRpc, is_answer, is_request
from vantage.agents.drivers.run_state import RunState, request_key, too_late
from vantage.agents.drivers.stream import Stream
from vantage.agents.streams.codex_server import CodexServer
from vantage.agents.values import Object, message_of, obj, text
from vantage.events import Agent, Answer, Event, Json, Request

AGENT = Agent(id="codex", name="Codex")
_DISPLAY = "vantage-display"
_MODES: dict[str, tuple[str, str]] = {
    "read-only": ("on-request", "read-only"),
    "auto": ("on-request", "workspace-write"),
    "full-access": ("never", "danger-full-access"),
}
"""Codex's own names of what it may do → when it asks, and what its sandbox allows."""
_INITIALIZE, _START, _RESUME = "initialize", "thread/start", "thread/resume"
_TURN, _STEER, _INTERRUPT = "turn/start", "turn/steer", "turn/interrupt"
_BEGINNINGS = (_INITIALIZE, _START, _RESUME)


def launch(options: Options) -> Launch:  # noqa: ARG001 -- everything is said when the thread starts
    return Launch(argv=["codex", "app-server"])


class Codex:
    """One method for each kind of message, listed in `_notifications` and `_answers`, hence their number."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._run = RunState(AGENT)
        self._run.session = options.resume
        self._adapter = CodexServer()
        self._stream = Stream(AGENT.name, self._adapter)
        self._rpc = JsonRpc({})
        self._turn = ""
        """The turn that runs."""
        self._interrupts = False
        """An interrupt was sent in this turn."""
        self._sent: set[str] = set()
        """Keys of the messages that were sent: Codex names them when it takes them."""
        self._joining: dict[str, Call] = {}
        """Messages that are to join the turn, by their keys, until Codex takes them."""
        self._returned: list[Call] = []
        """Messages that no turn has taken, until they are sent again, one after the other."""
        self._offered = ""
        """The key of the one that waits to be sent."""
        self._items: dict[str, Object] = {}
        """Items that have begun: requests to change files are about one of them."""
        self._notifications: dict[str, Callable[[Object], list[Event]]] = {
            "turn/started": self._turn_started,
            "turn/completed": self._turn_completed,
            "item/started": self._item_started,
            "item/completed": self._item_completed,
            "serverRequest/resolved": self._resolved,
            "thread/settings/updated": self._settings,
        }
        self._answers: dict[str, Callable[[Object], list[Send]]] = {
            _INITIALIZE: self._initialized,
            _START: self._thread_started,
            _RESUME: self._thread_started,
            _TURN: self._turn_taken,
        }

    @property
    def state(self) -> State:
        return self._run.state

    @property
    def session(self) -> str | None:
        return self._run.session

    def start(self) -> Output:
        client = {"name": "vantage", "title": "Vantage", "version": "1"}
        params = {"clientInfo": client, "capabilities": {"experimentalApi": True}}
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
        if "error" in message and "method" not in message:
            return Output(self._stream.clean([ev.Error(message=message_of(message["error"]))]))
        if "method" not in message:
            return Output() if "result" in message else Output(self._stream.not_known("message", message))
        handle = self._notifications.get(text(message, "method"), self._stream.events)
        events = handle(message)
        return self._run.output(events, *self._again())

    def sent(self, n: int, key: str, message: Json) -> Output:  # noqa: ARG002
        call = self._rpc.sent(key, message)
        if call is not None and call.method in (_TURN, _STEER):
            self._sent.add(key)
            self._offered = "" if key == self._offered else self._offered
            self._run.phase = "working"
            if call.method == _STEER:
                self._joining[key] = call
        if call is not None and call.method == _INTERRUPT:
            self._interrupts = True
        if is_answer(message):
            self._run.requests.pop(request_key(message.get("id")), None)
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
            case "working" | "waiting" if self._turn:
                return "steered"
        return "queued"

    def say(self, key: str, text: str, attachments: list[Json]) -> Output:
        given = [{"type": "text", "text": text}, *map(_attached, attachments)]
        turn = self._turn if self.delivery() == "steered" else ""
        return Output([], [self._message(key, given, turn)])

    def _message(self, key: str, given: list[Object], turn: str) -> Send:
        """A message that joins this turn, or begins one."""
        thread = self._run.session

        def params(moment: Moment) -> Object:
            said: Object = {"threadId": thread, "input": given, "clientUserMessageId": key}
            said |= {"expectedTurnId": turn} if turn else {}
            if moment.display:
                said["additionalContext"] = {_DISPLAY: {"value": moment.display, "kind": "application"}}
            return said

        return self._rpc.call(key, _STEER if turn else _TURN, params)

    def interrupt(self, key: str) -> Output:
        if self.state not in ("working", "waiting"):
            return Output()
        # a turn that has no name yet is the one that is starting
        params = {"threadId": self._run.session, "turnId": self._turn}
        return Output([], [self._rpc.call(key, _INTERRUPT, params)])

    def answer(self, key: str, request: Request, answer: Answer) -> Output:
        output = self._reply(key, request, lambda asked: asked.answered(answer))
        said = (answer.text or "").strip()
        if output.sends and said and request.kind == "approval" and self._turn:
            # a decision has no place for words: they join the turn, before the decision lets it go on
            words = self._message(f"{key} text", [{"type": "text", "text": said}], self._turn)
            return Output([], [words, *output.sends])
        return output

    def refuse(self, key: str, request: Request, why: str) -> Output:  # noqa: ARG002 -- a decision has no words
        return self._reply(key, request, lambda asked: asked.refused())

    def _reply(self, key: str, request: Request, reply: Callable[[Asked], Object]) -> Output:
        message = self._run.requests.get(request_key(request.protocol_id))
        asked = self._asked_in(message) if message else None
        if message is None or asked is None:
            return too_late(request)
        return Output([], [self._rpc.result(key, message, reply(asked))])

    # what Codex asks

    def _asked_in(self, message: Object) -> Asked | None:
        return asked_in(message, self._items.get(text(message.get("params"), "itemId"), {}))

    def _request(self, message: Object) -> Output:
        asked = self._asked_in(message)
        if asked is None:
            said = self._stream.not_known(text(message, "method"), message)
            return self._run.output(said, self._rpc.not_found(message))
        if is_secret(message):
            warning = ev.Warning(message="a question that asks for a secret was refused")
            refusal = self._rpc.result(f"refuse {request_key(message['id'])}", message, asked.refused())
            return self._run.output([warning], refusal)
        said = self._run.ask(message["id"], message, asked.request(), self._options.cwd)
        return self._run.output(self._stream.clean(said))

    def _resolved(self, message: Object) -> list[Event]:
        """A request is over: it was answered by us, by another client of the thread, or the turn was interrupted."""
        why = "withdrawn" if self._interrupts else "answered_elsewhere"
        return self._run.close(obj(message, "params").get("requestId"), why)

    # what Codex answers

    def _answered(self, call: Call, message: Object) -> Output:
        if "error" in message:
            return self._failed(call, message)
        handle = self._answers.get(call.method)
        sends = handle(obj(message, "result")) if handle else []
        return self._run.output([], *sends)

    def _failed(self, call: Call, message: Object) -> Output:
        said = message_of(message.get("error")) or f"{call.method} failed"
        if call.method == _STEER:
            self._give_back([call.key])
            return self._run.output([], *self._again())
        if call.method in _BEGINNINGS:
            self._run.error = said
        elif call.method == _TURN and not self._turn:
            self._run.phase = "idle"
            self._returned.clear()
        return self._run.output(self._stream.clean([ev.Error(message=said)]))

    def _give_back(self, keys: list[str]) -> None:
        self._returned += [self._joining.pop(key) for key in keys if key in self._joining]

    def _again(self) -> list[Send]:
        """The first of the messages that no turn has taken, as a turn of its own when none runs."""
        if not self._returned or self._offered or self._turn or self._rpc.waits_for(_TURN):
            return []
        first = self._returned.pop(0)
        self._offered = f"{first.key} again"
        return [self._message(self._offered, _inputs(first), "")]

    def _initialized(self, result: Object) -> list[Send]:  # noqa: ARG002
        params: Object = {"cwd": self._options.cwd}
        params |= {"model": self._options.model} if self._options.model else {}
        if self._options.mode:
            policy, sandbox = _MODES.get(self._options.mode, (self._options.mode, ""))
            params |= {"approvalPolicy": policy, **({"sandbox": sandbox} if sandbox else {})}
        if self._options.mcp:
            server = {**self._options.mcp, "required": True, "default_tools_approval_mode": "approve"}
            params["config"] = {"mcp_servers.vantage": server}
        thread = _RESUME if self._options.resume else _START
        params |= {"threadId": self._options.resume, "excludeTurns": True} if self._options.resume else {}
        return [self._rpc.notify("initialized", "initialized"), self._rpc.call("thread", thread, params)]

    def _thread_started(self, result: Object) -> list[Send]:
        self._run.session = text(result.get("thread"), "id") or self._run.session
        self._run.model = text(result, "model") or self._run.model
        self._adapter.thread = self._run.session or ""
        self._run.phase = "idle"
        return []

    def _turn_taken(self, result: Object) -> list[Send]:
        self._turn = text(result.get("turn"), "id") or self._turn
        return []

    # what Codex tells

    def _is_ours(self, message: Object) -> bool:
        """Whether a notification is of the run's own thread, and not of a sub-agent's."""
        return text(message.get("params"), "threadId") in ("", self._run.session)

    def _turn_started(self, message: Object) -> list[Event]:
        if self._is_ours(message):
            self._turn = text(obj(message, "params", "turn"), "id")
            self._run.phase = "working"
        return self._stream.events(message)

    def _turn_completed(self, message: Object) -> list[Event]:
        if not self._is_ours(message):
            return []
        closed = [event for key in list(self._run.requests) for event in self._run.close(key, "withdrawn")]
        self._turn, self._interrupts = "", False
        self._items.clear()
        self._give_back(list(self._joining))
        self._run.phase = "working" if self._returned else "idle"
        return [*closed, *self._stream.events(message)]

    def _item_started(self, message: Object) -> list[Event]:
        item = obj(message, "params", "item")
        self._items[text(item, "id")] = item
        self._joining.pop(text(item, "clientId"), None)
        return self._stream.events(message)

    def _item_completed(self, message: Object) -> list[Event]:
        item = obj(message, "params", "item")
        self._items.pop(text(item, "id"), None)
        if text(item, "type") == "userMessage" and text(item, "clientId") not in self._sent and self._is_ours(message):
            parts = [text(one, "text") for one in item.get("content") or [] if isinstance(one, dict)]
            said = "\n".join(filter(None, parts))
            return self._stream.clean([ev.UserMessage(text=said)] if said else [])
        return self._stream.events(message)

    def _settings(self, message: Object) -> list[Event]:
        if self._is_ours(message):
            self._run.model = text(obj(message, "params", "threadSettings"), "model") or self._run.model
        return []


def _inputs(call: Call) -> list[Object]:
    given = call.params.get("input")
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _attached(attachment: Json) -> Object:
    if text(attachment, "mime_type").startswith("image/") and text(attachment, "path"):
        return {"type": "localImage", "path": text(attachment, "path")}
    return {"type": "text", "text": f"Attached file: {text(attachment, 'path', 'name')}"}
