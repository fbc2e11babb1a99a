"""The OpenAPI document is complete, and true: Schemathesis asks a live server whatever the document allows, and more.

Commands that it makes up run in shells that find no program, in a folder of their own.
"""

import json
import re
import secrets
import tempfile
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest
import schemathesis
from hypothesis import settings
from jsonschema import Draft202012Validator, ValidationError
from schemathesis.specs.openapi.definitions import OPENAPI_31

from server_home import Server, serving
from terminal_home import environment
from vantage import errors
from vantage.conversation.verbs.verb import Params
from vantage.server.http.examples import EXAMPLES
from vantage.server.http.openapi import document
from vantage.server.http.statuses import STATUSES

DOCUMENT = json.loads(document("http://127.0.0.1"))
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT).exclude(path="/v1/demo")
"""Without the demo, which runs real programs for a minute."""
OPERATIONS = [(path, method, said) for path, each in DOCUMENT["paths"].items() for method, said in each.items()]
EVENTS = "/v1/conversations/{conversation_id}/events"
ELSEWHERE = [
    schemathesis.checks.positive_data_acceptance,  # whether a terminal can do something depends on what it does now
    schemathesis.checks.ignored_auth,  # takes a wrong cookie beside the right token for a wrong token
]
LONGEST_WAIT = 20
"""Milliseconds: nothing that was made up is worth a wait."""
PATH_EXAMPLES = {
    parameter["name"]: parameter["example"]
    for *_, said in OPERATIONS
    for parameter in said.get("parameters", ())
    if parameter["in"] == "path"
}
NEVER_OVER_HTTP = ("home_taken", "unsafe_home", "no_server", "out_of_order")
"""Errors of a server that does not start, of a client that finds none, and between a server and the PTY host."""


def every_error():
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.VantageError)]


@pytest.fixture(scope="module")
def fuzzed():
    with tempfile.TemporaryDirectory(prefix="vantage-test-") as place:
        home, folder = Path(place) / "home", Path(place) / "folder"
        home.mkdir()
        folder.mkdir()
        with serving(home) as server:
            yield Fuzzed(server, folder)


class Fuzzed:
    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.live = self.conversation()

    def conversation(self) -> str:
        """One whose shell finds no program."""
        said = {"id": f"f-{secrets.token_hex(5)}", "shell": "/bin/bash", "cwd": str(self.folder), "user_rc": False}
        env = environment(PATH=str(self.folder / "none"), HOME=str(self.folder))
        made = self.server.post("/v1/conversations", {**said, "env": env})
        assert made.status == 201, made.body
        return made.json["id"]


def test_it_is_an_openapi_document():
    assert DOCUMENT["openapi"].startswith("3.1.")
    jsonschema_rs.validator_for(OPENAPI_31).validate(DOCUMENT)
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    ids = [said["operationId"] for *_, said in OPERATIONS]
    assert len(set(ids)) == len(ids)


def test_every_reference_leads_somewhere():
    found = set(re.findall(r'"\$ref": "#/components/(\w+/\w+)"', json.dumps(DOCUMENT)))
    known = {f"{kind}/{name}" for kind, each in DOCUMENT["components"].items() for name in each}
    assert found <= known
    assert known - found == {"securitySchemes/token"}


