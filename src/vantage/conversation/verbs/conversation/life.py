"""The verbs of a conversation's life: create, list, describe, change, close, delete."""

import contextlib
import os
import pwd
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.checks import installed_shell
from vantage.conversation.requests.attention import Activity, Attention, attention_of
from vantage.conversation.requests.scan import last_events
from vantage.conversation.verbs.conversation.target import Home, Target
from vantage.conversation.verbs.verb import Done, NoParams, Params, Result, verb
from vantage.errors import Invalid

if TYPE_CHECKING:
    from vantage.conversation.store.conversation_folder import Settings

SECRETS = ("VANTAGE_TOKEN",)
"""Variables that no shell gets."""


class Create(Params, frozen=True):
    id: Annotated[str, Meta(description="1 to 64 letters, digits, dots, dashes, underscores")] | UnsetType = UNSET
    name: Annotated[str, Meta(max_length=200, description="A name for people")] | UnsetType = UNSET
    shell: Annotated[str, Meta(description="bash, zsh, fish, sh or a path")] | UnsetType = UNSET
    cwd: Annotated[str, Meta(description="The working directory of its first shell")] | UnsetType = UNSET
    cols: Annotated[int, Meta(ge=2, le=1000, description="Columns of the terminal")] | UnsetType = UNSET
    rows: Annotated[int, Meta(ge=1, le=500, description="Rows of the terminal")] | UnsetType = UNSET
    env: Annotated[dict[str, str], Meta(description="The shell's whole environment")] | UnsetType = UNSET
    user_rc: Annotated[bool, Meta(description="Read the user's rc files. Default true")] | UnsetType = UNSET
    allow_secret_input: (
        Annotated[bool, Meta(description="Let the agent type into password prompts without saying so")] | UnsetType
    ) = UNSET
    engine: Annotated[str, Meta(description="What draws its screens: auto, ghostty or pyte")] | UnsetType = UNSET
    created_by: Annotated[str, Meta(description="The conversation whose shell or agent makes it")] = ""


class Change(Params, frozen=True):
    name: Annotated[str, Meta(max_length=200, description="What people call it from now on")] | UnsetType = UNSET
    read_only_displays: (
        Annotated[bool, Meta(description="Let displays of read-only tokens count for what the agent is told")]
        | UnsetType
    ) = UNSET


class Description(Result):
    """A conversation, for clients."""

    id: Annotated[str, Meta(description="Its id")]
    name: Annotated[str, Meta(description="What people call it")]
    state: Annotated[str, Meta(description="`new`, `running`, `secret` (a program asks for one), `idle` or `ended`")]
    created: Annotated[int, Meta(description="When it was made, in milliseconds since the epoch")]
    last_activity: Annotated[int, Meta(description="When something last happened, in milliseconds since the epoch")]
    epoch: Annotated[str, Meta(description="Changes only when the log was made anew")]
    shell: Annotated[str, Meta(description="bash, zsh, fish, sh or a path")]
    cwd: Annotated[str, Meta(description="The working directory")]
    cols: Annotated[int, Meta(description="Columns of the terminal")]
    rows: Annotated[int, Meta(description="Rows of the terminal")]
    read_only_displays: Annotated[
        bool, Meta(description="Whether displays of read-only tokens count for what the agent is told")
    ] = False
    seq: Annotated[int | None, Meta(description="The number of the last event; not in lists of conversations")] = None
    mode: Annotated[str, Meta(description="`idle`, `block_running`, `interactive` or `exited`")] = "exited"
    keyboard: Annotated[str, Meta(description="Who types: `agent`, or `client:<id>`")] = "agent"
    title: Annotated[str, Meta(description="The title that the program gave its window")] = ""
    running: Annotated[str, Meta(description="The command that runs")] = ""
    engine: Annotated[str, Meta(description="What draws its screens: auto, ghostty or pyte")] = "auto"
    attention: Annotated[Attention, Meta(description="Whether it needs a person, with the evidence")] = Attention()

    def to_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        return {**fields, "attention": msgspec.to_builtins(self.attention)}


class Descriptions(Result):
    conversations: Annotated[list[Description], Meta(description="The last used first")]

    def to_dict(self) -> dict[str, Any]:
        return {"ok": True, "conversations": [each.to_dict() for each in self.conversations]}


