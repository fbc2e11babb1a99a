"""First use: the commands of the README, as a newcomer types them, in a home where nothing is yet.

`make demo` shows the demo; the second command, `vantage connect claude --write`, is proved by test_real_agents.py.
"""

import json
import re
import subprocess

from places import ROOT
from started_server import StartedServer, nothing_runs_afterwards
from terminal_home import PATIENCE, environment
from terminals import VANTAGE


def test_one_command_shows_the_demo(tmp_path):
    with nothing_runs_afterwards(tmp_path) as home:
        done = subprocess.run(
            ["make", "demo", "DEMO=--pace 0"],
            cwd=ROOT,
            env=environment(HOME=str(tmp_path)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE * 2,
        )
        assert done.returncode == 0, done.stderr
        server = StartedServer(home)
        (conversation,) = server.conversations
        rows = server.rows(conversation)

        # in the terminal that started it
        for part in ("• Update Plan", "Hello, world!", "• Ran ./guess", "➚ Deploy billing", "connect claude --write"):
            assert part in done.stdout

        # over HTTP, as the page gets it
        assert [one["row"]["title"] for one in rows].count("Ran ./guess") == 1
        assert {one["row"]["status"] for one in rows} <= {"none", "ok", "warning"}
        assert any("unlocked with 13 characters" in one["text"] for one in rows)

        # in a browser: the link logs it in, once
        secret = re.search(rf"{server.url}/login#(\S+)", done.stderr)[1]
        assert [server.post("/login", {"secret": secret}, token="").status for _ in range(2)] == [200, 401]
        page = server.get("/", token="", unix=False)
        assert (page.status, page.headers.get_content_type()) == (200, "text/html")

        plays_without_a_viewer(server)


def plays_without_a_viewer(server):
    """`--detach` only starts it; a later viewer sees it from its beginning to its end."""
    started = subprocess.run(
        [*VANTAGE, "demo", "--detach", "--json", "--pace", "0", "--home", str(server.home)],
        env=environment(),
        capture_output=True,
        check=True,
    )
    made = json.loads(started.stdout)
    assert made["url"].startswith(server.url)
    watching = [*VANTAGE, "watch", made["id"], "--home", str(server.home)]
    with subprocess.Popen(watching, env=environment(), stdout=subprocess.PIPE, text=True) as watch:
        assert any("connect claude --write" in line for line in watch.stdout), "it ends with what to do next"
        watch.terminate()
    assert {"Ran ./guess", "Ran cat notes.txt"} <= set(server.texts(made["id"]))
