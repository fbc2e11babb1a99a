"""Everything that can be asked of a conversation's owner, by name: what it takes, what it gives, who does it.

Fields come as JSON values and are checked here, once, for every face: whatever is wrong is said with what was
expected. A field nobody knows is ignored, as the contract has it, and the answer says so.
"""

import asyncio
import base64
import contextlib
import os
import pwd
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.assets import get_asset, put_asset
from vantage.conversation.checks import installed_shell
from vantage.conversation.pty_requests import PTY_VERBS, Asked, Nothing, call
from vantage.conversation.results import Result
from vantage.conversation.verbs import person
from vantage.errors import Invalid, NotFound, nearest_word
from vantage.events import decode_event, event_to_dict
from vantage.presentation import system_instructions
from vantage.timeline.specs.check import load_spec, spec_hash

if TYPE_CHECKING:
    from vantage.conversation.conversation import Conversation
    from vantage.conversation.files import Settings
    from vantage.conversation.manager import Manager

MOST_EVENTS = 10_000
"""That are read or written at once."""
SECRETS = ("VANTAGE_TOKEN",)
"""What no shell is given."""


# what is asked


class Create(Asked):
    id: Annotated[str, Meta(description="1 to 64 letters, digits, dots, dashes, underscores")] | UnsetType = UNSET
    name: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    shell: Annotated[str, Meta(description="bash, zsh, fish, sh or a path")] | UnsetType = UNSET
    cwd: str | UnsetType = UNSET
    cols: Annotated[int, Meta(ge=2, le=1000)] | UnsetType = UNSET
    rows: Annotated[int, Meta(ge=1, le=500)] | UnsetType = UNSET
    env: Annotated[dict[str, str], Meta(description="The shell's whole environment")] | UnsetType = UNSET
    user_rc: Annotated[bool, Meta(description="Read the user's rc files. Default true")] | UnsetType = UNSET
    allow_secret_input: (
        Annotated[bool, Meta(description="Let the agent type into password prompts without saying so")] | UnsetType
    ) = UNSET


class Rename(Asked):
    name: Annotated[str, Meta(max_length=200)]


class Append(Asked):
    events: Annotated[list[dict[str, Any]], Meta(max_length=MOST_EVENTS)]


class ReadEvents(Asked):
    after: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    before: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=MOST_EVENTS)] = 1000


ClientId = Annotated[str, Meta(min_length=1, max_length=100)]


class SetClient(Asked):
    client_id: ClientId
    terminal_width: int | UnsetType = UNSET
    presentation: dict[str, Any] | UnsetType = UNSET
    primary: bool | UnsetType = UNSET
    keep: bool = False
    """Without a socket that says when it is gone."""


class OneClient(Asked):
    client_id: ClientId


class Typed(Asked):
    """What a person types who has the keyboard."""

    client_id: ClientId
    data: str | UnsetType = UNSET
    keys: list[str] | UnsetType = UNSET
    paste: bool | UnsetType = UNSET
    secret: bool | UnsetType = UNSET


class Instructions(Asked):
    agent: str | UnsetType = UNSET
    additional: str | UnsetType = UNSET


class PutAsset(Asked):
    asset: Annotated[str, Meta(min_length=1, max_length=64)]
    data_b64: Annotated[str, Meta(description="A PNG, JPEG, GIF or WebP picture, in base64")]


class GetAsset(Asked):
    asset: Annotated[str, Meta(min_length=1, max_length=64)]


class SetTool(Asked):
    tool: Annotated[str, Meta(min_length=1, max_length=200)]
    renderSpec: dict[str, Any]  # noqa: N815 -- as it is called in events


# what is answered


class Description(Result):
    """A conversation, seen from outside."""

    id: str
    name: str
    state: str
    """`new`, `running`, `secret` (a program asks for one), `idle` or `ended`."""
    created: int
    last_activity: int
    epoch: str
    shell: str
    cwd: str
    cols: int
    rows: int
    seq: int | None = None
    """Of the last event. Not in lists of conversations."""
    mode: str = "exited"
    keyboard: str = "agent"
    title: str = ""
    running: str = ""
    """The command that runs."""

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None}


class Descriptions(Result):
    conversations: list[Description]

    def to_dict(self) -> dict[str, Any]:
        return {"ok": True, "conversations": [each.to_dict() for each in self.conversations]}


class Appended(Result):
    seq: int
    """Of the last one."""
    count: int


