"""`vantage doctor`, as a newcomer runs it."""

import json
import os
import subprocess

from terminals import VANTAGE


def run(*arguments, **env):
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **env}
    return subprocess.run([*VANTAGE, "doctor", *arguments], capture_output=True, text=True, env=environment, timeout=60)


def findings(*arguments, **env):
    done = run("--json", *arguments, **env)
    return done.returncode, json.loads(done.stdout)


def test_everything_works_here(tmp_path):
    done = run("--home", str(tmp_path / "home"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "✔ screen     screens are drawn by ghostty" in done.stdout
    assert "/bash" in done.stdout
    assert not (tmp_path / "home").exists(), "looking changes nothing"


def test_without_a_shell(tmp_path):
    code, found = findings("--home", str(tmp_path), PATH="/nowhere")
    assert code == 1
    broken = [one for one in found if one["verdict"] == "broken"]
    assert [one["found"] for one in broken] == ["bash is not installed"]
    assert "install it" in broken[0]["way_out"]


def test_a_home_that_others_can_read(tmp_path):
    tmp_path.chmod(0o755)
    code, found = findings("--home", str(tmp_path))
    assert code == 0
    assert {
        "about": "home",
        "verdict": "note",
        "found": f"{tmp_path} can be read by other users",
        "way_out": f"chmod 700 {tmp_path}",
    } in found


def test_a_host_that_was_killed(tmp_path):
    (tmp_path / "host.json").write_text('{"pid": 4194305, "protocol": 1}')
    _, found = findings("--home", str(tmp_path))
    assert any("a PTY host was killed" in one["found"] for one in found)
