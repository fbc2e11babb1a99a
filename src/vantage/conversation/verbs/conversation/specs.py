"""The verbs of render specs: how calls of a tool are shown, in one conversation and in all of them."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from vantage.conversation.store.specs.home import Broken
from vantage.conversation.verbs.conversation.target import Home, Target
from vantage.conversation.verbs.verb import NoParams, Params, Result, verb
from vantage.timeline.specs.check import load_spec, spec_hash


class SetTool(Params, frozen=True):
    tool: Annotated[str, Meta(min_length=1, max_length=200, description="The tool's name")]
    renderSpec: Annotated[  # noqa: N815 -- as it is called in events
        dict[str, Any], Meta(description="How calls of the tool are shown")
    ]


class Tool(Result):
    tool: Annotated[str, Meta(description="The tool's name")]
    specHash: Annotated[  # noqa: N815 -- as it is called in events
        str, Meta(description="The spec's hash")
    ]


class Tools(Result):
    tools: Annotated[
        list[dict[str, Any]],
        Meta(description="`tool`, `specHash` and `source`: `conversation`, `home`, `specs` (files) or `installed`"),
    ]
    broken: Annotated[
        tuple[Broken, ...], Meta(description="Files of specs that cannot be used, each with its `path` and `errors`")
    ] = ()


@verb("Say how calls of a tool are shown in this conversation.")
async def set_tool(target: Target, params: SetTool) -> Tool:
    return Tool(tool=params.tool, specHash=target.conversation.set_tool(params.tool, params.renderSpec))


@verb("Tools whose calls have a render spec here.", reads=True)
async def tools(target: Target, _: NoParams) -> Tools:
    own = {
        each.tool: {"tool": each.tool, "specHash": spec_hash(each.spec), "source": "conversation"}
        for each in target.conversation.tools()
        if not each.of_home
    }
    others = [each for each in target.manager.specs.listed() if each["tool"] not in own]
    return Tools(tools=[*own.values(), *others], broken=target.manager.specs.files.broken)


@verb("Every spec that was registered in this conversation, the oldest first.", reads=True)
async def specs(target: Target, _: NoParams) -> Tools:
    return Tools(tools=[msgspec.structs.asdict(each) for each in target.conversation.tools()])


@verb("Say how calls of a tool are shown in all conversations.")
async def set_common_tool(home: Home, params: SetTool) -> Tool:
    load_spec(params.renderSpec)
    return Tool(tool=params.tool, specHash=home.manager.specs.put(params.tool, params.renderSpec))


@verb("Tools whose calls have a render spec in all conversations.", reads=True)
async def common_tools(home: Home, _: NoParams) -> Tools:
    return Tools(tools=home.manager.specs.listed(), broken=home.manager.specs.files.broken)
