"""The verbs of the agent that Vantage runs in a conversation: start, say, interrupt, look, end."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from vantage.agents.drivers.driver import Delivery
from vantage.conversation.agent.installed import Installed, installed_agents
from vantage.conversation.checks import directory
from vantage.conversation.verbs.conversation.life import SECRETS, default_environment
from vantage.conversation.verbs.conversation.target import Home, Target
from vantage.conversation.verbs.verb import NoParams, Params, Result, verb

MAX_TEXT = 4 << 20
"""Characters of one message."""


class StartAgent(Params, frozen=True):
    agent: Annotated[str, Meta(min_length=1, max_length=64, description="Which agent; `acp` with a `command` of yours")]
    command: (
        Annotated[list[str], Meta(min_length=1, description="Its program, and words before our arguments")] | UnsetType
    ) = UNSET
    cwd: Annotated[str, Meta(description="Where it works. Default: the conversation's cwd")] | UnsetType = UNSET
    env: (
        Annotated[dict[str, str], Meta(description="Its whole environment. Default: the conversation's")] | UnsetType
    ) = UNSET
    model: Annotated[str, Meta(max_length=200, description="The model, by the agent's name for it")] | UnsetType = UNSET
    mode: Annotated[str, Meta(max_length=200, description="The agent's own permission mode")] | UnsetType = UNSET
    resume: Annotated[str, Meta(max_length=200, description="The session to continue")] | UnsetType = UNSET


class Say(Params, frozen=True):
    text: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT, description="The message")]
    attachments: (
        Annotated[list[str], Meta(max_length=20, description="Ids of pictures of the conversation")] | UnsetType
    ) = UNSET
    by: Annotated[
        str,
        Meta(
            max_length=300,
            pattern=r"^(cli|client:.+|bot:[^:]+:.+)$",
            description="Who says it: `cli`, `client:<id>` or `bot:<name>:<person>`",
        ),
    ] = "cli"


class AgentStatus(Result):
    """The agent of a conversation."""

    state: Annotated[str, Meta(description="`starting`, `idle`, `working`, `waiting`, `exited`; `none`: never one")]
    agent: Annotated[str | None, Meta(description="Which agent")] = None
    run: Annotated[str | None, Meta(description="The id of its run")] = None
    session: Annotated[str | None, Meta(description="Its own id of its session")] = None
    model: Annotated[str | None, Meta(description="The model that it uses")] = None
    mode: Annotated[str | None, Meta(description="Its permission mode, as it was started")] = None
    cwd: Annotated[str | None, Meta(description="Where it works")] = None
    pid: Annotated[int | None, Meta(description="Its process")] = None
    error: Annotated[str | None, Meta(description="Why it ended, where that was no ordinary end")] = None
    queued: Annotated[tuple[int, ...], Meta(description="Numbers of messages that it has not got yet")] = ()


class SaidIt(Result, kw_only=True):
    seq: Annotated[int | None, Meta(description="The number of the message's event; none when it was refused")] = None
    delivery: Annotated[
        Delivery,
        Meta(description="`now`, `queued` (for the end of the turn), `steered` (joined to the turn), `refused`"),
    ]


class Interrupted(Result, kw_only=True):
    interrupted: Annotated[bool, Meta(description="Whether a turn ran")]

    def to_dict(self) -> dict[str, object]:
        return {"ok": True, "interrupted": self.interrupted}


class Agents(Result):
    agents: Annotated[list[Installed], Meta(description="Those that Vantage can run")]


@verb("Start an agent in a conversation. A conversation has one at a time.")
async def start_agent(target: Target, params: StartAgent) -> AgentStatus:
    given = params.given()
    settings = target.conversation.settings
    environment = given.pop("env", None)
    if environment is not None:
        environment = {name: value for name, value in environment.items() if name not in SECRETS}
    home = (environment or settings.env).get("HOME") or default_environment()["HOME"]
    cwd = directory(given.pop("cwd", ""), settings.cwd or home, home)
    await target.conversation.agent.start(given.pop("agent"), env=environment, cwd=cwd, **given)
    return described(target)


@verb("What the agent of a conversation does.", reads=True)
async def agent(target: Target, _: NoParams) -> AgentStatus:
    await target.conversation.agent.attach()
    return described(target)


@verb("End the agent of a conversation and everything that it started.", destructive=True)
async def end_agent(target: Target, _: NoParams) -> AgentStatus:
    await target.conversation.agent.end()
    return described(target)


@verb("Give the agent of a conversation a message. One that has ended continues its session.")
async def say(target: Target, params: Say) -> SaidIt:
    attachments = None if params.attachments is UNSET else params.attachments
    said = await target.conversation.agent.say(params.text, params.by, attachments)
    return SaidIt(seq=said.seq, delivery=said.delivery)


@verb("Stop the turn that the agent of a conversation works on.")
async def interrupt(target: Target, _: NoParams) -> Interrupted:
    return Interrupted(interrupted=await target.conversation.agent.interrupt())


@verb("The agents that can be run here: which are installed, and which sessions can be continued.", reads=True)
async def agents(home: Home, _: NoParams) -> Agents:
    return Agents(agents=await installed_agents(home.manager.home, default_environment()))


def described(target: Target) -> AgentStatus:
    running = target.conversation.agent
    state, kept = running.state(), running.kept
    if state is None or kept is None:
        return AgentStatus(state="none")
    return AgentStatus(
        state=state.state,
        agent=kept.agent,
        run=kept.run,
        session=state.session,
        model=state.model,
        mode=kept.options.mode,
        cwd=kept.options.cwd,
        pid=running.pid,
        error=state.error,
        queued=tuple(running.undelivered()),
    )
