"""Extensions installed beside us are found when one of their tools is met."""

import subprocess
import sys

PROGRAM = """
import json, sys
from vantage import Timeline, extensions
extensions.install()
timeline = Timeline()
for number, tool in enumerate(["shell", *sys.argv[1:]]):
    timeline.add({"type": "tool_start", "tool": tool, "toolCallId": str(number), "args": {"x": "y"}})
print(json.dumps([[row.text, row.diagnostics] for row in timeline.rows]))
"""
MODULE = """
from vantage.timeline.row import head
from vantage.timeline.tools import Presentation

SPEC = {"collapsed": {"title": "spec of {{args.x}}"}}
NEITHER = 5

def deploy(call):
    return Presentation(head("Deploy", call.text("x")))
"""
POINTS = """
[vantage.tools]
gadget = shipped:SPEC
deploy = shipped:deploy
broken = shipped:missing
neither = shipped:NEITHER
"""


def test_entry_points_bring_specs_and_presenters(tmp_path):
    (tmp_path / "shipped.py").write_text(MODULE)
    info = tmp_path / "shipped-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shipped\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "gadget", "deploy", "broken"],
        capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stderr == ""
    import json

    shell, gadget, deploy, broken = json.loads(done.stdout)
    assert shell == ['Tool shell {"x": "y"}', []], "its arguments are not a shell's"
    assert (gadget[0], deploy[0], broken[0]) == ("spec of y", "Deploy y", 'Tool broken {"x": "y"}')
    (first, second) = gadget[1]
    assert first.startswith("extension broken (shipped:missing) was not loaded: AttributeError")
    assert second.startswith("extension neither (shipped:NEITHER) was not loaded: TypeError: expected a render spec")
