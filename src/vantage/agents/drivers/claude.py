"""Claude Code: stream-json in both directions, with control requests.

Each prompt asks for the display text by a hook callback, whose answer Claude adds to that turn. A message that joins a
running turn has no such callback, so it carries the text itself. `--replay-user-messages` echoes what was taken: an
echo of a message of ours is not shown, since it is in the log already.
"""

import uuid
from collections.abc import Callable, Iterator

from vantage import events as ev
from vantage.agents.drivers.claude_requests import Asked, asked_in
from vantage.agents.drivers.driver import Delivery, Launch, Moment, Options, Output, Send, State
from vantage.agents.drivers.questions import asks_for_password, schema_of
from vantage.agents.drivers.run_state import RunState, request_key, too_late
from vantage.agents.drivers.stream import Stream
from vantage.agents.streams import claude as streams
from vantage.agents.values import Object, message_of, obj, text
from vantage.events import Agent, Answer, Event, Json, Request, compact_json

AGENT = Agent(id="claude", name="Claude Code")
_DISPLAY = "display"
_NOISE = "[ede_diagnostic]"
"""How an error begins that an interrupt leaves behind."""
_MESSAGES = uuid.UUID("3f0c6c2e-9a55-4c1b-8f0e-5a1d3e7b9c42")
"""The namespace of the ids that messages get: Claude runs a message with a known id only once."""
_FIRST_KEY = "initialize"
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def launch(options: Options) -> Launch:
    argv = [
        "claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
        "--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio",
    ]  # fmt: skip
    argv += ["--model", options.model] if options.model else []
    argv += ["--permission-mode", options.mode] if options.mode else []
    argv += ["--resume", options.resume] if options.resume else []
    if options.mcp:
        servers = {"mcpServers": {"vantage": {"type": "stdio", **options.mcp}}}
        argv += ["--mcp-config", compact_json(servers), "--allowedTools", "mcp__vantage"]
    return Launch(argv=argv, env={"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"})


