"""Render specs of a home: its files, what was PUT and what is installed, in the server, the exports and `doctor`."""

import json
import subprocess
from pathlib import Path

import pytest

from server_home import serving
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.conversation.store.specs.home import HomeSpecs, SpecFolder
from vantage.timeline.fold import Timeline
from vantage.timeline.row import head
from vantage.timeline.tools import Presentation, presenter
from vantage.timeline.tools.registry import ToolRegistry

PACKAGE = {
    "shipped.py": """
SPEC = {"collapsed": {"title": "installed {{args.x}}"}}
""",
    "shipped-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shipped\nVersion: 1.0\n",
    "shipped-1.0.dist-info/entry_points.txt": """
[vantage.tools]
gadget = shipped:SPEC
widget = shipped:SPEC
search = shipped:SPEC
broken = shipped:missing
""",
}


def spec(title: str) -> dict:
    return {"collapsed": {"title": f"{title} {{{{args.x}}}}"}}


def save(folder: Path, tool: str, value: object) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{tool}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.fixture
def package(tmp_path):
    """A package that brings render specs: where it is installed."""
    place = tmp_path / "installed"
    for name, text in PACKAGE.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return str(place)


class Calls:
    """Calls of tools in a conversation, each with a number of its own."""

    def __init__(self, server, conversation: str) -> None:
        self._server, self._path = server, f"/v1/conversations/{conversation}"
        self._count = 0

    def __call__(self, tool: str, **more: object) -> str:
        """How the next call of a tool is shown."""
        self._count += 1
        event = {"type": "tool_start", "tool": tool, "toolCallId": str(self._count), "args": {"x": self._count}}
        seq = self._server.post(f"{self._path}/events", {**event, **more}).json["seq"]
        [row] = self._server.get(f"{self._path}/rows?after={seq - 1}").json["rows"]
        return row["text"].lstrip("• ").removesuffix(f" {self._count}")


def test_the_server_takes_specs_from_everywhere_in_their_order(private_home, package):
    specs = private_home / "specs"
    with serving(private_home, PYTHONPATH=package) as server, server.conversation() as c:
        call = Calls(server, c)
        assert call("gadget") == "installed"
        assert call("search") == "installed", "a spec comes before our own presenter of searches"
        save(specs, "gadget", spec("file"))
        assert call("gadget") == "file"
        assert call("widget") == "installed"
        server.ask("PUT", "/v1/tools/gadget", {"renderSpec": spec("home")})
        assert call("gadget") == "home"
        server.ask("PUT", f"/v1/conversations/{c}/tools/gadget", {"renderSpec": spec("conversation")})
        assert call("gadget") == "conversation"
        assert call("gadget", renderSpec=spec("own")) == "own"
        save(specs, "widget", spec("file"))
        listed = {each["tool"]: each["source"] for each in server.get("/v1/tools").json["tools"]}
        assert {"gadget": "home", "widget": "specs", "search": "installed"}.items() <= listed.items()
        here = {each["tool"]: each["source"] for each in server.get(f"/v1/conversations/{c}/tools").json["tools"]}
        assert here == {**listed, "gadget": "conversation"}
        with server.conversation() as other:
            assert Calls(server, other)("gadget") == "home"
            exported = server.get(f"/v1/conversations/{other}/export?format=text").body.decode()
            assert "home 1" in exported
        assert "shipped:missing" in (private_home / "server.log").read_text()