class Numbers(Result):
    conversations: Annotated[int, Meta(description="Conversations that exist")]
    terminals: Annotated[int, Meta(description="Shells that live")]


@verb("Make a conversation. Its shell starts with the first verb that needs it.")
async def create(home: Home, params: Create) -> Description:
    given = params.given()
    environment = given.pop("env", None)
    shell_environment = default_environment() if environment is None else environment
    if "shell" in given:
        installed_shell(given["shell"], shell_environment)  # an error now, and not with the first command
    conversation = home.manager.create(
        given.pop("id", None),
        env={name: value for name, value in shell_environment.items() if name not in SECRETS},
        cwd=given.pop("cwd", None) or shell_environment.get("HOME") or "/",
        **given,
    )
    return described(Target(home.manager, conversation))


@verb("All conversations, the last used first.", reads=True)
async def list_(home: Home, _: NoParams) -> Descriptions:
    found = [_listed(home, settings) for settings in home.manager.list()]
    return Descriptions(conversations=sorted(found, key=lambda each: (-each.last_activity, -each.created)))


@verb("How many conversations and living shells there are.", reads=True)
async def numbers(home: Home, _: NoParams) -> Numbers:
    root = home.manager.home / "conversations"
    names = [path.name for path in root.iterdir()] if root.is_dir() else []
    opened = [conversation for name in names if (conversation := home.manager.opened(name)) is not None]
    return Numbers(conversations=len(names), terminals=sum(each.live.alive for each in opened))


@verb("A conversation: its name, its size, what it does now.", reads=True)
async def describe(target: Target, _: NoParams) -> Description:
    return described(target)


@verb("Give a conversation another name, or say whether read-only displays count.")
async def change(target: Target, params: Change) -> Description:
    if params.name is UNSET and params.read_only_displays is UNSET:
        raise Invalid("nothing to change", hint="give name or read_only_displays")
    if params.name is not UNSET:
        target.conversation.rename(params.name)
    if params.read_only_displays is not UNSET:
        target.conversation.count_read_only(params.read_only_displays)
    return described(target)


@verb("End a conversation's shell and keep its files.", destructive=True)
async def close(target: Target, _: NoParams) -> Description:
    await target.manager.close_conversation(target.conversation.id)
    return described(target)


@verb("End a conversation's shell and remove its files.", destructive=True)
async def delete(target: Target, _: NoParams) -> Done:
    await target.manager.delete(target.conversation.id)
    return Done()


def default_environment() -> dict[str, str]:
    """The environment of a shell whose creator sent none: never the server's own."""
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


def described(target: Target) -> Description:
    description = _kept(Home(target.manager), target.conversation.settings)
    _add_live(description, target)
    description.seq = target.conversation.events.seq
    return description


def _listed(home: Home, settings: "Settings") -> Description:
    """A conversation in a list: one that is not open is not opened for it."""
    description = _kept(home, settings)
    conversation = home.manager.opened(settings.id)
    if conversation is not None:
        _add_live(description, Target(home.manager, conversation))
    return description


def _kept(home: Home, settings: "Settings") -> Description:
    """The description from the files."""
    folder = home.manager.folder(settings.id)
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
        read_only_displays=settings.read_only_displays,
        engine=settings.engine,
        attention=attention_of((), Activity().after(last_events(folder.events)), None),
    )
    with contextlib.suppress(FileNotFoundError):
        log = folder.events.stat()
        description.last_activity = max(round(log.st_mtime * 1000), settings.created)
        if log.st_size and description.state == "new":  # it has events, and no terminal
            description.state = "idle"
    return description


def _add_live(description: Description, target: Target) -> None:
    """The state of the conversation now."""
    conversation, live = target.conversation, target.conversation.live
    if live.alive:
        busy = live.state.phase in ("sent", "running")
        description.state = "secret" if busy and live.sampler.sample.awaiting_secret else "running" if busy else "idle"
        description.running = live.state.block.cmd if live.state.block is not None else ""
    description.mode = live.terminal.mode
    description.cwd = live.state.cwd or description.cwd
    description.keyboard = conversation.pty.keyboard.holder
    description.title = live.title
    description.attention = conversation.attention