class Claude:
    """One method for each kind of message, listed in `_messages` and `_requests`, hence their number."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._run = RunState(AGENT)
        self._run.session = options.resume
        self._stream = Stream(AGENT.name, streams.Claude())
        self._sent: set[str] = set()
        """Ids of the messages that were sent; Claude echoes those that it takes."""
        self._first = ""
        """The id of the request that begins the run."""
        self._tells_state = False
        """It says itself when it runs and when it is idle: newer versions do."""
        self._canceled = False
        """An interrupt of this turn was said."""
        self._interrupts = False
        """An interrupt was sent in this turn."""
        self._messages: dict[str, Callable[[Object], Output]] = {
            "control_request": self._control_request,
            "control_response": self._control_response,
            "control_cancel_request": self._control_cancel,
            "system": self._system,
            "user": self._user,
            "result": self._result,
        }
        self._asked: dict[str, Callable[[Object], Output]] = {
            "hook_callback": self._hook,
            "can_use_tool": self._ask,
            "elicitation": self._ask,
            "request_user_dialog": self._dialog,
        }

    @property
    def state(self) -> State:
        return self._run.state

    @property
    def session(self) -> str | None:
        return self._run.session

    def start(self) -> Output:
        request = {"subtype": "initialize", "hooks": {"UserPromptSubmit": [{"hookCallbackIds": [_DISPLAY]}]}}
        return self._run.output([], Send(_FIRST_KEY, lambda moment: _request(moment, request)))

    def receive(self, line: bytes, offset: int) -> Output:  # noqa: ARG002
        if line.startswith(b"Error: " + _NOISE.encode()):
            return Output()
        message = self._stream.read(line)
        if isinstance(message, list):
            return Output(message)
        handle = self._messages.get(text(message, "type"))
        return self._run.output(self._stream.events(message)) if handle is None else handle(message)

    def sent(self, n: int, key: str, message: Json) -> Output:  # noqa: ARG002
        if key == _FIRST_KEY:
            self._first = text(message, "request_id")
        match text(message, "type"):
            case "user":
                self._sent.add(text(message, "uuid"))
                self._run.phase = "working"
            case "control_request":
                self._interrupts = self._interrupts or text(message.get("request"), "subtype") == "interrupt"
            case "control_response":
                self._run.requests.pop(text(message.get("response"), "request_id"), None)
        return self._run.output()

    def exited(self, status: int | None, stderr: str) -> Output:
        kept = "\n".join(line for line in stderr.splitlines() if _NOISE not in line)
        return self._run.output([*self._stream.finish(), *self._run.exited(status, kept)])

    # what a person does

    def delivery(self) -> Delivery:
        return _DELIVERY[self.state]

    def say(self, key: str, text: str, attachments: list[Json]) -> Output:
        joins = self.delivery() == "steered"
        message_id = str(uuid.uuid5(_MESSAGES, f"{self._options.run}/{key}"))

        def make(moment: Moment) -> Json:
            said = [{"type": "text", "text": text}, *map(_attached, attachments)]
            if joins and moment.display:
                said = [{"type": "text", "text": moment.display}, *said]
            content: Json = text if said == [{"type": "text", "text": text}] else said
            return {"type": "user", "uuid": message_id, "message": {"role": "user", "content": content}}

        return Output([], [Send(key, make)])

    def interrupt(self, key: str) -> Output:
        if self.state not in ("working", "waiting"):
            return Output()
        return Output([], [Send(key, lambda moment: _request(moment, {"subtype": "interrupt"}))])

    def answer(self, key: str, request: Request, answer: Answer) -> Output:
        return self._reply(key, request, lambda asked: asked.answered(answer))

    def refuse(self, key: str, request: Request, why: str) -> Output:
        return self._reply(key, request, lambda asked: asked.refused(why))

    def _reply(self, key: str, request: Request, reply: Callable[[Asked], Object]) -> Output:
        message = self._run.requests.get(request_key(request.protocol_id))
        asked = asked_in(obj(message, "request")) if message else None
        if message is None or asked is None:
            return too_late(request)
        answer = _answer(message, reply(asked))
        return Output([], [Send(key, lambda _: answer)])

    # what Claude asks

    def _control_request(self, message: Object) -> Output:
        kind = text(message.get("request"), "subtype")
        return self._asked.get(kind, self._unknown)(message)

    def _unknown(self, message: Object) -> Output:
        kind = text(message.get("request"), "subtype")
        error = {"subtype": "error", "error": f"this client does not know the control request {kind!r}"}
        said = self._stream.not_known(f"control_request/{kind}", message)
        return self._run.output(said, _given("error", message, error))

    def _hook(self, message: Object) -> Output:
        asked = obj(message, "request")
        self._run.session = text(asked.get("input"), "session_id") or self._run.session
        self._run.phase = "working"
        is_display = text(asked, "callback_id") == _DISPLAY

        def make(moment: Moment) -> Json:
            added = {"hookEventName": "UserPromptSubmit", "additionalContext": moment.display}
            return _answer(message, {"hookSpecificOutput": added} if is_display and moment.display else {})

        return self._run.output([], Send(f"hook {text(message, 'request_id')}", make))

    def _ask(self, message: Object) -> Output:
        request = obj(message, "request")
        asked = asked_in(request)
        if asked is None or not text(message, "request_id"):
            return self._unknown(message)
        if asks_for_password(schema_of(request)):
            said: list[Event] = [ev.Warning(message="a form that asks for a password was refused")]
            return self._run.output(said, _given("refuse", message, _success(asked.refused(""))))
        call = self._stream.adapter.calls.open.get(text(request, "tool_use_id"))
        shown = asked.request(call.agent if call else None)
        said = self._run.ask(message["request_id"], message, shown, self._options.cwd)
        return self._run.output(self._stream.clean(said))

    def _dialog(self, message: Object) -> Output:
        """A dialog that only Claude's own programs know: the protocol says that others answer it as cancelled."""
        kind = text(message.get("request"), "dialog_kind")
        said = self._stream.not_known(f"dialog/{kind}", message)
        return self._run.output(said, _given("cancel", message, _success({"behavior": "cancelled"})))

    def _control_cancel(self, message: Object) -> Output:
        return self._run.output(self._run.close(message.get("request_id"), "withdrawn"))

    def _control_response(self, message: Object) -> Output:
        """The answer to a request of ours, or the receipt of an answer."""
        response = obj(message, "response")
        if text(response, "subtype") == "error":
            said = message_of(response.get("error")) or "a control request failed"
            if self._run.phase == "starting":
                self._run.error = said
            return self._run.output(self._stream.clean([ev.Error(message=said)]))
        if self._run.phase == "starting" and text(response, "request_id") == self._first:
            self._run.phase = "idle"
        return self._run.output(self._run.close(response.get("request_id"), "answered_elsewhere"))

    # what Claude says

    def _system(self, message: Object) -> Output:
        match text(message, "subtype"):
            case "init":
                self._run.session = text(message, "session_id") or self._run.session
                self._run.model = text(message, "model") or self._run.model
            case "session_state_changed":
                self._tells_state = True
                self._run.phase = "idle" if text(message, "state") == "idle" else "working"
        return self._run.output(self._stream.events(message))

    def _user(self, message: Object) -> Output:
        message_id = text(message, "uuid")
        if message.get("isReplay") is True and message_id in self._sent:
            return Output()
        said = self._stream.events(message)
        self._canceled = self._canceled or any(isinstance(event, ev.Canceled) for event in said)
        return self._run.output(said)

    def _result(self, message: Object) -> Output:
        stopped = text(message, "terminal_reason").startswith("aborted") or (
            self._interrupts and message.get("is_error") is True
        )
        said = self._stream.events(message)
        if stopped:
            said = list(self._interrupted(said))
        self._interrupts = self._canceled = False
        if not self._tells_state:
            self._run.phase = "idle"
        return self._run.output(said)

    def _interrupted(self, said: list[Event]) -> Iterator[Event]:
        """The end of a turn that was interrupted, without the error that the interrupt left behind."""
        if not self._canceled:
            yield ev.Canceled(message="Request interrupted by user")
        for event in said:
            match event:
                case ev.Error(message=message) if message.startswith(_NOISE):
                    continue
                case ev.TurnComplete(usage=usage):
                    yield ev.TurnComplete(finish="interrupted", usage=usage)
                case _:
                    yield event


_DELIVERY: dict[State, Delivery] = {
    "starting": "queued",
    "idle": "now",
    "working": "steered",
    "waiting": "steered",
    "exited": "refused",
}


def _attached(attachment: Json) -> Object:
    """An attachment as a block: an image whose data is given, else where the file is."""
    kind, data = text(attachment, "mime_type"), text(attachment, "data")
    if data and kind in _IMAGES:
        return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
    return {"type": "text", "text": f"Attached file: {text(attachment, 'path', 'name')}"}


def _request(moment: Moment, request: Object) -> Object:
    return {"type": "control_request", "request_id": str(moment.n), "request": request}


def _success(response: Object) -> Object:
    return {"subtype": "success", "response": response}


def _control(message: Object, response: Object) -> Object:
    return {"type": "control_response", "response": {**response, "request_id": text(message, "request_id")}}


def _answer(message: Object, response: Object) -> Object:
    return _control(message, _success(response))


def _given(why: str, message: Object, response: Object) -> Send:
    """An answer that needs no person."""
    made = _control(message, response)
    return Send(f"{why} {text(message, 'request_id')}", lambda _: made)