def test_a_saved_file_is_used_for_the_next_call_and_a_broken_one_changes_nothing(private_home):
    specs = private_home / "specs"
    with serving(private_home) as server, server.conversation(id="c") as c:
        call = Calls(server, c)
        assert call("gadget").startswith("Tool gadget")
        for number in range(20):
            save(specs, "gadget", spec(f"v{number % 10}"))  # often within one tick of the file system's clock
            assert call("gadget") == f"v{number % 10}"
        path = save(specs, "gadget", '{"collapsed": {"title": "half a fi')
        assert call("gadget") == "v9"
        [broken] = server.get("/v1/tools").json["broken"]
        assert broken["path"] == str(path)
        assert "not JSON" in broken["errors"][0]
        assert (private_home / "server.log").read_text().count("not JSON") == 1
        assert str(path) in (private_home / "server.log").read_text()
        save(specs, "gadget", {"collapsed": {"titel": "x"}})
        assert call("gadget") == "v9"
        assert "titel" in json.dumps(server.get("/v1/tools").json["broken"])
        rows = server.get("/v1/conversations/c/rows").json["rows"]
        assert "Tool gadget" in rows[0]["text"], "what was drawn stays as it was"
        save(specs, "gadget", spec("mended"))
        assert call("gadget") == "mended"
        assert "broken" not in server.get("/v1/tools").json
        path.unlink()
        assert call("gadget").startswith("Tool gadget")


def command(home: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*VANTAGE, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(VANTAGE_HOME=str(home), **env),
    )


def test_doctor_names_broken_files_and_extensions(tmp_path, package):
    path = save(tmp_path / "specs", "gadget", '{"collapsed": ')
    save(tmp_path / "specs", "widget", spec("file"))
    said = command(tmp_path, "doctor", PYTHONPATH=package).stdout
    assert f"{path}: it is not JSON" in said
    assert "extension broken (shipped:missing)" in said
    assert "1 tool in" in said


def test_format_puts_the_users_specs_before_installed_ones(tmp_path, package):
    save(tmp_path / "specs", "gadget", spec("file"))
    tools = ("gadget", "widget", "unheard_of", "gadget", "widget")
    calls = [
        {"type": "tool_end", "tool": tool, "toolCallId": str(number), "args": {"x": number}}
        for number, tool in enumerate(tools)
    ]
    stream = tmp_path / "calls.jsonl"
    stream.write_text("".join(json.dumps(call) + "\n" for call in calls))
    shown = command(tmp_path, "format", str(stream), PYTHONPATH=package).stdout.split("\n\n")
    rows = [row.strip("• \n") for row in shown]
    assert [row for row in rows if "unheard_of" not in row] == ["file 0", "installed 1", "file 3", "installed 4"]


def test_an_export_has_the_specs_of_its_own_home(private_home, tmp_path):
    save(private_home / "specs", "gadget", spec("file"))
    save(tmp_path / "specs", "gadget", spec("another home"))
    with serving(private_home) as server, server.conversation(id="c") as c:
        assert Calls(server, c)("gadget") == "file"
        done = command(tmp_path, "export", "c", "--format", "text", "--home", str(private_home))
        assert "file 1" in done.stdout, done.stderr


def test_rows_and_exports_keep_the_specs_that_their_calls_had(private_home):
    """A call keeps its look after a restart and in exports, also when the home's specs have changed since."""
    specs = private_home / "specs"

    def looks(server) -> tuple[list[str], list[str]]:
        rows = server.get("/v1/conversations/c/rows").json["rows"]
        exported = server.get("/v1/conversations/c/export?format=text").body.decode()
        return [row["text"].lstrip("• ") for row in rows], heads(exported)

    def heads(exported: str) -> list[str]:
        return [line.lstrip("• ") for line in exported.splitlines() if line.startswith("•")]

    with serving(private_home) as server:
        c = server.post("/v1/conversations", {"id": "c", "env": environment(), "user_rc": False}).json["id"]
        call = Calls(server, c)
        assert call("gadget").startswith("Tool gadget")
        save(specs, "gadget", spec("old"))
        assert call("gadget") == "old"
        server.ask("PUT", f"/v1/conversations/{c}/tools/widget", {"renderSpec": spec("put")})
        save(specs, "widget", spec("hidden"))
        assert call("widget") == "put"
        assert call("gizmo").startswith("Tool gizmo")
        save(specs, "gadget", spec("new"))
        assert call("gadget") == "new"
        (specs / "gadget.json").unlink()
        assert call("gadget").startswith("Tool gadget")
        save(specs, "gadget", spec("last"))
        save(specs, "gizmo", spec("last"))
        rows, exported = looks(server)
        assert [row.split(" ")[0] for row in rows] == ["Tool", "old", "put", "Tool", "new", "Tool"]
        assert exported == rows
        listed = {each["tool"]: each["source"] for each in server.get(f"/v1/conversations/{c}/tools").json["tools"]}
        assert (listed["widget"], listed["gadget"], listed["gizmo"]) == ("conversation", "specs", "specs")
    with serving(private_home) as server:
        assert looks(server) == (rows, rows)
    assert heads(command(private_home, "export", "c", "--format", "text").stdout) == rows


