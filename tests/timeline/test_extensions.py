"""Extensions installed beside us are found when one of their tools is met."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys
from vantage import Timeline, extensions
timeline = Timeline(extensions.installed())
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
    shell, gadget, deploy, broken = json.loads(done.stdout)
    assert shell == ['Tool shell {"x": "y"}', []], "its arguments are not a shell's"
    assert (gadget[0], deploy[0], broken[0]) == ("spec of y", "Deploy y", 'Tool broken {"x": "y"}')
    (first, second) = gadget[1]
    assert first.startswith("extension broken (shipped:missing) was not loaded: AttributeError")
    assert second.startswith("extension neither (shipped:NEITHER) was not loaded: TypeError: expected a render spec")


EXITS = """
from vantage.timeline.row import head

SPEC = {"collapsed": {"title": "spec of {{args.x}}"}}

def leave(call):
    raise SystemExit(3)
"""
EXITING_POINTS = """
[vantage.tools]
away = leaves_at_import:SPEC
gadget = exits:SPEC
leave = exits:leave
"""


def test_an_extension_that_exits_does_not_end_the_program(tmp_path):
    """`sys.exit` at a module's top level or in a presenter is that extension's error."""
    (tmp_path / "leaves_at_import.py").write_text("import sys\nsys.exit('no licence')\n")
    (tmp_path / "exits.py").write_text(EXITS)
    info = tmp_path / "exits-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: exits\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(EXITING_POINTS)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "away", "gadget", "leave"],
        capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    _shell, away, gadget, leave = json.loads(done.stdout)
    assert (away[0], gadget[0]) == ('Tool away {"x": "y"}', "spec of y")
    assert away[1] == ["extension away (leaves_at_import:SPEC) was not loaded: SystemExit: no licence"]
    assert leave[0] == 'Tool leave {"x": "y"}'
    assert any("SystemExit" in line for line in leave[1]), leave


def test_events_of_an_agent_do_not_depend_on_extensions():
    """A tool that an extension draws is read from an ACP stream as it is without the extension."""
    from vantage.agents.streams.acp_calls import described
    from vantage.timeline.tools import Presentation, presenter
    from vantage.timeline.tools.registry import ToolRegistry

    call = {"kind": "read", "title": "gadget", "rawInput": {"path": "a.txt"}}
    before = described(call)

    @presenter("gadget")
    def gadget(call):
        return Presentation([])

    assert ToolRegistry(gadget).presenter_for("gadget") is gadget.function
    assert described(call) == before == ("read_file", {"path": "a.txt"})
