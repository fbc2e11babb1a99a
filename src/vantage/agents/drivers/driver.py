"""What every driver is: a protocol's codec with a state, and no IO.

A driver's state is a pure function of two recorded things, in the order of their records: the lines that the agent
printed (`receive`), and the messages that were sent to it (`sent`). `say`, `interrupt` and `answer` change no state;
they only return what is to be sent. So a server that starts later gives a new driver the same records and gets the same
state.

A message to the agent is a `Send`: a key that says why it is sent, and a function that makes it. The runner gives it
the next number `n`, makes the message, has the PTY host journal and write it, and then calls `sent`. A replay calls
`receive` and `sent` from the records, and drops each `Send` whose key has a record: what is left is sent.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

import msgspec

from vantage.events import Answer, Event, Json, Request

State = Literal["starting", "idle", "working", "waiting", "exited"]

Delivery = Literal["now", "queued", "steered", "refused"]
"""What becomes of a message: sent now, sent after the turn, joined to the turn that runs, or not taken."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How a run of an agent is started."""

    argv: list[str]
    env: dict[str, str] = {}
    """What the agent needs in its environment beside the conversation's."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is started with. It is kept in the run's record, so a replay has the same."""

    run: str
    """The run's id; request ids begin with it."""
    cwd: str
    model: str | None = None
    mode: str | None = None
    """The agent's own name of its permission mode."""
    resume: str | None = None
    """The session that is continued."""
    mcp: dict[str, Json] | None = None
    """Vantage's MCP server for this conversation: `{command, args, env}`."""


class Moment(NamedTuple):
    """What is known only when a message is sent."""

    n: int
    """The number of the message in its run, used as the id of JSON-RPC requests."""
    display: str
    """The display instruction of the people who watch now; empty when it was given already and has not changed."""


class Send(NamedTuple):
    """A message to the agent."""

    key: str
    """Why it is sent, the same in each replay: `initialize`, `say 12`, `answer r1-2048`, `hook 7`."""
    make: Callable[[Moment], Json]
    """The message as JSON; the runner writes it as one line."""


class Output(msgspec.Struct, frozen=True):
    """What follows from a record."""

    events: list[Event] = []
    """To be logged. Ids in them are the protocol's; the runner makes `request_id`s of its own and adds `source`."""
    sends: list[Send] = []


class Driver(Protocol):
    """One run of an agent, from its start to its exit."""

    @property
    def state(self) -> State: ...

    @property
    def session(self) -> str | None:
        """The agent's own id of its session, once it is known."""
        ...

    def start(self) -> Output:
        """The process has started."""
        ...

    def receive(self, line: bytes, offset: int) -> Output:
        """The agent has printed a line, which begins at this offset of the stream. Garbage never raises."""
        ...

    def sent(self, n: int, key: str, message: Json) -> Output:
        """A message is journaled, and so delivered. This too may lead to events and to further messages."""
        ...

    def exited(self, status: int | None, stderr: str) -> Output:
        """The process has ended; `stderr` has its last lines."""
        ...

    def delivery(self) -> Delivery:
        """What would become of a message now."""
        ...

    def say(self, key: str, text: str, attachments: list[Json]) -> Output:
        """A person's message. Called only when `delivery()` is `now` or `steered`.

        An attachment is `{name?, mime_type, path, data?}`; `data` has an image in base64.
        """
        ...

    def interrupt(self, key: str) -> Output:
        """Stops the turn; nothing to send when none runs."""
        ...

    def answer(self, key: str, request: Request, answer: Answer) -> Output:
        """A person's answer to a request of this run."""
        ...

    def refuse(self, key: str, request: Request, why: str) -> Output:
        """No person answers (expired, for example): the agent's own refusal, never a yes."""
        ...
