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

from bench import corpus, harness, rows, screens
from bench.harness import Benchmark, at_least, at_most

_CHUNKS = (corpus.CHUNKS * corpus.LARGE // corpus.SMALL, corpus.CHUNKS)
_PIECES = (screens.LARGE, screens.SMALL)

DOCS = harness.ROOT / "docs/performance.md"
WHY = "What stands in the way"

BENCHMARKS = (
    Benchmark("format_events", "ours.format_events", "peers.rich_events", at_least(10)),
    Benchmark("format_markdown", "ours.format_markdown", "peers.rich_markdown", at_least(10)),
    Benchmark("format_markdown:markdown-it", "ours.format_markdown", "peers.markdown_it_parse", at_least(1)),
    Benchmark("stream_markdown:one-shot", "ours.stream_small", "ours.draw_once", at_most(4)),
    Benchmark("stream_markdown:streamdown", "ours.stream_small", "peers.streamdown", at_most(1), rounds=5),
    Benchmark("stream_markdown:textual", "ours.stream_start", "peers.textual_stream", at_least(1), rounds=2),
    Benchmark(
        "stream_markdown:growth", "ours.stream_large", "ours.stream_small", at_most(1.5), rounds=7, units=_CHUNKS
    ),
    Benchmark("fit_tables", "ours.fit_tables", "peers.rich_tables", at_least(8)),
    Benchmark("spec_rows", "ours.spec_rows", "peers.rich_calls", at_least(5), rounds=7),
    Benchmark("spec_hostile", "ours.spec_hostile", "ours.five_milliseconds", at_most(1), rounds=15),
    *(
        Benchmark(f"screen_feed:{name}", f"screens.feed_{name}", f"screens.pyte_{name}", at_least(80), 7, _PIECES)
        for name in ("plain", "coloured", "redraw")
    ),
    *(
        Benchmark(f"screen_feed:{name}-xterm", f"screens.feed_{name}", f"screens.xterm_{name}", at_least(1), 7)
        for name in ("plain", "coloured", "redraw")
    ),
    Benchmark("screen_conformance", "screens.wrong_ours", "screens.wrong_pyte", at_most(1), 1, unit="cases"),
    Benchmark("screen_delta:row", "screens.delta", "screens.clock_delta", at_most(1), 9, (screens.DELTAS,) * 2),
    Benchmark(
        "screen_delta:snapshot", "screens.snapshot", "screens.clock_snapshot", at_most(1), 9, (screens.SNAPSHOTS,) * 2
    ),
    Benchmark("pty_throughput", "terminals.cat_through", "terminals.cat_bare", at_least(0.8), rounds=5),
    Benchmark("pty_throughput:pexpect", "terminals.cat_through", "expecting.cat_through", at_least(1), rounds=2),
    Benchmark("pty_throughput:tmux", "terminals.cat_through", "tmuxes.cat_through", at_least(1), rounds=2),
    Benchmark("exec_block", "terminals.exec_true", "terminals.fresh_bash", at_most(0.5)),
    Benchmark("exec_block:tmux", "terminals.exec_true", "tmuxes.exec_true", at_least(1), rounds=5),
    Benchmark("wait_latency:pexpect", "terminals.wait_tick", "expecting.wait_tick", at_most(2)),
    Benchmark("wait_latency:spool", "terminals.wait_large", "terminals.wait_small", at_most(1.5), rounds=7),
    Benchmark(
        "many_terminals:memory", "terminals.conversations_memory", "terminals.two_megabytes", at_most(1), 3, unit="MB"
    ),
    Benchmark("many_terminals:flood", "terminals.wait_beside_flood", "terminals.wait_tick", at_most(3), rounds=5),
    Benchmark("screen_at", "terminals.screen_at", "terminals.sixty_milliseconds", at_most(1), rounds=5),
    Benchmark("reattach", "terminals.reattach_large", "terminals.reattach_small", at_most(2), rounds=7),
    Benchmark("mcp_start:tools", "agents.listed_cold", "agents.one_second", at_most(1), rounds=5),
    Benchmark("mcp_start:cold", "agents.called_cold", "agents.five_seconds", at_most(1), rounds=5),
    Benchmark("mcp_start:running", "agents.called_warm", "agents.one_second", at_most(1)),
    Benchmark("search:query", "searching.query", "searching.grep", at_least(3), rounds=7),
    Benchmark("search:index", "searching.make", "searching.fifteen_seconds", at_most(1), rounds=2),
    Benchmark("fanout:p50", "serving.fanout", "serving.bare_fanout", at_most(3), rounds=5),
    Benchmark("fanout:p99", "serving.fanout", "serving.bare_fanout", at_most(3), rounds=5, part=1),
    Benchmark("many_execs:latency", "serving.many_execs", "serving.one_exec", at_most(2), rounds=6),
    Benchmark("many_execs:memory", "serving.many_execs", "serving.one_exec", at_most(1), rounds=6, part=1, unit="MB"),
    Benchmark("http_overhead", "serving.exec_http", "terminals.exec_true", at_most(2.5)),
    Benchmark("http_overhead:wait_for", "serving.wait_added", "serving.three_milliseconds", at_most(1)),
    Benchmark("mcp_overhead:stdio", "calling.read_stdio", "calling.bare_stdio", at_most(2)),
    Benchmark("mcp_overhead:http", "calling.read_http", "calling.bare_http", at_most(2)),
    Benchmark("mcp_overhead:exec-stdio", "calling.exec_stdio", "calling.parts_stdio", at_most(1.5)),
    Benchmark("mcp_overhead:exec-http", "calling.exec_mcp", "calling.parts_http", at_most(1.5)),
    Benchmark("page:open", "page.opened", "page.promised", at_most(1), rounds=5),
    Benchmark("page:longest-task", "page.opened", "page.promised", at_most(1), rounds=5, part=1),
    Benchmark("page:elements", "page.opened", "page.promised", at_most(1), rounds=5, part=2, unit="nodes"),
    Benchmark("cli_start:help", "ours.start_help", "ours.start_python", at_most(5), rounds=25),
    Benchmark("cli_start:format", "ours.start_format", "ours.start_python", at_most(8), rounds=25),
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
        rows.write(Path(folder))
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
