"""`python -m bench [NAME…] [--json FILE] [--quick] [--check]`."""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench import screen
from bench.data import corpus, peer_rows
from bench.run import harness
from bench.run.harness import Benchmark, at_least, at_most

_CHUNKS = (corpus.CHUNKS * corpus.LARGE // corpus.SMALL, corpus.CHUNKS)
_PIECES = (screen.LARGE, screen.SMALL)

DOCS = harness.ROOT / "docs/performance.md"
WHY = "What stands in the way"

BENCHMARKS = (
    Benchmark("format_events", "formatting.format_events", "peers.drawing.rich_events", at_least(10)),
    Benchmark("format_markdown", "formatting.format_markdown", "peers.drawing.rich_markdown", at_least(10)),
    Benchmark(
        "format_markdown:markdown-it", "formatting.format_markdown", "peers.drawing.markdown_it_parse", at_least(1)
    ),
    Benchmark("stream_markdown:one-shot", "formatting.stream_small", "formatting.draw_once", at_most(4)),
    Benchmark(
        "stream_markdown:streamdown", "formatting.stream_small", "peers.drawing.streamdown", at_most(1), rounds=5
    ),
    Benchmark(
        "stream_markdown:textual", "formatting.stream_start", "peers.drawing.textual_stream", at_least(1), rounds=2
    ),
    Benchmark(
        "stream_markdown:growth",
        "formatting.stream_large",
        "formatting.stream_small",
        at_most(1.5),
        rounds=7,
        units=_CHUNKS,
    ),
    Benchmark("fit_tables", "formatting.fit_tables", "peers.drawing.rich_tables", at_least(8)),
    Benchmark("spec_rows", "formatting.spec_rows", "peers.drawing.rich_calls", at_least(5), rounds=7),
    Benchmark("spec_hostile", "formatting.spec_hostile", "formatting.five_milliseconds", at_most(1), rounds=15),
    *(
        Benchmark(f"screen_feed:{name}", f"screen.feed_{name}", f"screen.pyte_{name}", at_least(80), 7, _PIECES)
        for name in ("plain", "coloured", "redraw")
    ),
    *(
        Benchmark(f"screen_feed:{name}-xterm", f"screen.feed_{name}", f"screen.xterm_{name}", at_least(1), 7)
        for name in ("plain", "coloured", "redraw")
    ),
    Benchmark("screen_conformance", "screen.wrong_ours", "screen.wrong_pyte", at_most(1), 1, unit="cases"),
    Benchmark("screen_delta:row", "screen.delta", "screen.clock_delta", at_most(1), 9, (screen.DELTAS,) * 2),
    Benchmark(
        "screen_delta:snapshot", "screen.snapshot", "screen.clock_snapshot", at_most(1), 9, (screen.SNAPSHOTS,) * 2
    ),
    Benchmark("pty_throughput", "terminal.cat_through", "terminal.cat_bare", at_least(0.8), rounds=5),
    Benchmark(
        "pty_throughput:pexpect", "terminal.cat_through", "peers.pexpect_terminal.cat_through", at_least(1), rounds=2
    ),
    Benchmark("pty_throughput:tmux", "terminal.cat_through", "peers.tmux_terminal.cat_through", at_least(1), rounds=2),
    Benchmark("exec_block", "terminal.exec_true", "terminal.fresh_bash", at_most(0.5)),
    Benchmark("exec_block:tmux", "terminal.exec_true", "peers.tmux_terminal.exec_true", at_least(1), rounds=5),
    Benchmark("wait_latency:pexpect", "terminal.wait_tick", "peers.pexpect_terminal.wait_tick", at_most(2)),
    Benchmark("wait_latency:spool", "terminal.wait_large", "terminal.wait_small", at_most(1.5), rounds=7),
    Benchmark(
        "many_terminals:memory", "terminal.conversations_memory", "terminal.two_megabytes", at_most(1), 3, unit="MB"
    ),
    Benchmark("many_terminals:flood", "terminal.wait_beside_flood", "terminal.wait_tick", at_most(3), rounds=5),
    Benchmark("screen_at", "terminal.screen_at", "terminal.sixty_milliseconds", at_most(1), rounds=5),
    Benchmark("reattach", "terminal.reattach_large", "terminal.reattach_small", at_most(2), rounds=7),
    Benchmark("mcp_start:tools", "mcp_start.listed_cold", "mcp_start.one_second", at_most(1), rounds=5),
    Benchmark("mcp_start:cold", "mcp_start.called_cold", "mcp_start.five_seconds", at_most(1), rounds=5),
    Benchmark("mcp_start:running", "mcp_start.called_warm", "mcp_start.one_second", at_most(1)),
    Benchmark("search:query", "search.query", "search.grep", at_least(3), rounds=7),
    Benchmark("search:index", "search.make", "search.fifteen_seconds", at_most(1), rounds=2),
    Benchmark("fanout:p50", "server.fanout", "server.bare_fanout", at_most(3), rounds=5),
    Benchmark("fanout:p99", "server.fanout", "server.bare_fanout", at_most(3), rounds=5, part=1),
    Benchmark("many_execs:latency", "server.many_execs", "server.one_exec", at_most(2), rounds=6),
    Benchmark("many_execs:memory", "server.many_execs", "server.one_exec", at_most(1), rounds=6, part=1, unit="MB"),
    Benchmark("http_overhead", "server.exec_http", "terminal.exec_true", at_most(2.5)),
    Benchmark("http_overhead:wait_for", "server.wait_added", "server.three_milliseconds", at_most(1)),
    Benchmark("mcp_overhead:stdio", "mcp_calls.read_stdio", "mcp_calls.bare_stdio", at_most(2)),
    Benchmark("mcp_overhead:http", "mcp_calls.read_http", "mcp_calls.bare_http", at_most(2)),
    Benchmark("mcp_overhead:exec-stdio", "mcp_calls.exec_stdio", "mcp_calls.parts_stdio", at_most(1.5)),
    Benchmark("mcp_overhead:exec-http", "mcp_calls.exec_mcp", "mcp_calls.parts_http", at_most(1.5)),
    Benchmark("agents:say", "agents.say_added", "agents.five_milliseconds", at_most(1), rounds=3),
    Benchmark("agents:row", "agents.row_late", "agents.ten_milliseconds", at_most(1), rounds=3),
    Benchmark("agents:memory", "agents.idle_memory", "agents.three_megabytes", at_most(1), 1, unit="MB"),
    *(
        Benchmark(
            f"turns:{name}",
            "turns.vantage_player.ours",
            "turns.vantage_player.before",
            at_most(bar),
            1,
            part=part,
            unit=name,
        )
        for part, (name, bar) in enumerate((("calls", 0.55), ("tokens", 0.7)))
    ),
    *(
        Benchmark(
            f"turns:{name}-codex",
            "turns.vantage_player.ours",
            "turns.codex_player.codex",
            at_most(1),
            1,
            part=part,
            unit=name,
        )
        for part, name in enumerate(("calls", "tokens"))
    ),
    Benchmark("page:open", "page.opened", "page.promised", at_most(1), rounds=5),
    Benchmark("page:longest-task", "page.opened", "page.promised", at_most(1), rounds=5, part=1),
    Benchmark("page:elements", "page.opened", "page.promised", at_most(1), rounds=5, part=2, unit="nodes"),
    Benchmark("cli_start:help", "formatting.start_help", "formatting.start_python", at_most(5), rounds=25),
    Benchmark("cli_start:format", "formatting.start_format", "formatting.start_python", at_most(8), rounds=25),
)


def chosen(names: Sequence[str]) -> list[Benchmark]:
    """The benchmarks of these names, each a whole name or the part before the colon; all when there are none."""
    known = [name for benchmark in BENCHMARKS for name in (benchmark.name, benchmark.group)]
    for name in names:
        if name not in known:
            raise SystemExit(f"bench: there is no {name!r}: one of {', '.join(dict.fromkeys(known))}")
    return [one for one in BENCHMARKS if not names or {one.name, one.group} & set(names)]


def reason(result: harness.Result) -> str:
    """Where it is written why a line is short."""
    name = result.benchmark.name
    reasons = DOCS.read_text(encoding="utf-8").partition(f"## {WHY}")[2].splitlines()
    explained = any(line.startswith("- `") and f"`{name}`" in line for line in reasons)
    return f"{name} is short: {f'see {WHY!r} in' if explained else 'not explained in'} docs/{DOCS.name}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Vantage against what people use instead.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all when none is named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round to FILE, and what took how long")
    parser.add_argument("--quick", action="store_true", help="three rounds each at most")
    parser.add_argument("--check", action="store_true", help="exit with 1 when one is short of its bar")
    options = parser.parse_args(arguments)
    benchmarks = chosen(options.names)
    results: list[harness.Result] = []
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="vantage-bench-") as folder:
        corpus.write(Path(folder))
        peer_rows.write(Path(folder))
        print(harness.columns(*harness.COLUMNS), flush=True)
        for lines in harness.together(benchmarks):
            start = time.monotonic()
            results += (measured := harness.measure(lines, Path(folder), quick=options.quick))
            seconds[lines[0].name] = round(time.monotonic() - start, 1)
            print("\n".join(result.line() for result in measured), flush=True)
    for result in results:
        if not result.ok:
            print(reason(result), file=sys.stderr)
    if options.json:
        machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
        report = {
            "date": time.strftime("%Y-%m-%d"),
            "machine": machine,
            "seconds": seconds,
            "head": harness.columns(*harness.COLUMNS),
            "results": [result.to_dict() for result in results],
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return exit_code(results) if options.check else 0


def exit_code(results: Sequence[harness.Result]) -> int:
    return 0 if all(result.ok for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
