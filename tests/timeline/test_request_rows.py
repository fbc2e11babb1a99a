"""Requests as rows: their events are one row, which says what may be answered and how it ended."""

import msgspec
import pytest

from vantage import PresentationContext, Timeline, render
from vantage.events import decode_event
from vantage.presentation import profile
from vantage.surfaces import SURFACES
from vantage.timeline.excerpt import excerpt
from vantage.timeline.request_card import Choice, Field, Option, RequestCard

ASKED = {
    "type": "request",
    "request_id": "r1-120",
    "kind": "approval",
    "title": "Claude wants to use Bash",
    "tool": "Bash",
    "args": {"command": "rm -rf build"},
    "options": [{"id": "allow", "label": "Allow", "kind": "allow"}, {"id": "no", "label": "Deny", "kind": "deny"}],
    "hash": "0123456789abcdef",
    "expires": 1795000000000,
    "screen_offset": 512,
}
ANSWERED = {"type": "answer", "request_id": "r1-120", "option": "allow", "by": "cli", "ts": 7}


def closed(why: str) -> dict:
    return {"type": "request_closed", "request_id": "r1-120", "why": why}


def timeline(*events: dict) -> Timeline:
    made = Timeline()
    for event in events:
        made.add(event)
    return made


def only(*events: dict):
    (row,) = timeline(*events).rows
    return row


def asked(**changed) -> RequestCard:
    card = only({**ASKED, **changed}).request
    assert card is not None
    return card


def test_an_open_request_is_a_row_with_what_an_answer_needs():
    row = only(ASKED)
    assert (row.kind, row.status, row.tool, row.text) == ("request", "waiting", "Bash", "Asks: Run rm -rf build")
    card = row.request
    assert (card.request_id, card.kind, card.state) == ("r1-120", "approval", "open")
    assert (card.hash, card.expires, card.screen_offset) == ("0123456789abcdef", 1795000000000, 512)
    assert card.options == [Option("allow", "Allow", "allow"), Option("no", "Deny", "deny")]


@pytest.mark.parametrize(
    ("events", "state", "status", "open_"),
    [
        ([], "open", "waiting", True),
        ([ANSWERED], "answered", "ok", False),
        ([{**ANSWERED, "option": "no"}], "answered", "none", False),
        ([closed("expired")], "closed", "warning", False),
        ([closed("withdrawn")], "closed", "none", False),
        ([closed("answered_elsewhere")], "closed", "ok", False),
        ([closed("lost")], "closed", "warning", False),
        ([ANSWERED, closed("too_late")], "closed", "warning", False),
    ],
)
def test_states(events, state, status, open_):
    made = timeline(ASKED, *events)
    (row,) = made.rows
    assert (row.request.state, row.status, made.is_open(row.id)) == (state, status, open_)
    assert row.text.startswith("Asks: " if state == "open" else "Asked: ")


def test_the_first_answer_counts():
    row = only(ASKED, ANSWERED, {**ANSWERED, "option": "no", "by": "client:late"})
    assert (row.request.answer.option, row.request.answer.by, row.request.answer.ts) == ("allow", "cli", 7)


def test_answers_to_what_was_not_asked_are_no_rows():
    assert timeline(ANSWERED, closed("lost")).rows == []


def test_requests_are_told_apart_by_their_id():
    other = {**ASKED, "request_id": "r1-240"}
    first, second = timeline(ASKED, other, {**ANSWERED, "request_id": "r1-240"}).rows
    assert (first.request.state, second.request.state) == ("open", "answered")


def test_an_open_request_outlives_its_turn():
    assert only(ASKED, {"type": "turn_complete"}, ANSWERED).request.state == "answered"


def test_no_argument_is_left_out_of_what_a_person_decides_about():
    """A tool's presenter draws what it knows; what it does not draw is listed."""
    args = {"command": "make", "env": {"PATH": "/tmp/evil"}, "sandbox": False, "escalated": True, "timeout": 5}
    shown = render([only({**ASKED, "args": args})], profile("api"), "plain")
    for part in ("Run make", "/tmp/evil", "escalated: true", "timeout: 5"):
        assert part in shown
    assert "sandbox" not in shown, "what is false or empty asks for nothing"


@pytest.mark.parametrize("surface", SURFACES)
def test_a_long_command_is_shown_whole(surface):
    command = "\n".join(f"step-{number}" for number in range(40))
    row = only({**ASKED, "args": {"command": command}})
    shown = str(render([row], PresentationContext(), surface))
    assert all(f"step-{number}" in shown for number in range(40))


def test_the_options_stay_where_a_large_diff_is_cut():
    row = only({**ASKED, "tool": None, "details": "+" + "x" * 100_000})
    assert excerpt(row, 1000).request == row.request


def test_a_form_of_plain_fields_is_read():
    schema = {
        "type": "object",
        "properties": {
            "branch": {"type": "string", "title": "Branch", "enum": ["main", "dev"], "default": "dev"},
            "count": {"type": "integer", "description": "How many"},
            "speed": {"oneOf": [{"const": "s", "title": "Slow"}, {"const": "f"}]},
        },
        "required": ["branch"],
    }
    assert asked(schema=schema).fields == [
        Field(
            "branch",
            "Branch",
            "string",
            required=True,
            choices=[Choice("main", "main"), Choice("dev", "dev")],
            default="dev",
        ),
        Field("count", "count", "integer", "How many"),
        Field("speed", "speed", "string", choices=[Choice("s", "Slow"), Choice("f", "f")]),
    ]


@pytest.mark.parametrize("deep", [{"type": "object"}, {"type": "array", "items": {}}, {"enum": [1, {}]}, "text"])
def test_a_form_with_other_fields_is_left_to_its_schema(deep):
    card = asked(schema={"properties": {"name": {"type": "string"}, "deep": deep}})
    assert (card.fields, card.schema is not None) == ([], True)


@pytest.mark.parametrize("options", [None, 5, "allow", [None, "allow", []], [{}], [{"id": 1, "kind": ["allow"]}]])
def test_odd_options_are_no_harm(options):
    row = only({**ASKED, "options": options})
    for surface in SURFACES:
        render([row], PresentationContext(), surface)


def test_a_card_is_json_without_what_is_not_set():
    card = msgspec.to_builtins(asked(options=[{"id": "go", "label": "Go"}], expires=None, screen_offset=None))
    assert card == {
        "request_id": "r1-120",
        "kind": "approval",
        "state": "open",
        "hash": "0123456789abcdef",
        "options": [{"id": "go", "label": "Go", "kind": "choice"}],
    }


def test_states_of_an_agent_are_no_rows_but_its_failure_is():
    states = [{"type": "agent_state", "state": state} for state in ("starting", "idle", "working", "waiting", "exited")]
    assert timeline(*states).rows == []
    row = only(*states, {"type": "agent_state", "state": "exited", "error": "no key"})
    assert (row.kind, row.status, row.text) == ("notice", "error", "Agent exited: no key")


def test_an_exit_ends_the_message_that_streams():
    delta = {"type": "assistant_delta", "message_id": "m", "text": "Half a"}
    assert only(delta, {"type": "agent_state", "state": "exited"}).status == "none"


def test_a_message_of_pictures_alone_is_a_row():
    row = only({"type": "user_message", "text": "", "attachments": ["one.png", {"id": "two.png"}, 3]})
    assert [block.source for block in row.blocks] == ["one.png", "two.png"]


def test_what_kind_it_is_travels():
    """Fields with the default value are written where the event needs them."""
    from vantage.events import event_to_dict

    assert event_to_dict(decode_event({"type": "request", "kind": "question"}))["kind"] == "question"
