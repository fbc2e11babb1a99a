"""A program whose output is known: `WORD 1`, `WORD 2`, … in order, and how far it got is in a side file.

    witness.py WORD NOTE [PAUSE_MS [LINES]]   prints until it has printed LINES, or NOTE.stop is there
    witness.py WORD NOTE hear                 prints `WORD n` when it is sent the line n, and ends at `end`

The side file counts lines that the terminal has taken: a spool that has less has lost something. A number that was
heard before is skipped (its sender may have got no answer); a line that is neither that nor the next is printed as odd.
"""

import os
import sys
import time
from pathlib import Path


def say(note: int, word: str, number: int) -> None:
    line = f"{word} {number}\n".encode()
    while line:
        line = line[os.write(1, line) :]
    os.pwrite(note, b"%012d" % number, 0)


def count(note: int, word: str, stop: Path, pause: float, lines: int) -> None:
    for number in range(1, lines + 1):
        if stop.exists():
            return
        say(note, word, number)
        if pause:
            time.sleep(pause)


def hear(note: int, word: str) -> None:
    last = 0
    while (line := sys.stdin.readline()) not in ("", "end\n"):
        if line == f"{last + 1}\n":
            last += 1
            say(note, word, last)
        elif not (line.strip().isdigit() and int(line) <= last):
            print(f"{word} odd: {line!r}", flush=True)


def main(word: str, place: str, pause: str = "0", lines: str = str(1 << 40)) -> None:
    note = os.open(place, os.O_WRONLY | os.O_CREAT, 0o600)
    if pause == "hear":
        hear(note, word)
    else:
        count(note, word, Path(f"{place}.stop"), float(pause) / 1000, int(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
