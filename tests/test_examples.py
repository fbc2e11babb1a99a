"""The examples run, as their first lines say."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_guessing_a_number():
    done = subprocess.run([sys.executable, EXAMPLES / "guessing.py"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    *_, last_guess, end = done.stdout.splitlines()
    assert last_guess.endswith("Correct!")
    assert end.startswith("The game ended with 0 after ")
