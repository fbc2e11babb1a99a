"""The benchmarks' own machinery. What they measure is never a test: time depends on the machine."""

import json
import sys
from functools import cache
from importlib import import_module
from xml.etree import ElementTree as ET

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT))

from bench import __main__ as command
from bench.data import corpus, peer_rows
from bench.run import harness, plot
from bench.run.harness import Benchmark, Result, at_least, at_most

from vantage.document.markdown import parse
from vantage.document.nodes import CodeBlock, Heading, ListBlock, Paragraph, Quote, Table
from vantage.events import UnknownEvent, decode_event
from vantage.formatter import Formatter, FormatterConfig

SILENT = {"turn_complete"}


@cache
def lines():
    return [json.dumps(event).encode() for event in corpus.conversation()]


def test_the_corpus_is_the_same_every_time(tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        corpus.write(folder)
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders)
    assert first == second


@pytest.mark.parametrize("size", [corpus.SMALL, corpus.LARGE])
def test_messages_have_the_promised_size(size):
    assert size <= len(corpus.message(size).encode()) < size + 5_000


def test_a_message_holds_what_models_write():
    text = corpus.message(corpus.SMALL)
    blocks = parse(text)
    assert {type(block) for block in blocks} >= {Paragraph, Heading, ListBlock, CodeBlock, Table, Quote}
    assert all(piece in text for piece in ("日本語", "🚀", "](https://", "**", "- [x]"))
    code = [block.text for block in blocks if isinstance(block, CodeBlock)]
    assert len(set(code)) == len(code), "a cache of highlighted code would help"
    assert 0.15 < sum(map(len, code)) / len(text) < 0.35


def test_chunks_are_the_text_in_pieces():
    text = corpus.message(10_000)
    pieces = corpus.chunks(text, 200)
    assert len(pieces) == 200
    assert "".join(pieces) == text
    assert {len(piece) for piece in pieces} <= {len(text) // 200, len(text) // 200 + 1}


def test_the_conversation_is_mixed():
    events = corpus.conversation()
    assert len(events) == corpus.EVENTS
    assert {event["type"] for event in events} >= {
        "user_message", "assistant_text", "assistant_reasoning", "tool_start", "tool_end", "error", "turn_complete",
    }  # fmt: skip
    tools = {event["tool"] for event in events if event["type"] == "tool_start"}
    assert tools >= {"shell", "read_file", "edit", "apply_patch", "update_plan", "grep", "mcp__tracker__list_issues"}
    assert any(event.get("agent", {}).get("depth") for event in events)


def test_every_event_decodes_and_formats():
    formatter = Formatter()
    for line in lines():
        event = decode_event(line)
        assert not isinstance(event, UnknownEvent)
        assert not event.extra
        assert bool(formatter.format_event(event, 100)) == (event.type not in SILENT)


def test_a_peer_is_given_the_text_that_we_show():
    formatter = Formatter(FormatterConfig(plain_text=True))
    shown = [text for line in lines() if (text := formatter.format_event(line))]
    given = peer_rows.peer_rows(lines())
    assert len(given) == len(shown)
    for row, text in zip(given, shown, strict=True):
        assert "markdown" in row or "".join([piece for piece, _ in row["spans"]]) == text


def test_every_benchmark_has_its_two_functions():
    for benchmark in command.BENCHMARKS:
        for target in (benchmark.ours, benchmark.peer):
            module, _, function = target.rpartition(".")
            assert callable(getattr(import_module(f"bench.{module}"), function))


def test_lines_of_one_run_are_measured_once(tmp_path):
    """Each of them gets its own number of the run."""
    lines = command.chosen(["page:open", "page:elements"])
    both = [line._replace(ours="page.promised", rounds=1) for line in lines]
    assert [*harness.together([*both, *command.chosen(["fanout"])])] == [both, command.chosen(["fanout"])]
    found = harness.measure(both, tmp_path)
    assert [(result.benchmark.name, result.ours) for result in found] == [
        ("page:open", [1000.0]),
        ("page:elements", [4000.0]),
    ]


def test_a_short_line_says_where_its_reason_is(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "DOCS", tmp_path / "docs.md")
    command.DOCS.write_text(f"- `fit_tables`\n\n## {command.WHY}\n\n- `format_events` lacks this.\n")
    made_up(monkeypatch, 5.0)
    command.main(["format_events", "fit_tables"])
    assert capsys.readouterr().err.splitlines() == [
        "format_events is short: see 'What stands in the way' in docs/docs.md",
        "fit_tables is short: not explained in docs/docs.md",
    ]


def test_every_benchmark_is_explained():
    text = (ROOT / "docs/performance.md").read_text()
    for benchmark in command.BENCHMARKS:
        assert f"`{benchmark.name}`" in text


def result(bar, ours, peer):
    return Result(Benchmark("some:thing", "ours.x", "peers.y", bar), ours, peer)


@pytest.mark.parametrize(
    ("bar", "ours", "peer", "ratio", "verdict"),
    [
        (at_least(10), [10.0, 12.0, 11.0], [130.0, 121.0, 100.0], "11.00x", "ok"),
        (at_least(10), [20.0], [130.0], "6.50x", "short"),
        (at_most(4), [20.0], [10.0], "2.00x", "ok"),
        (at_most(4), [50.0], [10.0], "5.00x", "short"),
        (at_most(1.5), [0.03], [0.02], "1.50x", "ok"),
    ],
)
def test_the_line_says_how_it_went(bar, ours, peer, ratio, verdict):
    line = result(bar, ours, peer).line()
    name, _, _, _, _, _, _, shown, direction, value, last = line.split()
    assert (name, shown, f"{direction} {value}", last) == ("some:thing", ratio, str(bar), verdict)


def test_lines_are_aligned_under_their_heads():
    head = harness.columns(*harness.COLUMNS)
    line = result(at_least(10), [10.0, 12.0, 11.0], [130.0, 121.0, 100.0]).line()
    assert head == "name                                            ours                    peer     ratio       bar"
    assert (
        line == "some:thing                              11.0 ±0.5 ms           121.0 ±7.5 ms    11.00x    >= 10x  ok"
    )


def made_up(monkeypatch, ours):
    monkeypatch.setattr(command.corpus, "write", lambda folder: None)
    monkeypatch.setattr(command.peer_rows, "write", lambda folder: None)
    monkeypatch.setattr(
        command.harness, "measure", lambda lines, folder, quick: [Result(line, [ours], [1.0]) for line in lines]
    )


@pytest.mark.parametrize(("ours", "flags", "code"), [(0.01, ["--check"], 0), (5.0, ["--check"], 1), (5.0, [], 0)])
def test_check_fails_when_one_is_short(monkeypatch, capsys, ours, flags, code):
    made_up(monkeypatch, ours)
    assert command.main([*flags, "format_events", "fit_tables"]) == code
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "name", "format_events", "fit_tables",
    ]  # fmt: skip


