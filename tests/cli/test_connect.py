"""`vantage connect`: what it would change is shown, and changed only when asked for."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vantage.cli.commands.agents.mcp_settings import CLIENTS

SERVERS = {
    "claude": (".claude.json", ("mcpServers",)),
    "gemini": (".gemini/settings.json", ("mcpServers",)),
    "pi": (".pi/agent/mcp.json", ("mcpServers",)),
    "cursor": (".cursor/mcp.json", ("mcpServers",)),
    "vscode": (".vscode/mcp.json", ("servers",)),
    "opencode": (".config/opencode/opencode.json", ("mcp",)),
}
"""Client → its file, and the key under which it looks for servers."""


def connect(home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "vantage", "connect", *arguments],
        env={"HOME": str(home), "PATH": os.environ["PATH"], "COLUMNS": "80", "LANG": "C.UTF-8", **env},
        cwd=home,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_is_changed_without_write(tmp_path, client):
    done = connect(tmp_path, client)
    assert done.returncode == 0, done.stderr
    assert "+" in done.stdout
    assert f"vantage connect {client} --write" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("client", SERVERS)
def test_json_clients_start_this_very_program(tmp_path, client):
    name, keys = SERVERS[client]
    assert connect(tmp_path, client, "--write").returncode == 0
    server = json.loads((tmp_path / name).read_text())
    for key in (*keys, "vantage"):
        server = server[key]
    command = server["command"] if isinstance(server["command"], list) else [server["command"], *server["args"]]
    assert command[1:] == ["mcp"]
    said = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("vantage ")


def test_codex_gets_a_section(tmp_path):
    config = tmp_path / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "gpt-5"\n\n[mcp_servers.vantage]\ncommand = "old"\n\n[tui]\ntheme = "x" # mine\n')
    assert connect(tmp_path, "codex", "--write").returncode == 0
    text = config.read_text()
    settings = tomllib.loads(text)
    assert settings["mcp_servers"]["vantage"]["args"] == ["mcp"]
    assert settings["model"] == "gpt-5"
    assert '[tui]\ntheme = "x" # mine' in text
    assert '"old"' not in text
    assert "Output width: 74 characters." in (tmp_path / ".codex" / "AGENTS.md").read_text()


@pytest.mark.parametrize("client", CLIENTS)
def test_the_second_time_nothing_is_left_to_do(tmp_path, client):
    connect(tmp_path, client, "--write")
    before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    done = connect(tmp_path, client, "--write")
    assert "already" in done.stdout
    assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_other_settings_of_a_file_are_kept(tmp_path):
    settings = tmp_path / ".claude.json"
    settings.write_text(
        '{\n    "numStartups": 7,\n    "mcpServers": {"other": {"command": "x"}},\n    "name": "Zoë"\n}\n'
    )
    settings.chmod(0o640)
    hooks = tmp_path / ".claude" / "settings.json"
    hooks.parent.mkdir()
    hooks.write_text('{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "date"}]}]}}')
    assert connect(tmp_path, "claude", "--write").returncode == 0
    read = json.loads(settings.read_text())
    assert read["numStartups"] == 7
    assert set(read["mcpServers"]) == {"other", "vantage"}
    assert "Zoë" in settings.read_text()
    assert '\n    "numStartups"' in settings.read_text()
    assert settings.stat().st_mode & 0o777 == 0o640
    groups = json.loads(hooks.read_text())["hooks"]["UserPromptSubmit"]
    assert [group["hooks"][0]["command"].split()[-1] for group in groups] == ["date", "context"]


def test_a_file_with_comments_is_left_alone_and_the_lines_are_shown(tmp_path):
    settings = tmp_path / ".cursor" / "mcp.json"
    settings.parent.mkdir()
    settings.write_text('{\n  // mine\n  "mcpServers": {}\n}\n')
    done = connect(tmp_path, "cursor", "--write")
    assert done.returncode == 1
    assert "by hand" in done.stderr
    assert '"vantage"' in done.stdout
    assert "// mine" in settings.read_text()


def test_text_around_the_display_instruction_is_kept(tmp_path):
    notes = tmp_path / ".codex" / "AGENTS.md"
    notes.parent.mkdir()
    notes.write_text("# Mine\n\nBe brief.\n")
    connect(tmp_path, "codex", "--write")
    notes.write_text(notes.read_text().replace("74 characters", "12 characters") + "\nAnd kind.\n")
    connect(tmp_path, "codex", "--write")
    text = notes.read_text()
    assert text.startswith("# Mine\n\nBe brief.\n")
    assert text.endswith("And kind.\n")
    assert text.count("Output width") == 1
    assert "74 characters" in text


def test_only_the_server_on_request(tmp_path):
    connect(tmp_path, "claude", "--write", "--no-display")
    assert not (tmp_path / ".claude").exists()


def test_a_home_of_its_own_is_passed_on(tmp_path):
    connect(tmp_path, "cursor", "--write", "--home", str(tmp_path / "elsewhere"))
    read = json.loads((tmp_path / ".cursor/mcp.json").read_text())
    assert read["mcpServers"]["vantage"]["args"] == ["mcp", "--home", str(tmp_path / "elsewhere")]


@pytest.mark.parametrize("name", ["VANTAGE_HOME", "XDG_STATE_HOME"])
def test_a_home_that_a_variable_names_is_passed_on(tmp_path, name):
    """A client may start `vantage mcp` without the variable."""
    connect(tmp_path, "codex", "--write", **{name: str(tmp_path / "state")})
    settings = tomllib.loads((tmp_path / ".codex/config.toml").read_text())
    home = str(tmp_path / "state") + ("/vantage" if name == "XDG_STATE_HOME" else "")
    assert settings["mcp_servers"]["vantage"]["args"] == ["mcp", "--home", home]


def test_trust_is_given_on_request_only(tmp_path):
    given = {
        "claude": (".claude/settings.json", "mcp__vantage"),
        "codex": (".codex/config.toml", 'default_tools_approval_mode = "approve"'),
        "gemini": (".gemini/settings.json", '"trust": true'),
    }
    for client, (name, setting) in given.items():
        connect(tmp_path, client, "--write")
        assert setting not in (tmp_path / name).read_text()
        assert connect(tmp_path, client, "--write", "--trust").returncode == 0
        assert setting in (tmp_path / name).read_text()
        before = (tmp_path / name).read_text()
        connect(tmp_path, client, "--write", "--trust")
        assert (tmp_path / name).read_text() == before
    hooks = json.loads((tmp_path / ".claude/settings.json").read_text())
    assert hooks["permissions"] == {"allow": ["mcp__vantage"]}
    assert len(hooks["hooks"]["UserPromptSubmit"]) == 1
    refused = connect(tmp_path, "cursor", "--trust")
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize(
    ("client", "variable", "files"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", {".claude.json", "settings.json"}),
        ("codex", "CODEX_HOME", {"config.toml", "AGENTS.md"}),
        ("gemini", "GEMINI_CLI_HOME", {".gemini/settings.json", ".gemini/GEMINI.md"}),
        ("pi", "PI_CODING_AGENT_DIR", {"mcp.json"}),
        ("opencode", "XDG_CONFIG_HOME", {"opencode/opencode.json", "opencode/AGENTS.md"}),
    ],
)
def test_files_are_where_the_client_looks_for_them(tmp_path, client, variable, files):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    done = connect(home, client, "--write", **{variable: str(elsewhere)})
    assert {str(path.relative_to(elsewhere)) for path in elsewhere.rglob("*") if path.is_file()} == files
    assert list(home.iterdir()) == []
    assert all(str(elsewhere / name) in done.stdout for name in files)


def test_a_byte_order_mark_is_no_reason_to_leave_a_file_alone(tmp_path):
    settings = tmp_path / ".cursor" / "mcp.json"
    settings.parent.mkdir()
    settings.write_text('{"mcpServers": {"mine": {"command": "x"}}}', encoding="utf-8-sig")
    assert connect(tmp_path, "cursor", "--write").returncode == 0
    assert set(json.loads(settings.read_text(encoding="utf-8"))["mcpServers"]) == {"mine", "vantage"}


def test_an_unknown_client_is_refused(tmp_path):
    done = connect(tmp_path, "emacs")
    assert done.returncode == 2
    assert "claude" in done.stderr
