"""Answers requests to a conversation's owner, with a verb's name and fields as JSON values."""

from typing import Any

from vantage.conversation.verbs.conversation.target import Home, Target
from vantage.conversation.verbs.fields import read_params
from vantage.conversation.verbs.table import CONVERSATION_VERBS, HOME_VERBS, TERMINAL_VERBS
from vantage.conversation.verbs.terminal.calls import take_call
from vantage.conversation.verbs.verb import Result
from vantage.errors import NotFound, did_you_mean


async def answer(home: Home, conversation_id: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Calls a verb and returns its answer as JSON values. Unknown fields are in its `warnings`.

    A terminal's verb takes `call_id` beside its fields: calls with the same id are executed once.
    """
    name = name.removeprefix("pty_")
    result: Result
    if name in TERMINAL_VERBS:
        pty_verb, call = TERMINAL_VERBS[name], take_call(fields)
        params, ignored = read_params(pty_verb.params, fields)
        terminal = home.manager.get(conversation_id).pty
        result = await terminal.calls.run(call, (name, params), lambda: pty_verb.run(terminal, params))
    elif name in CONVERSATION_VERBS:
        verb = CONVERSATION_VERBS[name]
        params, ignored = read_params(verb.params, fields)
        result = await verb.run(Target(home.manager, home.manager.get(conversation_id)), params)
    elif name in HOME_VERBS:
        home_verb = HOME_VERBS[name]
        params, ignored = read_params(home_verb.params, fields)
        result = await home_verb.run(home, params)
    else:
        known = (*TERMINAL_VERBS, *CONVERSATION_VERBS, *HOME_VERBS)
        raise NotFound(f"there is no verb {name!r}", hint=did_you_mean(name, known))
    answered = result.to_dict()
    if ignored:
        answered["warnings"] = [*ignored, *answered.get("warnings", ())]
    return answered