def test_json_has_every_round(monkeypatch, tmp_path):
    made_up(monkeypatch, 2.0)
    file = tmp_path / "report.json"
    command.main(["stream_markdown", "--json", str(file)])
    report = json.loads(file.read_text())
    lines = [f"stream_markdown:{line}" for line in ("one-shot", "streamdown", "textual", "growth")]
    assert [one["name"] for one in report["results"]] == [*report["seconds"]] == lines
    assert report["results"][0]["ours_rounds"] == [2.0]
    assert report["results"][0]["ratio"] == 2.0


def test_a_run_as_a_picture():
    results = [result(at_least(10), [1.0], [20.0]), result(at_most(2), [30.0], [10.0])]
    drawn = ET.fromstring(plot.svg({"results": [one.to_dict() for one in results]}))
    bars = [bar for bar in drawn.iter("{http://www.w3.org/2000/svg}rect") if bar.get("rx")]
    middle = plot.LEFT + plot.WIDTH / 2
    assert float(bars[0].get("x")) == middle, "better than its bar: to the right"
    assert float(bars[1].get("x")) + float(bars[1].get("width")) == pytest.approx(middle, abs=0.2)
    assert "3.00x, bar <= 2x short" in "".join(drawn.itertext())


def test_a_run_in_the_documentation(tmp_path, monkeypatch):
    """A new run takes the place of the last one."""
    made_up(monkeypatch, 0.01)
    (tmp_path / "pictures").mkdir()
    page = tmp_path / plot.PAGE
    page.write_text(f"before\n{plot.BEGIN}last year\n{plot.END}after\n")
    for names in (["fit_tables"], ["format_events"]):
        command.main([*names, "--json", str(tmp_path / "report.json")])
        plot.write(json.loads((tmp_path / "report.json").read_text()), tmp_path)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith(f"{plot.END}after\n")
    assert "format_events" in text
    assert not any(gone in text for gone in ("last year", "fit_tables"))
    assert (tmp_path / plot.PICTURE).read_text().startswith("<svg")
    assert plot.BEGIN in (ROOT / "docs" / plot.PAGE).read_text()


def test_an_unknown_name_is_refused():
    with pytest.raises(SystemExit, match="there is no 'format_event': one of format_events, "):
        command.chosen(["format_event"])


def test_two_processes_take_turns(tmp_path):
    benchmark = Benchmark("turns", "formatting.start_python", "formatting.start_python", at_most(5), units=(1, 2))
    (found,) = harness.measure([benchmark], tmp_path, quick=True)
    assert len(found.ours) == len(found.peer) == 3
    assert min(found.ours + found.peer) > 0


def test_missing_peers_are_said(monkeypatch, tmp_path):
    monkeypatch.setitem(harness.PYTHONS, "peers.drawing", tmp_path / "python")
    with pytest.raises(SystemExit, match="'make bench' installs"):
        harness.measure([Benchmark("x", "peers.drawing.rich_events", "formatting.draw_once", at_most(1))], tmp_path)
