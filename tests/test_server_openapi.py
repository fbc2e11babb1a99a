"""The OpenAPI document is complete, and true: Schemathesis asks a live server whatever the document allows, and more.

Commands that it makes up run in shells that find no program, in a folder of their own.
"""

import json
import secrets
import tempfile
from pathlib import Path

import pytest
import schemathesis
from hypothesis import settings
from jsonschema import Draft202012Validator

from server_home import Server, serving
from terminal_home import environment
from vantage.server.openapi import document

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
"""Milliseconds: nobody waits for what was made up."""


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


def test_everything_has_a_description():
    for path, method, said in OPERATIONS:
        assert said["summary"], path
        for parameter in said.get("parameters", ()):
            assert parameter["description"], (path, parameter["name"])
        assert {"400", "429", "500", "503"} <= set(said["responses"]), (path, method)
    for name, schema in DOCUMENT["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            assert "description" in described or field == "ok", (name, field)


@pytest.mark.parametrize(("path", "method", "said"), OPERATIONS, ids=[said["operationId"] for *_, said in OPERATIONS])
def test_every_json_has_an_example_that_fits(path, method, said):
    parts = [answer for status, answer in said["responses"].items() if status.startswith("2")]
    parts += [said["requestBody"]] if "requestBody" in said else []
    parts += DOCUMENT["components"]["responses"].values()
    for part in parts:
        content = part["content"].get("application/json")
        if content is not None and path != "/v1/openapi.json":
            schema = {**content["schema"], "components": DOCUMENT["components"]}
            Draft202012Validator(schema).validate(content["example"])


def test_examples_of_requests_are_understood(fuzzed):
    """Whatever a terminal can do with them now, they are not refused as wrong."""
    for path, method, said in OPERATIONS:
        if "requestBody" not in said or path in ("/login", "/v1/demo", "/v1/conversations"):
            continue
        where = path.replace("{conversation_id}", fuzzed.live).replace("{client_id}", "c").replace("{tool}", "t")
        body = said["requestBody"]["content"]["application/json"]["example"]
        body = {**body, "timeout_ms": 0} if "timeout_ms" in body else body
        assert fuzzed.server.ask(method.upper(), where, body).status != 422, path


@SCHEMA.parametrize()
@settings(max_examples=5, derandomize=True, deadline=None)
def test_every_answer_is_as_documented(case, fuzzed):
    operation = case.operation
    known = case.path_parameters.get("conversation_id")
    if known is not None and case.meta.generation.mode.is_positive:
        # what ends a conversation, or fills it with thousands of events, gets one of its own
        apart = operation.method == "delete" or operation.label.endswith(("/close", "POST " + EVENTS))
        case.path_parameters["conversation_id"] = fuzzed.conversation() if apart else fuzzed.live
    if operation.path.endswith(("/exec_block", "/wait_for")) and isinstance(case.body, dict):
        asked = case.body.get("timeout_ms", LONGEST_WAIT)
        if (isinstance(asked, int) and asked > LONGEST_WAIT) or "timeout_ms" not in case.body:
            case.body["timeout_ms"] = LONGEST_WAIT
    case.call_and_validate(
        base_url=fuzzed.server.url,
        headers={"Authorization": f"Bearer {fuzzed.server.token}"},
        excluded_checks=ELSEWHERE,
    )
