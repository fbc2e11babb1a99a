"""What is left out of drawing a long output makes no difference to its lines."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.spool import Spool, SpoolState
from vantage.terminal.screen import drawn_output
from vantage.terminal.screen.screen import Screen

PARTS = [
    "line\r\n",
    "a\tb  \r\n",
    "name\x1b[9Gx\r\n",
    "\x1b[2A\x1b[2Kup\r\n\r\n",
    "x" * 45 + "\r\n",
    "10%\r20%\r\n",
    "\x1b[4A\x1b[2Kfar up\r\n\n\n\n",
    "\x1b[H",
]
PLAIN = "words that nearly fill a row\r\n" * 40


@given(st.lists(st.sampled_from([*PARTS, PLAIN, PLAIN]), min_size=1, max_size=12).map("".join))
@example("\x1b[H" + PLAIN * 3 + "name\x1b[9Gx\r\n")
def test_what_is_not_drawn_makes_no_difference(text):
    """With stretches left out or drawn as a whole, the lines are the same, but for which blanks are tabs."""
    data = text.encode()
    spooler = Spool(SpoolState(rule=drawn_output.RULE))
    spool = spooler.add(data) + spooler.settle()
    span = ByteRange(0, len(spool))

    def read(start, end):
        return spool[start:end]

    def lines(chunk):
        with pytest.MonkeyPatch.context() as patch, Screen(30, 5, scrollback=100_000) as screen:
            patch.setattr(drawn_output, "_CHUNK", chunk)
            found = drawn_output.drawn(screen, drawn_output.Own(data, []), read, span, 1 << 20)
        return [line.expandtabs().rstrip() for line in "".join(line.text for line in found).split("\n")]

    assert lines(32) == lines(1 << 20)