class Events(Result):
    events: list[dict[str, Any]]
    next: int | None
    """What to ask for next: `after` it, or `before` it when that was asked for. null: there is no more."""

    def to_dict(self) -> dict[str, Any]:
        return {"ok": True, "events": self.events, "next": self.next}


class Text(Result):
    text: str


class Tool(Result):
    tool: str
    specHash: str  # noqa: N815 -- as it is called in events


class Tools(Result):
    tools: list[dict[str, Any]]


class AssetKept(Result):
    asset: str
    """The picture's id."""
    media: str
    """What kind of picture it is."""
    bytes: int
    """How large it is."""


class AssetRead(Result):
    media: str
    data_b64: str


class Keyboard(Result):
    keyboard: str


class Numbers(Result):
    conversations: int
    terminals: int
    """Shells that live."""


class Done(Result):
    pass


# who does it

Handler = Callable[["Manager", "Conversation", Any], Awaitable[Result]]


async def _describe(manager: "Manager", conversation: "Conversation", _: Nothing) -> Result:
    return describe(manager, conversation.settings)


async def _rename(manager: "Manager", conversation: "Conversation", asked: Rename) -> Result:
    conversation.rename(asked.name)
    return describe(manager, conversation.settings)


async def _close(manager: "Manager", conversation: "Conversation", _: Nothing) -> Result:
    await manager.close_conversation(conversation.id)
    return describe(manager, conversation.settings)


async def _delete(manager: "Manager", conversation: "Conversation", _: Nothing) -> Result:
    await manager.delete(conversation.id)
    return Done()


async def _append(_: "Manager", conversation: "Conversation", asked: Append) -> Result:
    logged = conversation.append([decode_event(event) for event in asked.events])
    return Appended(seq=conversation.events.seq, count=len(logged))


async def _events(_: "Manager", conversation: "Conversation", asked: ReadEvents) -> Result:
    log = conversation.events
    if asked.before is not UNSET:
        end = min(asked.before, log.seq + 1) - 1
        first = max(end - asked.limit, 0 if asked.after is UNSET else asked.after)
        events = log.read(first, end - first) if end > first else []
        following = first + 1 if first > 0 and events else None
    else:
        after = 0 if asked.after is UNSET else asked.after
        events = log.read(after, asked.limit)
        last = events[-1].seq if events else None
        following = last if last is not None and last < log.seq else None
    return Events(events=[event_to_dict(event) for event in events], next=following)


async def _set_client(_: "Manager", conversation: "Conversation", asked: SetClient) -> Result:
    said = asked.arguments()
    conversation.set_client(said.pop("client_id"), **said)
    return Done()


async def _drop_client(_: "Manager", conversation: "Conversation", asked: OneClient) -> Result:
    if asked.client_id not in conversation.contexts.clients:
        conversation.give_keyboard_back(asked.client_id)
        raise NotFound(f"there is no client {asked.client_id!r}", hint="it may have left already")
    conversation.drop_client(asked.client_id)
    return Done()


async def _instructions(_: "Manager", conversation: "Conversation", asked: Instructions) -> Result:
    agent = None if asked.agent is UNSET else asked.agent
    additional = None if asked.additional is UNSET else asked.additional
    context = conversation.contexts.turn_context(agent)
    return Text(text=system_instructions({}, additional, context))


async def _set_tool(_: "Manager", conversation: "Conversation", asked: SetTool) -> Result:
    return Tool(tool=asked.tool, specHash=conversation.set_tool(asked.tool, asked.renderSpec))


async def _tools(manager: "Manager", conversation: "Conversation", _: Nothing) -> Result:
    own = {each.tool: {"tool": each.tool, "specHash": spec_hash(each.spec)} for each in conversation.tools()}
    return Tools(tools=[*own.values(), *[each for each in manager.tools() if each["tool"] not in own]])


async def _specs(_: "Manager", conversation: "Conversation", __: Nothing) -> Result:
    return Tools(tools=[msgspec.structs.asdict(each) for each in conversation.tools()])


async def _put_asset(_: "Manager", conversation: "Conversation", asked: PutAsset) -> Result:
    kept = await asyncio.to_thread(put_asset, conversation.folder, asked.asset, asked.data_b64)
    return AssetKept(asset=asked.asset, media=kept.media, bytes=len(kept.data))


async def _get_asset(_: "Manager", conversation: "Conversation", asked: GetAsset) -> Result:
    read = await asyncio.to_thread(get_asset, conversation.folder, asked.asset)
    return AssetRead(media=read.media, data_b64=base64.b64encode(read.data).decode())


