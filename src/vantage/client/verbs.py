"""Every verb of a terminal as a typed method, for the blocking and the asyncio conversation alike.

`Verb` joins the function that builds the call with the type of its result. On a conversation it is a method with that
function's parameters, which returns the result, or awaits it where the conversation is an asyncio one.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from vantage.client import calls
from vantage.conversation.verbs.terminal import results
from vantage.conversation.verbs.verb import Result

P = ParamSpec("P")
R = TypeVar("R", bound=Result)


class Blocking(Protocol):
    def call(self, call: calls.Call, returns: type[R]) -> R: ...


class Awaiting(Protocol):
    def call(self, call: calls.Call, returns: type[R]) -> Awaitable[R]: ...


class Verb(Generic[P, R]):
    def __init__(self, build: Callable[P, calls.Call], returns: type[R]) -> None:
        self.build = build
        self.returns = returns
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, conversation: None, owner: type) -> "Verb[P, R]": ...
    @overload
    def __get__(self, conversation: Blocking, owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, conversation: Awaiting, owner: type) -> Callable[P, Awaitable[R]]: ...

    def __get__(self, conversation: Any, owner: type) -> Any:
        if conversation is None:
            return self

        @wraps(self.build)
        def call(*args: P.args, **fields: P.kwargs) -> Any:
            return conversation.call(self.build(*args, **fields), self.returns)

        return call


class Verbs:
    exec_block = Verb(calls.exec_block, results.Ran)
    exec_interactive = Verb(calls.exec_interactive, results.Started)
    send = Verb(calls.send, results.Cursor)
    keys = Verb(calls.keys, results.Cursor)
    ctrl_c = Verb(calls.ctrl_c, results.Cursor)
    ctrl_d = Verb(calls.ctrl_d, results.Cursor)
    enter = Verb(calls.enter, results.Cursor)
    mouse = Verb(calls.mouse, results.Clicked)
    wait_for = Verb(calls.wait_for, results.Waited)
    status = Verb(calls.status, results.Status)
    end_session = Verb(calls.end_session, results.Ended)
    reset = Verb(calls.reset, results.Reset)
    resize = Verb(calls.resize, results.Size)
    read_raw = Verb(calls.read_raw, results.RawRead)
    read_spool = Verb(calls.read_spool, results.SpoolRead)
    read_screen = Verb(calls.read_screen, results.ScreenRead)
    read_screen_deltas = Verb(calls.read_screen_deltas, results.Deltas)
    screen_status = Verb(calls.screen_status, results.ScreenStatus)
    read_scrollback = Verb(calls.read_scrollback, results.ScrollbackRead)
    blocks = Verb(calls.blocks, results.Blocks)
    read_block = Verb(calls.read_block, results.BlockRead)
    search = Verb(calls.search, results.Hits)
