"""One side of a benchmark: a process that runs a function whenever it is told to, and answers with the time it took.

    python -m bench.run.worker formatting.format_markdown CORPUS

A line comes in, a number of milliseconds goes out, or what a run says itself (`Several`). The first answer, `ready`,
comes when everything is prepared.
Time is processor time, of this process and of what it starts: all that is measured is bound by the processor, and the
clock on the wall would measure the machine's other work as well. What waits on other processes is different: it says
itself what it took (`Milliseconds`).
"""

import gc
import os
import resource
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import process_time

from bench.run.answers import AT_END, Milliseconds, Several

LEAST_S = 0.1
"""Processor time of a round: what is over sooner is run again, so that caches which fill are not most of it."""


def seconds() -> float:
    """Processor time, of this process and of what it has started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def _round(run: Callable[[], object]) -> tuple[float, ...]:
    gc.collect()
    start, times = seconds(), 0
    while True:
        took = run()
        if isinstance(took, (Milliseconds, Several)):
            return took if isinstance(took, Several) else (took,)
        times += 1
        if (spent := seconds() - start) >= LEAST_S:
            return (spent / times * 1000,)


def main(target: str, corpus: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is measured may print
    module, _, function = target.rpartition(".")
    try:
        run = getattr(import_module(f"bench.{module}"), function)(Path(corpus))
        answers.write("ready\n")
        for _ in sys.stdin:
            answers.write(" ".join(map(str, _round(run))) + "\n")
    finally:
        for close in AT_END:
            close()


if __name__ == "__main__":
    main(*sys.argv[1:])