async def _take_keyboard(_: "Manager", conversation: "Conversation", asked: OneClient) -> Result:
    conversation.take_keyboard(asked.client_id)
    return Keyboard(keyboard=conversation.terminal.keyboard)


async def _release_keyboard(_: "Manager", conversation: "Conversation", asked: OneClient) -> Result:
    conversation.give_keyboard_back(asked.client_id)
    return Keyboard(keyboard=conversation.terminal.keyboard)


async def _type(_: "Manager", conversation: "Conversation", asked: Typed) -> Result:
    given = asked.arguments()
    by = person(given.pop("client_id"))
    if ("data" in given) == ("keys" in given):
        raise Invalid("input takes one of data and keys", hint="data is text, keys are names of keys")
    if "keys" in given:
        return await conversation.terminal.keys(given["keys"], by=by)
    if not given.get("paste"):
        given["data"] = given["data"].encode()  # a person's Ctrl-J is no Enter
    return await conversation.terminal.send(**given, by=by)


class Request(msgspec.Struct, frozen=True):
    takes: type[Asked]
    handler: Handler


REQUESTS: dict[str, Request] = {
    "describe": Request(Nothing, _describe),
    "rename": Request(Rename, _rename),
    "close": Request(Nothing, _close),
    "delete": Request(Nothing, _delete),
    "append": Request(Append, _append),
    "events": Request(ReadEvents, _events),
    "set_client": Request(SetClient, _set_client),
    "drop_client": Request(OneClient, _drop_client),
    "instructions": Request(Instructions, _instructions),
    "set_tool": Request(SetTool, _set_tool),
    "put_asset": Request(PutAsset, _put_asset),
    "get_asset": Request(GetAsset, _get_asset),
    "tools": Request(Nothing, _tools),
    "specs": Request(Nothing, _specs),
    "take_keyboard": Request(OneClient, _take_keyboard),
    "release_keyboard": Request(OneClient, _release_keyboard),
    "type": Request(Typed, _type),
}


