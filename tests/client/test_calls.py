"""The calls and methods of the client are those of the verbs: same names, same fields, same results."""

import inspect
import subprocess
import sys

import msgspec
import pytest

from vantage import AsyncConversation, Conversation
from vantage.client.verbs import Verb, Verbs
from vantage.conversation.verbs.table import TERMINAL_VERBS

OURS = {name: each for name, each in vars(Verbs).items() if isinstance(each, Verb)}


def test_every_verb_is_a_method():
    assert set(OURS) == set(TERMINAL_VERBS)
    assert all(each.build.__name__ == name for name, each in OURS.items())
    assert Conversation.exec_block is OURS["exec_block"]


@pytest.mark.parametrize("name", TERMINAL_VERBS)
def test_a_call_has_the_fields_of_its_verb(name):
    verb = TERMINAL_VERBS[name]
    fields = {field.name for field in msgspec.structs.fields(verb.params)} - {"data_b64"}
    parameters = inspect.signature(OURS[name].build).parameters
    assert set(parameters) == fields
    assert OURS[name].returns is verb.result
    required = {name for name, each in parameters.items() if each.default is inspect.Parameter.empty}
    filled = dict.fromkeys(required, "x")
    call = OURS[name].build(**filled)
    assert (call.verb, set(call.fields)) == (name, required)
    assert OURS[name].__doc__


def test_a_method_looks_like_its_call():
    for kind in (Conversation, AsyncConversation):
        method = kind.__new__(kind).wait_for
        assert str(inspect.signature(method)).startswith("(match: ")
        assert method.__doc__ == OURS["wait_for"].build.__doc__


def test_what_the_command_line_loads():
    code = "import sys, vantage.cli, vantage.cli.commands.conversations; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"msgspec", "asyncio", "websockets", "pathlib"} & set(loaded)
