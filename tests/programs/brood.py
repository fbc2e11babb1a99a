"""A program with many children, each of which stays: `brood.py COUNT`. Says `brood of COUNT` when all are there.

By turns they are plain, deaf to TERM and HUP, in sessions of their own, and orphans; some are all of that at once.
"""

import os
import signal
import sys


def stay(ready: int, *, deaf: bool) -> None:
    if deaf:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    os.write(ready, b".")
    while True:
        signal.pause()


def child(ready: int, kind: int) -> None:
    """The three low bits of its kind: deaf, a session of its own, an orphan."""
    if kind & 2:
        os.setsid()
    if kind & 4 and os.fork():
        os._exit(0)
    stay(ready, deaf=bool(kind & 1))


def main(count: int) -> None:
    there, ready = os.pipe()
    for kind in range(count):
        if os.fork() == 0:
            child(ready, kind)
    while count:
        count -= len(os.read(there, count))
    print("brood of", sys.argv[1], flush=True)
    stay(ready, deaf=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