async def answer(manager: "Manager", conversation_id: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Does what is asked for, and returns the answer as it travels."""
    verb = PTY_VERBS.get(name.removeprefix("pty_"))
    if verb is not None:
        asked, ignored = read_fields(verb.takes, fields)
        result = await call(manager.get(conversation_id).terminal, name.removeprefix("pty_"), asked)
    elif name in _HOME_REQUESTS:
        takes, do = _HOME_REQUESTS[name]
        asked, ignored = read_fields(takes, fields)
        result = do(manager, asked)
    elif name in REQUESTS:
        request = REQUESTS[name]
        asked, ignored = read_fields(request.takes, fields)
        result = await request.handler(manager, manager.get(conversation_id), asked)
    else:
        raise NotFound(f"nothing is called {name!r}", hint="the verbs are in the documentation of the interface")
    answered = result.to_dict()
    if ignored:
        answered["warnings"] = ignored
    return answered


def read_fields(takes: type[Asked], fields: Mapping[str, Any], *, strict: bool = True) -> tuple[Any, list[str]]:
    """What was asked, checked; and a sentence for every field that means nothing. `strict`: text is no number."""
    try:
        asked = msgspec.convert(fields, takes, strict=strict)
    except msgspec.ValidationError as error:
        raise refusal(takes, str(error)) from None
    known = takes.__struct_fields__
    ignored = []
    for name in fields:
        if name not in known:
            near = nearest_word(str(name), known)
            hint = f"did you mean {near!r}?" if near else f"known are {', '.join(known) or 'none'}"
            ignored.append(f"{name!r} is not known here and was ignored: {hint}")
    return asked, ignored


def refusal(takes: type[msgspec.Struct], error: str) -> Invalid:
    """What to say of fields that msgspec did not take."""
    return Invalid(_complaint(error), hint=_choices(takes, error) or _expected(takes))


def _complaint(error: str) -> str:
    """`Expected `int`, got `str` - at `$.limit`` in our words."""
    return error.replace(" - at `$.", " in `").replace("Object missing required field", "missing is")


_NO_CHOICE = re.compile(r"Invalid enum value .* - at `\$\.(\w+)(?:\[\d+\])?`", re.DOTALL)


def _choices(takes: type[msgspec.Struct], error: str) -> str:
    """The words that a field takes, when it was given another one."""
    found = _NO_CHOICE.fullmatch(error)
    if found is None:
        return ""
    properties = msgspec.json.schema(takes)["$defs"][takes.__name__]["properties"]
    field = properties[found[1]]
    words = field.get("enum") or field.get("items", {}).get("enum", ())
    return f"`{found[1]}` is one of {', '.join(map(str, words))}" if words else ""


def _expected(takes: type[msgspec.Struct]) -> str:
    fields = msgspec.structs.fields(takes)
    named = [field.name if field.required else f"{field.name}?" for field in fields]
    return f"it takes {', '.join(named)}" if named else "it takes nothing"


# what is asked of the home, not of a conversation


def _create(manager: "Manager", asked: Create) -> Result:
    given = asked.arguments()
    environment = given.pop("env", None)
    shell_environment = default_environment() if environment is None else environment
    if "shell" in given:
        installed_shell(given["shell"], shell_environment)  # now, and not with the first command
    conversation = manager.create(
        given.pop("id", None),
        env={name: value for name, value in shell_environment.items() if name not in SECRETS},
        cwd=given.pop("cwd", None) or shell_environment.get("HOME") or "/",
        **given,
    )
    return describe(manager, conversation.settings)


def _list(manager: "Manager", _: Nothing) -> Result:
    found = [describe(manager, settings, brief=True) for settings in manager.list()]
    return Descriptions(conversations=sorted(found, key=lambda each: (-each.last_activity, -each.created)))


def _set_common_tool(manager: "Manager", asked: SetTool) -> Result:
    load_spec(asked.renderSpec)
    return Tool(tool=asked.tool, specHash=manager.set_tool(asked.tool, asked.renderSpec))


def _common_tools(manager: "Manager", _: Nothing) -> Result:
    return Tools(tools=manager.tools())


def _numbers(manager: "Manager", _: Nothing) -> Result:
    root = manager.home / "conversations"
    names = [path.name for path in root.iterdir()] if root.is_dir() else []
    opened = [conversation for name in names if (conversation := manager.opened(name)) is not None]
    return Numbers(conversations=len(names), terminals=sum(each.session.alive for each in opened))


_HOME_REQUESTS: dict[str, tuple[type[Asked], Callable[["Manager", Any], Result]]] = {
    "create": (Create, _create),
    "list": (Nothing, _list),
    "set_common_tool": (SetTool, _set_common_tool),
    "common_tools": (Nothing, _common_tools),
    "numbers": (Nothing, _numbers),
}


def default_environment() -> dict[str, str]:
    """What a shell gets whose creator sent no environment: never the server's own."""
    try:
        name, _, _, _, _, home, shell = pwd.getpwuid(os.getuid())
    except KeyError:  # a container's user may have no name
        name, home, shell = str(os.getuid()), os.environ.get("HOME", "/"), "/bin/sh"
    return {
        "HOME": home,
        "USER": name,
        "LOGNAME": name,
        "SHELL": shell,
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
    }


def describe(manager: "Manager", settings: "Settings", *, brief: bool = False) -> Description:
    """A conversation in a few words. `brief` does not open it."""
    conversation = manager.opened(settings.id) if brief else manager.get(settings.id)
    folder = manager.folder(settings.id)
    description = Description(
        id=settings.id,
        name=settings.name,
        state="ended" if folder.raw.exists() else "new",
        created=settings.created,
        last_activity=settings.created,
        epoch=settings.epoch,
        shell=settings.shell,
        cwd=settings.cwd,
        cols=settings.cols,
        rows=settings.rows,
    )
    with contextlib.suppress(FileNotFoundError):
        log = folder.events.stat()
        description.last_activity = max(round(log.st_mtime * 1000), settings.created)
        if log.st_size and description.state == "new":  # something was said in it, without a terminal
            description.state = "idle"
    if conversation is not None:
        _describe_live(description, conversation, brief=brief)
    return description


def _describe_live(description: Description, conversation: "Conversation", *, brief: bool) -> None:
    session = conversation.session
    state = session.state
    if session.alive:
        busy = state.phase in ("sent", "running")
        description.state = "secret" if busy and session.sample.awaiting_secret else "running" if busy else "idle"
        description.running = state.block.cmd if state.block is not None else ""
    description.mode = session.terminal.mode
    description.cwd = state.cwd or description.cwd
    description.keyboard = conversation.terminal.keyboard
    screen = session.terminal.screen
    description.title = screen.title if screen is not None else ""
    if not brief:
        description.seq = conversation.events.seq
