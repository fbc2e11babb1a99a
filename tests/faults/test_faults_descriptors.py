"""No descriptor is left for the server or for the host: open connections are served, new ones when one is free."""

import resource
from contextlib import closing
from pathlib import Path

from aftermath import assert_all_is_well
from extent import extent
from limits import limited
from machine import until

FILES = resource.RLIMIT_NOFILE


def in_use(pid: int) -> int:
    """The highest descriptor plus one, because the limit is a limit on their numbers."""
    return max(int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()) + 1


def test_the_server_has_no_descriptors_left(stage):
    for chance in stage.acts():
        printer, runner, typist = stage.printer(), stage.runner(), stage.typist()
        stage.watcher()
        runner.turned(2)
        for _ in range(extent(3, 20)):
            server = stage.server.process.pid
            with limited(server, FILES, chance.choice([0, in_use(server), in_use(server) + chance.randint(1, 3)])):
                printer.further(chance.randint(20, 200))
            printer.further(chance.randint(1, 20))
        runner.turned(2)
        with closing(stage.server.connection()) as inside:
            stage.server.get("/healthz", over=inside)
            with limited(stage.server.process.pid, FILES, 0):
                refused = stage.server.post("/v1/conversations", {"id": "late"}, over=inside)
                assert (refused.status, refused.json["error"]["hint"]) == (503, "raise the limit: ulimit -n")
            assert stage.server.get("/healthz", over=inside).status == 200
        stage.conversation("late")
        typist.turned(2)
        assert_all_is_well(stage)


def test_the_host_has_no_descriptors_left(stage):
    """Running shells continue; a request for another one is refused with the reason, and succeeds later."""
    for chance in stage.acts():
        printer, runner = stage.printer(), stage.runner()
        fresh = stage.conversation()
        stage.watcher()
        for _ in range(extent(2, 20)):
            host = stage.host
            with limited(host, FILES, in_use(host) + chance.randint(-2, 2)):
                refused = stage.server.post(f"/v1/conversations/{fresh}/pty/exec_block", {"command": "echo"})
                assert (refused.status, refused.code) == (503, "unavailable"), refused.body
                assert "Too many open files" in refused.json["error"]["message"], refused.body
                printer.further(chance.randint(20, 100))
                runner.turned(2)
            stage.pty(fresh, "exec_block", command="echo there")
            stage.pty(fresh, "exec_block", command="exit")
            until(lambda fresh=fresh: stage.pty(fresh, "status")["mode"] == "exited", "its shell is still there")
        assert_all_is_well(stage)
