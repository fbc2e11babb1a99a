"""Links that show one address and lead to another are marked, wherever the address is not seen otherwise."""

import json

import pytest

from vantage import Formatter, FormatterConfig
from vantage.document.addresses import real_address, shows_another
from vantage.presentation import PresentationContext, profile
from vantage.surfaces import render
from vantage.timeline.row import MarkdownBlock, Row

ANOTHER = [
    ("http://bank.example", "http://evil.example"),
    ("https://bank.example/login", "https://evil.example/bank.example"),
    ("bank.example", "http://evil.example"),
    ("www.bank.example", "http://evil.example"),
    ("//bank.example/x", "http://evil.example"),
    ("Go to bank.example now", "http://evil.example"),
    ("(bank.example)", "http://evil.example"),
    ("BANK.EXAMPLE", "http://evil.example"),
    ("HTTPS:\\\\bank.example", "http://evil.example"),
    ("bank.example:443", "http://evil.example"),
    ("bank.example", "http://bank.example.evil.example"),
    ("http://bank.example http://evil.example", "http://evil.example"),
    ("http://bank.example@evil.example", "http://bank.example@evil.example"),
    ("http://bank.example@evil.example", "http://evil.example"),
    ("https://bank.example:x@evil.example/login", "https://evil.example/login"),
    ("docs", "http://bank.example@evil.example"),
    ("http://bank.example", "http://bank.example%40evil.example/"),
    ("ba\u200bnk.exa\u00admple", "http://evil.example"),
    ("\u202ebank.example", "http://evil.example"),
    ("ｂａｎｋ。example", "http://evil.example"),
    ("b\u0430nk.example", "http://bank.example"),
    ("bücher.example", "http://xn--bcher-evil.example"),
    ("1.2.3.4", "http://5.6.7.8"),
    ("help@bank.example", "mailto:help@evil.example"),
    ("help@bank.example", "http://evil.example"),
    ("bank.example", "mailto:x@evil.example"),
    ("bank.py", "http://evil.example"),
]
SAME = [
    ("http://bank.example", "http://bank.example/path?x#y"),
    ("bank.example", "https://www.bank.example:443/"),
    ("www.bank.example.", "http://bank.example"),
    ("bücher.example", "http://xn--bcher-kva.example/"),
    ("bücher.example", "http://b%C3%BCcher.example/"),
    ("see http://bank.example/x, please", "http://bank.example/y"),
    ("help@bank.example", "mailto:help@bank.example?subject=x"),
    ("documentation", "http://bank.example"),
    ("main.py", "https://code.example/src/main.py"),
    ("Node.js", "https://nodejs.example"),
    ("v1.2.3", "https://code.example/v1.2.3"),
    ("e.g. this", "http://bank.example"),
    ("", "http://bank.example"),
]
SURFACES = [
    ("html", profile("web")),
    ("telegram", profile("telegram")),
    ("telegram", PresentationContext(client_type="telegram", content_width=45, supports_tables=True)),
    ("slack", profile("slack")),
    ("slack", PresentationContext(client_type="plain", content_width=80)),
    ("terminal", PresentationContext()),
    ("plain", PresentationContext(supports_rich_text=False)),
]


@pytest.mark.parametrize(("text", "url"), ANOTHER)
def test_another_address(text, url):
    assert shows_another(text, url)


@pytest.mark.parametrize(("text", "url"), SAME)
def test_no_other_address(text, url):
    assert not shows_another(text, url)


def test_the_real_address_has_no_user_name():
    assert real_address("http://bank.example@evil.example/x@y") == "http://evil.example/x@y"
    assert real_address("mailto:a@b.example") == "mailto:a@b.example"


def drawn(markdown: str, surface: str, context: PresentationContext) -> str:
    row = Row(id="r", kind="message", blocks=[MarkdownBlock(markdown)])
    return json.dumps(render([row], context, surface), ensure_ascii=False)


@pytest.mark.parametrize(("surface", "context"), SURFACES)
def test_a_link_that_shows_another_address_says_where_it_leads(surface, context):
    for link in (
        "[http://bank.example](http://evil.example)",
        "[**bank**.example](http://evil.example)",
        "[bank.example][x]\n\n[x]: http://evil.example",
        "[http://evil.example](http://bank.example@evil.example)",
        "<http://bank.example@evil.example>",
    ):
        shown = drawn(link, surface, context).replace("](http", "")  # an address in markup is not seen
        assert "(http://evil.example)" in shown, link


@pytest.mark.parametrize(("surface", "context"), SURFACES[:5])
def test_a_link_with_words_for_a_text_stays_as_it_is(surface, context):
    assert "(http" not in drawn("[the documentation](http://docs.example)", surface, context).replace("](http", "")


def test_a_terminal_with_links_says_it_too():
    event = {"type": "assistant_text", "text": "[http://bank.example](http://evil.example)"}
    assert "(http://evil.example)" in Formatter(FormatterConfig(hyperlinks=True)).format_event(event, 80)
