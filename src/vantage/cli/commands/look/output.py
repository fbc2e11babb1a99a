"""`vantage blocks`, `read`, `search`: the commands that ran, what they printed, and the lines that have a text."""

import re
from typing import Any, Literal
from urllib.parse import urlencode

import click

from vantage.cli.arguments.command import Verb, addressed, json_option, one_word, words_argument
from vantage.cli.arguments.conversation import chosen, conversation_argument, home_option
from vantage.cli.display.output_file import progress
from vantage.cli.display.printing import note, print_json, print_text
from vantage.cli.display.streams import foreign
from vantage.cli.display.tables import Cell, ago, length, table
from vantage.cli.errors import WrongUsage
from vantage.cli.home_client import HomeClient, client_of
from vantage.client import calls
from vantage.client.requests import request
from vantage.client.retry import Retry

_PAGE = 1000
_EVERYTHING = 1 << 31
"""Characters: more than a block can have."""


@click.command(cls=Verb)
@conversation_argument
@click.option("--after", type=click.IntRange(min=0), metavar="SEQ", help="Only those after this number.")
@click.option("--limit", type=click.IntRange(1, _PAGE), metavar="N", help="At most N.  [default: the last 20]")
@json_option
@home_option
def blocks(conversation: str | None, after: int | None, limit: int | None, as_json: bool, home: str | None) -> None:
    """List the commands that ran, oldest first."""
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        if as_json:
            print_json(client.pty(chosen_one, calls.blocks(after, limit)))
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


def all_blocks(client: HomeClient, conversation: str, after: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while page := client.pty(conversation, calls.blocks(after, _PAGE))["blocks"]:
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
@click.option("--part", type=click.Choice(["head", "tail", "both"]), help="Which part of the output.  [default: both]")
@click.option("--all", "everything", is_flag=True, help="All of it.")
@click.option("--search", metavar="TEXT", help="Only the lines that have TEXT, numbered, with the lines around them.")
@click.option("--regex", is_flag=True, help="TEXT is a regular expression (RE2).")
@click.option("--context", type=click.IntRange(0, 100), metavar="N", help="Lines around each.  [default: 2]")
@json_option
@home_option
def read(
    words: tuple[str, ...],
    max_output: int | None,
    part: Literal["head", "tail", "both"] | None,
    everything: bool,
    search: str | None,
    regex: bool,
    context: int | None,
    as_json: bool,
    home: str | None,
) -> None:
    """Print what a command printed: BLOCK, as `vantage blocks` and `vantage exec --detach` name it, or the last one."""
    if search is None and (regex or context is not None):
        raise WrongUsage("--regex and --context go with --search TEXT")
    conversation, rest = addressed(words, enough=len(words) == 1 and bool(re.fullmatch(r"b\d+", words[0])))
    with client_of(home) as client:
        chosen_one = chosen(conversation, client.home)
        block_id = one_word(rest, "the block") if rest else _last_block(client, chosen_one)
        limit = _EVERYTHING if everything else max_output
        asked = calls.read_block(
            block_id, max_output=limit, part=part, search=search, regex=regex or None, context=context
        )
        answer = client.pty(chosen_one, asked)
    if as_json:
        print_json(answer)
        return
    if search is not None and not answer["found"]:
        raise click.ClickException(f"no line of {block_id} has {search!r}: try a shorter text, or --regex")
    if answer["output"]:
        print_text(foreign(answer["output"].removesuffix("\n")))
    if search is None and answer.get("truncated"):
        note(f"{answer['omitted_bytes']:,} bytes of {block_id} are left out: --all prints them")


def _last_block(client: HomeClient, conversation: str) -> str:
    found = all_blocks(client, conversation)
    if not found:
        raise click.ClickException(f"nothing was run in '{conversation}' yet: vantage exec {conversation} -- COMMAND")
    return str(found[-1]["block_id"])


@click.command(cls=Verb)
@words_argument("[CONVERSATION] QUERY")
@click.option("--regex", is_flag=True, help="QUERY is a regular expression (RE2).")
@click.option("--limit", type=click.IntRange(1, 1000), metavar="N", help="At most N lines.  [default: 50]")
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
            call = calls.search(query, regex=regex or None, limit=limit)
            answer = client.pty(chosen(conversation, client.home), call)
    if as_json:
        print_json(answer)
        return
    if not answer["hits"]:
        raise click.ClickException(f"nothing has {query!r}: try fewer words, or --regex")
    print_text(table([_hit(hit) for hit in answer["hits"]]))
    if answer.get("next") or not answer.get("complete", True):
        note("there is more: --limit N finds it")


def _search_all(client: HomeClient, asked: dict[str, Any]) -> dict[str, Any]:
    """The answer once the index has caught up with the logs, which takes a while if it was made anew."""
    whole, retry = 0, Retry()
    with progress() as show:
        while True:
            answer = client.answer(request("GET", f"/v1/search?{urlencode(asked)}"))
            behind = answer.get("behind", 0)
            if not behind:
                return answer
            whole = max(whole, behind)
            show(whole - behind, whole)
            retry.pause()


def _hit(hit: dict[str, Any]) -> tuple[str, ...]:
    if "conversation_id" in hit:
        where = f"{hit['conversation_id']}:{hit.get('block_id') or hit['seq']}"
        return Cell(where, "36"), Cell(hit["kind"], "2"), hit["text"]
    return Cell(f"{hit['block_id'] or '-'}:{hit['line']}", "36"), hit["text"]
