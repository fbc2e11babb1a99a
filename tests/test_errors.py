"""Errors as data: what they carry over the wire, how their next steps are worded, whose fault they are."""

import pytest

from vantage import errors
from vantage.errors import Busy, Conflict, Do, Gone, VantageError, did_you_mean, from_wire, to_wire, worded

STEPS = [Do("wait_for", "waits for its end", match="PROMPT"), Do("read_screen", "shows it")]


def test_a_hint_words_the_advice_and_the_steps():
    error = Busy("a command runs", hint="be patient", do=STEPS)
    assert error.hint == 'be patient; wait_for {"match": "PROMPT"} waits for its end; read_screen shows it'
    assert str(error) == f"a command runs: {error.hint}"
    assert worded("", [Do("status")], lambda step: f"vantage {step.verb}") == "vantage status"


@pytest.mark.parametrize(
    "error",
    [
        Busy("a command runs", hint="be patient", do=STEPS),
        Conflict("not now", hint="later"),
        Gone("dropped", next=17, hint="go on at 17"),
        errors.TooMany("too often", hint="wait"),
        VantageError("no way"),
    ],
    ids=lambda error: error.code,
)
def test_an_error_survives_the_wire(error):
    there = from_wire(to_wire(error))
    assert type(there) is type(error)
    assert (there.code, there.message, there.hint, there.do) == (error.code, error.message, error.hint, error.do)


def test_next_steps_travel_as_data():
    assert to_wire(Busy("it runs", do=[STEPS[0]])) == {
        "code": "busy",
        "message": "it runs",
        "hint": 'wait_for {"match": "PROMPT"} waits for its end',
        "advice": "",
        "steps": [{"verb": "wait_for", "args": {"match": "PROMPT"}, "does": "waits for its end"}],
    }


def test_an_unknown_code_is_kept():
    assert from_wire({"code": "from_the_future", "message": "m", "hint": "h"}).code == "from_the_future"


def test_every_error_of_the_module_is_found_by_its_code():
    ours = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, VantageError)}
    by_code = {each.code: each for each in ours if "code" in vars(each)}
    assert {code: each for code, each in by_code.items() if code != Gone.code} == errors.BY_CODE


@pytest.mark.parametrize("each", [*errors.BY_CODE.values(), Gone], ids=lambda each: each.code)
def test_the_status_says_whose_fault_it_is(each):
    faults = {409: {"state"}, 403: {"caller", "vantage"}, 500: {"vantage"}, 503: {"vantage"}}
    assert each.fault in faults.get(each.status, {"caller"})


@pytest.mark.parametrize(
    ("word", "otherwise", "hint"),
    [
        ("scren", None, "did you mean 'screen'?"),
        ("TITEL", None, "did you mean 'title'?"),
        ("xyzzy", None, "use one of screen, title"),
        ("xyzzy", "list them", "list them"),
    ],
)
def test_did_you_mean(word, otherwise, hint):
    assert did_you_mean(word, ["screen", "title"], otherwise=otherwise) == hint


def test_did_you_mean_among_no_words():
    assert did_you_mean("scren", []) == "there are none"


def test_steps_are_equal_by_value():
    assert Do("send", "types", secret=True) == Do("send", "types", secret=True)
    assert Do("send") != Do("send", secret=True)
    assert repr(Do("send", "types", secret=True)) == "Do('send', 'types', secret=True)"
