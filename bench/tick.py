"""A program that prints a line every so often, with the time at which it printed it.

python bench/tick.py COUNT [PAUSE_MS]
"""

import os
import sys
import time

PAUSE_S = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.002

for number in range(int(sys.argv[1])):
    time.sleep(PAUSE_S)  # the waiting side is asleep by now
    os.write(1, b"tick %d at %d\n" % (number, time.monotonic_ns()))
