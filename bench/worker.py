"""One side of a benchmark: a process that runs a function whenever it is told to, and answers with the time it took.

    python -m bench.worker ours.format_markdown CORPUS

A line comes in, a number of milliseconds goes out. The first answer, `ready`, comes when everything is prepared.
"""

import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter


def main(target: str, corpus: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is measured may print
    module, _, function = target.partition(".")
    run = getattr(import_module(f"bench.{module}"), function)(Path(corpus))
    answers.write("ready\n")
    for _ in sys.stdin:
        gc.collect()
        start = perf_counter()
        run()
        answers.write(f"{(perf_counter() - start) * 1000}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