@presenter("deploy")
def deploy(call):
    return Presentation(head("Deploy", call.text("x")))


def drawn(home: HomeSpecs, *tools: str) -> list[str]:
    timeline = Timeline(home.tools)
    for number, tool in enumerate(tools):
        timeline.add({"type": "tool_start", "tool": tool, "toolCallId": str(number), "args": {"x": "y"}})
    return [row.text for row in timeline.rows]


def test_two_homes_in_one_process_share_nothing(tmp_path):
    installed = ToolRegistry(deploy)
    installed.render_spec("gizmo", spec("installed"))
    one, other = HomeSpecs(tmp_path / "one", installed), HomeSpecs(tmp_path / "other")
    for home in ("one", "other"):
        (tmp_path / home).mkdir()
    one.put("gadget", spec("put"))
    save(tmp_path / "one" / "specs", "widget", spec("file"))
    one.tools.refresh()
    built_in = ToolRegistry().specs.tools()
    assert one.registry.tools().keys() == {"gadget", "widget", "gizmo", *built_in}
    assert other.registry.tools() == built_in
    names = ("gadget", "widget", "gizmo", "deploy")
    assert drawn(one, *names) == ["put y", "file y", "installed y", "Deploy y"]
    assert drawn(other, *names) == [f'Tool {name} {{"x": "y"}}' for name in names]
    again = HomeSpecs(tmp_path / "one", installed)
    again.load()
    assert again.registry.tools() == one.registry.tools()
    assert drawn(again, *names) == drawn(one, *names)


def found(folder: SpecFolder, tool: str):
    """A tool's spec in the files as they are now."""
    folder.refresh()
    return folder.find(tool)


def test_last_good_specs_stay_tool_by_tool(tmp_path):
    said: list[str] = []
    folder = SpecFolder(tmp_path, report_to=said.append)
    save(tmp_path, "two", {"gadget": spec("one"), "widget": spec("one")})
    assert found(folder, "gadget").collapsed.title == "one {{args.x}}"
    save(tmp_path, "two", {"gadget": spec("two"), "widget": {"collapsed": {}}})
    assert [found(folder, tool).collapsed.title[:3] for tool in ("gadget", "widget")] == ["two", "one"]
    assert len(said) == 1
    assert "still in force: gadget, widget" in said[0]
    save(tmp_path, "two", {"gadget": spec("two")})
    assert found(folder, "widget") is None
    assert folder.broken == ()


def test_of_two_files_the_first_by_name_counts_and_the_other_is_reported(tmp_path):
    folder = SpecFolder(tmp_path)
    save(tmp_path, "b", {"tool": "gadget", "renderSpec": spec("b")})
    assert found(folder, "gadget").collapsed.title[0] == "b"
    save(tmp_path, "a", {"tool": "Gadget", "renderSpec": spec("a")})
    assert found(folder, "gadget").collapsed.title[0] == "a"
    assert [(Path(each.path).name, len(each.errors)) for each in folder.broken] == [("b.json", 1)]
    (tmp_path / "a.json").unlink()
    assert found(folder, "gadget").collapsed.title[0] == "b"


def test_a_folder_that_cannot_be_read_is_reported(tmp_path):
    specs = tmp_path / "specs"
    specs.touch()  # root may read every folder, so one that cannot be read is none
    folder = SpecFolder(specs, report_to=lambda _: None)
    assert found(folder, "gadget") is None
    assert folder.broken[0].path == str(specs)
    specs.unlink()
    save(specs, "gadget", spec("file"))
    assert found(folder, "gadget") is not None
