"""`vantage blocks`, `read`, `search`: what was run, what it printed, and where something stands."""

import re
import time
from typing import Any
from urllib.parse import urlencode

import click

from vantage.cli.client import Client
from vantage.cli.homes import chosen, conversation_argument, home_option
from vantage.cli.output import progress
from vantage.cli.shared import WrongUsage
from vantage.cli.streams import foreign
from vantage.cli.tables import Cell, ago, length, table
from vantage.cli.verb import (
    Verb,
    addressed,
    client_of,
    json_option,
    note,
    one_word,
    print_json,
    print_text,
    words_argument,
)

_PAGE = 1000
_AGAIN_S = 0.2
_EVERYTHING = 1 << 31
"""Characters: more than anybody has."""


@click.command(cls=Verb)
@conversation_argument
@click.option("--after", type=click.IntRange(min=0), metavar="SEQ", help="Only those behind this number.")
@click.option("--limit", type=click.IntRange(1, _PAGE), metavar="N", help="At most so many.  [default: the last 20]")
@json_option
@home_option
def blocks(conversation: str | None, after: int | None, limit: int | None, as_json: bool, home: str | None) -> None:
    """List the commands that ran, oldest first."""
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        if as_json:
            print_json(client.pty(chosen_one, "blocks", after=after, limit=limit))
            return
        found = all_blocks(client, chosen_one, after or 0)
    found = found[-(limit or 20) :] if after is None else found[: limit or _PAGE]
    rows = [
        (each["block_id"], *_outcome(each), length(each["duration_ms"]), ago(each["ts_begin"]), each["cmd"])
        for each in found
    ]
    if rows:
        print_text(table(rows, ("BLOCK", "EXIT", "TOOK", "AGO", "COMMAND")))
    else:
        note("nothing was run yet")


def all_blocks(client: Client, conversation: str, after: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while page := client.pty(conversation, "blocks", after=after, limit=_PAGE)["blocks"]:
        found += page
        after = page[-1]["seq"]
        if len(page) < _PAGE:
            break
    return found


def _outcome(block: dict[str, Any]) -> tuple[Cell]:
    code, because = block["exit_code"], block["done_because"]
    if because is None:
        return (Cell("runs", "33"),)
    if code is None:
        return (Cell(because, "31"),)
    return (Cell(str(code), "31" if code else "32"),)


@click.command(cls=Verb)
@words_argument("[CONVERSATION] [BLOCK]")
@click.option(
    "--max-output", type=click.IntRange(min=1), metavar="N", help="Characters, head and tail.  [default: 30000]"
)
@click.option("--part", type=click.Choice(["head", "tail", "both"]), help="Which of them.  [default: both]")
@click.option("--all", "everything", is_flag=True, help="All of it.")
@json_option
@home_option
def read(
    words: tuple[str, ...],
    max_output: int | None,
    part: str | None,
    everything: bool,
    as_json: bool,
    home: str | None,
) -> None:
    """Print what a command printed: BLOCK, as `vantage blocks` and `vantage exec --detach` name it, or the last one."""
    conversation, rest = addressed(words, enough=len(words) == 1 and bool(re.fullmatch(r"b\d+", words[0])))
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        block_id = one_word(rest, "the block") if rest else _last_block(client, chosen_one)
        limit = _EVERYTHING if everything else max_output
        answer = client.pty(chosen_one, "read_block", block_id=block_id, max_output=limit, part=part)
    if as_json:
        print_json(answer)
        return
    if answer["output"]:
        print_text(foreign(answer["output"].removesuffix("\n")))
    if answer.get("truncated"):
        note(f"{answer['omitted_bytes']:,} bytes of {block_id} are left out: --all prints them")


def _last_block(client: Client, conversation: str) -> str:
    found = all_blocks(client, conversation)
    if not found:
        raise click.ClickException(f"nothing was run in '{conversation}' yet: vantage exec {conversation} -- COMMAND")
    return str(found[-1]["block_id"])


@click.command(cls=Verb)
@words_argument("[CONVERSATION] QUERY")
@click.option("--regex", is_flag=True, help="QUERY is a regular expression (RE2).")
@click.option("--limit", type=click.IntRange(1, 1000), metavar="N", help="At most so many lines.  [default: 50]")
@click.option("--all", "everywhere", is_flag=True, help="In all conversations: their commands, output and messages.")
@json_option
@home_option
def search(
    words: tuple[str, ...], regex: bool, limit: int | None, everywhere: bool, as_json: bool, home: str | None
) -> None:
    """Find lines in what a conversation's terminal printed."""
    conversation, rest = addressed(words, enough=everywhere or len(words) == 1)
    query = one_word(rest, "what to look for")
    if everywhere and (regex or conversation):
        raise WrongUsage("--all takes words to look for: neither --regex nor a conversation goes with it")
    with client_of(home) as client:
        if everywhere:
            answer = _search_all(client, {"q": query, **({} if limit is None else {"limit": limit})})
        else:
            fields = {"query": query, "regex": regex or None, "limit": limit}
            answer = client.pty(chosen(conversation, client.home), "search", **fields)
    if as_json:
        print_json(answer)
        return
    if not answer["hits"]:
        raise click.ClickException(f"nothing has {query!r}: try fewer words, or --regex")
    print_text(table([_hit(hit) for hit in answer["hits"]]))
    if answer.get("next") or not answer.get("complete", True):
        note("there is more: --limit N finds it")


def _search_all(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """Once the index has caught up with the logs: after it was made anew that takes a while."""
    shown, whole = progress(), 0
    while True:
        answer = client.ask("GET", f"/v1/search?{urlencode(asked)}")
        behind = answer.get("behind", 0)
        whole = max(whole, behind)
        if not behind:
            if whole:
                shown(whole, whole)
            return answer
        shown(whole - behind, whole)
        time.sleep(_AGAIN_S)


def _hit(hit: dict[str, Any]) -> tuple[str, ...]:
    if "conversation_id" in hit:
        where = f"{hit['conversation_id']}:{hit.get('block_id') or hit['seq']}"
        return Cell(where, "36"), Cell(hit["kind"], "2"), hit["text"]
    return Cell(f"{hit['block_id'] or '-'}:{hit['line']}", "36"), hit["text"]
