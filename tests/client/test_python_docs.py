"""docs/python.md names every method; `tests/docs` runs its examples."""

import inspect
import re

import pytest

import vantage
from places import ROOT
from vantage.client.settings import Settings

PAGE = (ROOT / "docs" / "python.md").read_text()
NAMED = set(re.findall(r"`(?:server\.|vantage\.)?(\w+)(?:\([^`]*\))?`", PAGE))


def _public(kind) -> set[str]:
    inner = {"call", "link", "answer", "server", "endpoint"}
    return {name for name in dir(kind) if not name.startswith("_")} - inner


@pytest.mark.parametrize("kind", [vantage.Conversation, vantage.AsyncConversation])
def test_every_method_of_a_conversation_is_on_the_page(kind):
    assert _public(kind) <= NAMED


@pytest.mark.parametrize("kind", [vantage.Server, vantage.AsyncServer])
def test_every_method_of_a_server_is_on_the_page(kind):
    assert _public(kind) <= NAMED | {"rows"}


def test_settings_and_arguments_are_on_the_page():
    assert set(Settings.__annotations__) <= NAMED
    for argument in inspect.signature(vantage.connect).parameters:
        assert re.search(rf"\b{argument}\b", PAGE), argument


def test_both_kinds_have_the_same_methods():
    assert _public(vantage.Conversation) == _public(vantage.AsyncConversation)
    assert _public(vantage.Server) - {"close"} == _public(vantage.AsyncServer)
