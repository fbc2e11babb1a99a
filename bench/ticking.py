"""A program that prints a line whenever it is told to, with the time at which it printed it.

    python bench/ticking.py COUNT

Reads a byte from the pipe on descriptor 3 before each line, so that whoever waits says when it is ready.
"""

import os
import sys
import time

for number in range(int(sys.argv[1])):
    time.sleep(0.002)  # whoever waits is asleep by now
    os.write(1, b"tick %d at %d\n" % (number, time.monotonic_ns()))
