"""The table of verbs: what each record says agrees with its function, and fields are read with its types."""

import inspect

import msgspec
import pytest

from vantage.conversation.verbs.agent_terminal import AgentTerminal
from vantage.conversation.verbs.fields import first_problem, read_params, unknown_fields
from vantage.conversation.verbs.table import CONVERSATION_VERBS, HOME_VERBS, TERMINAL_VERBS
from vantage.conversation.verbs.terminal.params import ExecBlock, Keys, ReadBlock, ReadScreen, Resize, WaitFor
from vantage.conversation.verbs.verb import Params, Result
from vantage.errors import Do, Invalid
from vantage.server.mcp.words import tool_call
from vantage.terminal.output.match import CONDITIONS
from vantage.timeline.tools.terminal import condition

VERBS = [*TERMINAL_VERBS.values(), *CONVERSATION_VERBS.values(), *HOME_VERBS.values()]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_verb_is_a_function_from_parameters_to_a_result(verb):
    assert inspect.iscoroutinefunction(verb.run)
    assert issubclass(verb.params, Params)
    assert issubclass(verb.result, Result)
    assert verb.summary.endswith(".")
    assert not (verb.reads and verb.destructive)


def test_no_name_is_in_two_tables():
    assert len({verb.name for verb in VERBS}) == len(VERBS)


@pytest.mark.parametrize("verb", TERMINAL_VERBS.values(), ids=lambda verb: verb.name)
def test_the_python_method_takes_the_parameters_with_their_defaults(verb):
    method = inspect.signature(getattr(AgentTerminal, verb.name)).parameters
    fields = {each.name: each for each in msgspec.structs.fields(verb.params) if each.name != "data_b64"}
    assert set(method) - {"self"} == set(fields)
    for name, field in fields.items():
        required = field.required or name == "data"  # over the wire it may be data_b64
        default = inspect.Parameter.empty if required else field.default
        assert method[name].default == default, name


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_field_has_a_description(verb):
    for kind in (verb.params, verb.result):
        for name, field in msgspec.json.schema(kind)["$defs"][kind.__name__]["properties"].items():
            assert name == "ok" or "description" in field, (kind.__name__, name)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (ExecBlock, {}, "missing required field `command`"),
        (ExecBlock, {"command": None}, "`command`: expected a text, got null"),
        (ExecBlock, {"command": "x", "timeout_ms": -1}, "`timeout_ms`: expected a whole number from 0 on, got -1"),
        (ExecBlock, {"command": "x", "timeout_ms": True}, "`timeout_ms`: expected a whole number from 0 on, got true"),
        (ExecBlock, {"command": "x", "cwd": ["secret"]}, "`cwd`: expected a text, got a list"),
        (Resize, {"cols": 1, "rows": 5}, "`cols`: expected a whole number from 2 to 1000, got 1"),
        (Resize, {"cols": 80, "rows": 501}, "`rows`: expected a whole number from 1 to 500, got 501"),
        (Keys, {"keys": ["a", 5]}, "`keys[1]`: expected a text, got 5"),
        (WaitFor, {"match": 4}, "`match`: expected a text or an object, got 4"),
        (ReadBlock, {"block_id": "b1", "part": "middle"}, "`part`: 'middle' is not known"),
        (ReadScreen, {"region": {"row": "x"}}, "`region.row`: expected a whole number"),
        (ReadScreen, {"region": {"line": 1}}, "`region.line`: expected one of the fields row, col, rows, cols"),
    ],
)
def test_an_error_names_the_field(kind, fields, message):
    with pytest.raises(Invalid) as refused:
        read_params(kind, fields)
    assert refused.value.message.startswith(message)
    assert refused.value.facts["field"] in message
    assert refused.value.facts["field"] == first_problem(kind, fields).field


def test_choices_are_in_the_hint():
    with pytest.raises(Invalid) as refused:
        read_params(ReadBlock, {"block_id": "b1", "part": "middle"})
    assert refused.value.hint == "`part` is one of both, head, tail"


def test_a_query_has_numbers_as_text():
    params, _ = read_params(Resize, {"cols": "80", "rows": "24"}, strict=False)
    assert (params.cols, params.rows) == (80, 24)
    with pytest.raises(Invalid, match="`cols`: expected a whole number from 2 to 1000, got a text"):
        read_params(Resize, {"cols": "wide", "rows": "24"}, strict=False)


def test_fields_in_camel_case_and_fields_that_are_not_known():
    params, warnings = read_params(ExecBlock, {"command": "x", "timeoutMs": 5, "cwdd": "/"})
    assert params.timeout_ms == 5
    assert warnings == ["'cwdd' is not known here and was ignored: did you mean 'cwd'?"]
    assert unknown_fields(ExecBlock, {"type": 1}, "type") == []


def test_every_condition_of_a_wait_has_words():
    """The presenter has a table of its own, because it knows nothing of the terminal."""
    for name in CONDITIONS:
        value = [{"text": "a"}, {"prompt": True}] if name in ("any", "all") else "x"
        assert condition({name: value}) != str({name: value}), name


def test_a_step_as_a_tool_call():
    assert tool_call(Do("wait_for", "waits", match="PROMPT")) == 'pty_wait_for {"match": "PROMPT"}'
    assert tool_call(Do("read_screen")) == "pty_read_screen"
    assert tool_call(Do("ctrl_c")) == 'pty_keys {"keys": ["C-c"]}'
