"""What the command line says of a stranger's file, or of a wrong name, cannot act on the terminal that shows it."""

import json
import re

import pytest

from command_line import CommandLine

EVIL = "\x1b]52;c;AAAA\x07\u202e"
SPEC = {"collapsed": {"title": "x", EVIL: 1, "iconColor": EVIL}, EVIL: 1}
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.mark.parametrize(
    "arguments",
    [
        ("spec", "check", "evil.json"),
        ("spec", "preview", "evil.json"),
        ("format", "--specs", "evil.json", "evil.jsonl"),
        ("format", "evil.jsonl"),
        (EVIL,),
        ("status", "--home", EVIL),
    ],
    ids=lambda arguments: " ".join(arguments[:2]).replace(EVIL, "evil"),
)
def test_words_are_only_words(tmp_path, arguments):
    (tmp_path / "evil.json").write_text(json.dumps(SPEC))
    (tmp_path / "evil.jsonl").write_text(json.dumps({"type": EVIL}) + f"\n{EVIL} is not JSON\n")
    with CommandLine(tmp_path / "home") as vantage:
        ran = vantage.run(*arguments, cwd=tmp_path)
    assert ran.out + ran.err
    assert ACTS.search(ran.out + ran.err) is None
