"""`python -m bench [NAME…] [--json FILE] [--quick] [--check]`."""

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import corpus, harness, rows, screens
from bench.harness import Benchmark, at_least, at_most

_CHUNKS = (corpus.CHUNKS * corpus.LARGE // corpus.SMALL, corpus.CHUNKS)
_PIECES = (screens.LARGE, screens.SMALL)

BENCHMARKS = (
    Benchmark("format_events", "ours.format_events", "peers.rich_events", at_least(10)),
    Benchmark("format_markdown", "ours.format_markdown", "peers.rich_markdown", at_least(10)),
    Benchmark("stream_markdown:one-shot", "ours.stream_small", "ours.draw_once", at_most(4)),
    Benchmark("stream_markdown:streamdown", "ours.stream_small", "peers.streamdown", at_most(1), rounds=5),
    Benchmark("stream_growth", "ours.stream_large", "ours.stream_small", at_most(1.5), rounds=7, units=_CHUNKS),
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
    Benchmark("screen_delta:row", "screens.delta", "screens.clock_delta", at_most(1), 9, (screens.DELTAS,) * 2),
    Benchmark(
        "screen_delta:snapshot", "screens.snapshot", "screens.clock_snapshot", at_most(1), 9, (screens.SNAPSHOTS,) * 2
    ),
    Benchmark("pty_throughput", "terminals.cat_through", "terminals.cat_bare", at_least(0.8), rounds=5),
    Benchmark("exec_block", "terminals.exec_true", "terminals.fresh_bash", at_most(0.5)),
    Benchmark("wait_latency:pexpect", "terminals.wait_tick", "expecting.wait_tick", at_most(2)),
    Benchmark("wait_latency:spool", "terminals.wait_large", "terminals.wait_small", at_most(1.5), rounds=7),
    Benchmark("many_terminals:memory", "terminals.conversations_memory", "terminals.two_megabytes", at_most(1), 3),
    Benchmark("many_terminals:flood", "terminals.wait_beside_flood", "terminals.wait_tick", at_most(3), rounds=5),
    Benchmark("screen_at", "terminals.screen_at", "terminals.sixty_milliseconds", at_most(1), rounds=5),
    Benchmark("reattach", "terminals.reattach_large", "terminals.reattach_small", at_most(2), rounds=7),
    Benchmark("cli_start:help", "ours.start_help", "ours.start_python", at_most(5), rounds=25),
    Benchmark("cli_start:format", "ours.start_format", "ours.start_python", at_most(8), rounds=25),
)


def chosen(names: Sequence[str]) -> list[Benchmark]:
    """The benchmarks of these names, each a whole name or the part before the colon; all when there are none."""
    known = [name for benchmark in BENCHMARKS for name in (benchmark.name, benchmark.name.partition(":")[0])]
    for name in names:
        if name not in known:
            raise SystemExit(f"bench: there is no {name!r}: one of {', '.join(dict.fromkeys(known))}")
    return [one for one in BENCHMARKS if not names or {one.name, one.name.partition(":")[0]} & set(names)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Vantage against what people use instead.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all when none is named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round's time to FILE")
    parser.add_argument("--quick", action="store_true", help="three rounds each")
    parser.add_argument("--check", action="store_true", help="exit with 1 when one is short of its bar")
    options = parser.parse_args(arguments)
    benchmarks = chosen(options.names)
    results: list[harness.Result] = []
    with tempfile.TemporaryDirectory(prefix="vantage-bench-") as folder:
        corpus.write(Path(folder))
        rows.write(Path(folder))
        print(harness.columns(*harness.COLUMNS))
        for benchmark in benchmarks:
            results.append(harness.measure(benchmark, Path(folder), quick=options.quick))
            print(results[-1].line(), flush=True)
    if options.json:
        machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
        report = {"machine": machine, "results": [result.to_dict() for result in results]}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return exit_code(results) if options.check else 0


def exit_code(results: Sequence[harness.Result]) -> int:
    return 0 if all(result.ok for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
