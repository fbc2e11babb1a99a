"""JSON-RPC as drivers speak it: our requests by the number of their message, the answers to the agent's requests."""

from collections.abc import Callable
from typing import Any, NamedTuple

from vantage.agents.drivers.driver import Moment, Send
from vantage.agents.drivers.run_state import request_key
from vantage.agents.values import Object, obj, text
from vantage.events import Json

METHOD_NOT_FOUND = -32601


class Asked(NamedTuple):
    """A request of ours that is not answered yet."""

    key: str
    method: str
    params: Object


class JsonRpc:
    """`header` is what every message has beside its content."""

    def __init__(self, header: Object) -> None:
        self._header = header
        self._asked: dict[str, Asked] = {}

    def call(self, key: str, method: str, params: Object | Callable[[Moment], Object]) -> Send:
        """A request: its id is the number of its message."""

        def make(moment: Moment) -> Json:
            given = params(moment) if callable(params) else params
            return {**self._header, "id": moment.n, "method": method, "params": given}

        return Send(key, make)

    def notify(self, key: str, method: str, params: Object | None = None) -> Send:
        message = {**self._header, "method": method, **({} if params is None else {"params": params})}
        return Send(key, lambda _: message)

    def result(self, key: str, request: Object, result: Json) -> Send:
        message = {**self._header, "id": request.get("id"), "result": result}
        return Send(key, lambda _: message)

    def error(self, request: Object, code: int, said: str) -> Send:
        message = {**self._header, "id": request.get("id"), "error": {"code": code, "message": said}}
        return Send(f"error {request_key(request.get('id'))}", lambda _: message)

    def not_found(self, request: Object) -> Send:
        return self.error(request, METHOD_NOT_FOUND, f"this client has no method {text(request, 'method')!r}")

    def sent(self, key: str, message: Any) -> Asked | None:
        """Notes a request of ours, and gives it."""
        if not isinstance(message, dict) or "id" not in message or not text(message, "method"):
            return None
        asked = Asked(key, text(message, "method"), obj(message, "params"))
        self._asked[request_key(message["id"])] = asked
        return asked

    def answered(self, message: Object) -> Asked | None:
        """The request of ours that a message answers."""
        if "method" in message or not ("result" in message or "error" in message):
            return None
        return self._asked.pop(request_key(message.get("id")), None)

    def waits_for(self, method: str) -> bool:
        """Whether such a request of ours is not answered yet."""
        return any(one.method == method for one in self._asked.values())


def is_request(message: Object) -> bool:
    """Whether the agent asks something, and waits for the answer."""
    return isinstance(message.get("method"), str) and isinstance(message.get("id"), str | int | float)


def is_answer(message: Json) -> bool:
    """Whether a message that was sent answers the agent."""
    return isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)