def test_everything_has_a_description():
    for path, method, said in OPERATIONS:
        assert said["summary"], path
        for parameter in said.get("parameters", ()):
            assert parameter["description"], (path, parameter["name"])
        assert {"400", "429", "500", "503"} <= set(said["responses"]), (path, method)
    for name, schema in DOCUMENT["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            assert "description" in described or field == "ok", (name, field)


def strict(schema):
    """The schema, with no other fields than it names. A field that is an object of any kind stays one."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: strict(value) for name, value in schema.items()}
    if "properties" in schema and isinstance(schema["properties"], dict) and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


COMPONENTS = strict(DOCUMENT["components"])


def check(value, schema):
    """Raises unless the value has the schema, with no field that the schema does not name."""
    Draft202012Validator({**strict(schema), "components": COMPONENTS}).validate(value)


def test_a_field_that_no_schema_names_is_found():
    schema = {"$ref": "#/components/schemas/BlocksAnswer"}
    example = DOCUMENT["paths"]["/v1/conversations/{conversation_id}/pty/blocks"]["post"]["responses"]["200"]
    value = example["content"]["application/json"]["example"]
    check(value, schema)
    with pytest.raises(ValidationError, match="'surprise' was unexpected"):
        check({**value, "blocks": [{**value["blocks"][0], "surprise": True}]}, schema)


def bodies(said):
    """The JSON of a request, and of its success."""
    parts = [answer for status, answer in said["responses"].items() if status.startswith("2")]
    parts += [said["requestBody"]] if "requestBody" in said else []
    return [part["content"]["application/json"] for part in parts if "application/json" in part["content"]]


@pytest.mark.parametrize(("path", "method", "said"), OPERATIONS, ids=[said["operationId"] for *_, said in OPERATIONS])
def test_every_json_has_an_example_that_fits(path, method, said):
    for content in bodies(said):
        if path != "/v1/openapi.json":
            check(content["example"], content["schema"])
    for parameter in said.get("parameters", ()):
        if "example" in parameter:
            check(parameter["example"], parameter["schema"])


@pytest.mark.parametrize("status", DOCUMENT["components"]["responses"])
def test_every_error_has_an_example_that_fits(status):
    content = DOCUMENT["components"]["responses"][status]["content"]["application/json"]
    check(content["example"], content["schema"])


def test_examples_are_values_of_every_type():
    for kind, example in EXAMPLES.items():
        assert type(example) is kind
        if isinstance(example, Params):
            assert msgspec.convert(msgspec.to_builtins(example), kind) == example


@pytest.mark.parametrize("kind", [error for error in every_error() if error.status in STATUSES])
def test_every_code_of_an_error_is_in_its_status(kind):
    assert kind.code in (*STATUSES[kind.status].codes, *NEVER_OVER_HTTP), kind


def test_examples_of_requests_are_understood(fuzzed):
    """In any state of the terminal, requests are not refused as invalid, and answers have only fields of the schema."""
    for path, method, said in OPERATIONS:
        if "requestBody" not in said or path in ("/login", "/v1/demo", "/v1/conversations"):
            continue
        where = path.replace("{conversation_id}", fuzzed.live)
        where = re.sub(r"\{(\w+)\}", lambda found: PATH_EXAMPLES[found[1]], where)
        body = said["requestBody"]["content"]["application/json"]["example"]
        body = {**body, "timeout_ms": 0} if "timeout_ms" in body else body
        answer = fuzzed.server.ask(method.upper(), where, body)
        assert answer.status != 422, (path, answer.body)
        assert "warnings" not in answer.json
        content = said["responses"][str(answer.status)]
        if answer.status < 300:
            check(answer.json, content["content"]["application/json"]["schema"])


def answers_as_documented(case, fuzzed):
    operation = case.operation
    known = case.path_parameters.get("conversation_id")
    if known is not None and case.meta.generation.mode.is_positive:
        # What ends a conversation, or fills it with thousands of events, gets one of its own. So does a new size: bash
        # crashes now and then in a terminal of one row and two columns.
        apart = operation.method == "delete" or operation.label.endswith(("/close", "/resize", "POST " + EVENTS))
        case.path_parameters["conversation_id"] = fuzzed.conversation() if apart else fuzzed.live
    if operation.path.endswith(("/exec_block", "/wait_for")) and isinstance(case.body, dict):
        asked = case.body.get("timeout_ms", LONGEST_WAIT)
        if (isinstance(asked, int) and asked > LONGEST_WAIT) or "timeout_ms" not in case.body:
            case.body["timeout_ms"] = LONGEST_WAIT
    for given in (case.query, case.body):
        if isinstance(given, dict) and operation_waits(operation, given):
            given["wait"] = LONGEST_WAIT / 1000
    case.call_and_validate(
        base_url=fuzzed.server.url,
        headers={"Authorization": f"Bearer {fuzzed.server.token}"},
        excluded_checks=ELSEWHERE,
    )


def operation_waits(operation, given):
    """Whether a request to a person would be waited for."""
    wait = str(given.get("wait", ""))
    return "/requests" in operation.path and wait.replace(".", "", 1).isdigit() and float(wait) > LONGEST_WAIT / 1000


def of_operation(path, method):
    """A test of one operation. Schemathesis gives all operations of one test the same node id under pytest 9."""

    @SCHEMA.include(path=path, method=method.upper()).parametrize()
    @settings(max_examples=5, derandomize=True, deadline=None)
    def test(case, fuzzed):
        answers_as_documented(case, fuzzed)

    return test


for path, method, said in OPERATIONS:
    if path != "/v1/demo":
        globals()[f"test_every_answer_is_as_documented_{said['operationId']}"] = of_operation(path, method)
