"""A home is used only if no other user can change it: owner, mode, symlinks and parents are checked at every door."""

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from server_home import serving
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage import open_terminal
from vantage.errors import VantageError
from vantage.ptyhost import ownership
from vantage.ptyhost.ownership import NotPrivate, check_home

OTHER = 65534
TOKEN = "planted-by-another-user-0123456789"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")


@pytest.fixture
def place():
    """A directory of ours below a sticky /tmp, as tests and people make them."""
    with tempfile.TemporaryDirectory(prefix="vantage-home-") as made:
        yield Path(made)


def make_home(path: Path, *, owner: int | None = None, mode: int = 0o700, token_owner: int | None = None) -> Path:
    path.mkdir()
    path.chmod(mode)
    token = path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    if token_owner is not None:
        os.chown(token, token_owner, token_owner)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


def of_another_user(place: Path) -> Path:
    return make_home(place / "home", owner=OTHER, token_owner=OTHER)


def writable_by_all(place: Path) -> Path:
    return make_home(place / "home", mode=0o777)


def writable_by_a_group(place: Path) -> Path:
    home = make_home(place / "home", mode=0o770)
    os.chown(home, -1, OTHER)
    return home


def with_a_planted_token(place: Path) -> Path:
    return make_home(place / "home", token_owner=OTHER)


def with_planted_conversations(place: Path) -> Path:
    home = make_home(place / "home")
    (home / "conversations").mkdir()
    os.chown(home / "conversations", OTHER, OTHER)
    return home


def with_a_writable_configuration(place: Path) -> Path:
    home = make_home(place / "home")
    (home / "config.toml").write_text("")
    (home / "config.toml").chmod(0o666)
    return home


def below_a_writable_parent(place: Path) -> Path:
    (place / "open").mkdir()
    (place / "open").chmod(0o777)
    return make_home(place / "open" / "home")


def below_another_users_parent(place: Path) -> Path:
    (place / "theirs").mkdir()
    home = make_home(place / "theirs" / "home")
    os.chown(place / "theirs", OTHER, OTHER)
    return home


def behind_another_users_link(place: Path) -> Path:
    (place / "shared").mkdir()
    (place / "shared").chmod(0o1777)
    real = make_home(place / "real")
    link = place / "shared" / "home"
    link.symlink_to(real)
    os.lchown(link, OTHER, OTHER)
    return link


def behind_a_link_into_a_writable_place(place: Path) -> Path:
    real = below_a_writable_parent(place)
    link = place / "home"
    link.symlink_to(real)
    return link


def back_from_behind_a_link(place: Path) -> Path:
    """The kernel goes from the link's target to its parent; by name, it would be a home that is fine."""
    make_home(place / "home")
    (place / "deep" / "deeper").mkdir(parents=True)
    make_home(place / "deep" / "home", mode=0o777)
    (place / "link").symlink_to(place / "deep" / "deeper")
    return place / "link" / ".." / "home"


def not_there_below_a_writable_parent(place: Path) -> Path:
    (place / "open").mkdir()
    (place / "open").chmod(0o777)
    return place / "open" / "home"


PLANTED = [
    pytest.param(of_another_user, "belongs to", marks=as_root),
    pytest.param(writable_by_all, "chmod 700", id="writable_by_all"),
    pytest.param(writable_by_a_group, "chmod 700", marks=as_root),
    pytest.param(with_a_planted_token, "belongs to", marks=as_root),
    pytest.param(with_planted_conversations, "belongs to", marks=as_root),
    pytest.param(with_a_writable_configuration, "chmod go-w", id="with_a_writable_configuration"),
    pytest.param(below_a_writable_parent, "chmod go-w", id="below_a_writable_parent"),
    pytest.param(below_another_users_parent, "belongs to", marks=as_root),
    pytest.param(behind_another_users_link, "belongs to", marks=as_root),
    pytest.param(behind_a_link_into_a_writable_place, "chmod go-w", id="behind_a_link_into_a_writable_place"),
    pytest.param(back_from_behind_a_link, "chmod 700", id="back_from_behind_a_link"),
    pytest.param(not_there_below_a_writable_parent, "chmod go-w", id="not_there_below_a_writable_parent"),
]
DOORS = {
    "serve": ("serve", "--port", "0"),
    "a command that starts a server": ("new", "work"),
    "a command that does not": ("ls",),
    "watch": ("watch", "work"),
    "mcp": ("mcp",),
    "token": ("token", "new"),
}


def run(*arguments: str, home: Path, **how) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment(VANTAGE_HOME=str(home)),
        timeout=PATIENCE,
        **how,
    )


def listing(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir()) if home.exists() else []


@pytest.mark.parametrize(("plant", "way_out"), PLANTED)
def test_a_home_that_another_user_could_change_is_refused(place, plant, way_out):
    home = plant(place)
    with pytest.raises(NotPrivate, match=way_out):
        check_home(str(home))


def test_a_home_that_another_user_makes_between_the_check_and_its_making(place, monkeypatch):
    """In /tmp every user can: the home is checked again when it is there."""
    makes = os.makedirs

    def second(path, mode=0o777, exist_ok=False):
        makes(path)
        Path(path).chmod(0o777)
        makes(path, mode=mode, exist_ok=exist_ok)

    monkeypatch.setattr(os, "makedirs", second)
    with pytest.raises(NotPrivate, match="chmod 700"):
        ownership.make_home(str(place / "home"))


@pytest.mark.parametrize("door", DOORS)
def test_every_command_refuses_it_in_one_line(place, door):
    home = writable_by_all(place)
    before = listing(home)
    done = run(*VANTAGE, *DOORS[door], home=home)
    assert done.returncode in (1, 3), done
    assert (done.stdout, done.stderr.count("\n")) == ("", 1), done
    assert str(home) in done.stderr and "chmod 700" in done.stderr
    assert listing(home) == before, "nothing is made there"


@as_root
def test_a_planted_token_is_not_taken_for_ours(place):
    home = of_another_user(place)
    done = run(*VANTAGE, "serve", "--port", "0", home=home)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{home} belongs to" in done.stderr and "--home" in done.stderr


def test_the_pty_host_refuses_it(place):
    home = writable_by_all(place)
    done = run(sys.executable, "-m", "vantage.ptyhost", "--home", str(home), home=home)
    assert done.returncode == 1, done
    assert "chmod 700" in done.stderr and "Traceback" not in done.stderr
    assert listing(home) == ["token"]


async def test_a_terminal_without_a_server_refuses_it(place):
    with pytest.raises(VantageError, match="chmod 700"):
        async with open_terminal(home=writable_by_all(place)):
            pass


def test_a_home_that_others_can_only_read_is_made_private(place):
    home = place / "home"
    home.mkdir()
    home.chmod(0o755)
    with serving(home):
        assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_a_link_of_our_own_is_followed(place):
    make_home(place / "real")
    (place / "home").symlink_to("real")
    check_home(str(place / "home"))
    (place / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        check_home(str(place / "loop"))


def as_other(code: str, *arguments: str) -> list[str]:
    """A Python program of another user. It imports before it changes: Python itself may be out of that user's reach."""
    imports = "import grp, os, pwd, shlex, socket, sys, tempfile\nfrom vantage.ptyhost.ownership import *\n"
    become = f"os.setgroups([])\nos.setgid({OTHER})\nos.setuid({OTHER})\n"
    return [sys.executable, "-c", imports + become + code, *arguments]


@as_root
def test_parents_of_root_are_fine_for_other_users():
    """A user's home is below directories of root, and below a sticky /tmp."""
    code = (
        "with tempfile.TemporaryDirectory() as made:\n    check_home(made)\n    check_home(made + '/not/there')\n"
        "try:\n    check_home('/root')\nexcept NotPrivate as error:\n    print(error)\n"
    )
    done = subprocess.run(as_other(code), capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert "/root belongs to root" in done.stdout


LISTEN = """
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
print("listening", flush=True)
listener.settimeout(60)
while True:
    connection, _ = listener.accept()
    connection.settimeout(60)
    print("heard", connection.recv(65536), flush=True)
    connection.close()
"""


@contextmanager
def another_users_server(path: Path):
    process = subprocess.Popen(as_other(LISTEN, str(path)), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "listening\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@as_root
@pytest.mark.parametrize("door", [("ls",), ("new", "work"), ("watch", "work"), ("mcp",), ("doctor",)])
def test_nothing_is_sent_to_another_users_server(place, door):
    """`server.json` of a server that was killed may name a socket that another user has made since."""
    home = make_home(place / "home")
    conversation = home / "conversations" / "work"
    conversation.mkdir(parents=True)
    (conversation / "conversation.json").write_text("{}")
    with tempfile.TemporaryDirectory(prefix="vantage-theirs-") as theirs:
        os.chown(theirs, OTHER, OTHER)
        Path(theirs).chmod(0o755)
        place.chmod(0o755)
        path = f"{theirs}/server.sock"
        said = {"pid": 1, "url": "http://127.0.0.1:1", "socket": path, "version": "x"}
        (home / "server.json").write_text(json.dumps(said))
        with another_users_server(Path(path)) as process:
            done = run(*VANTAGE, *door, home=home)
            process.kill()
            heard = process.stdout.read()
    assert heard.replace("heard b''\n", "") == "", "a connection is made, and nothing sent"
    assert "another user" in done.stderr + done.stdout, done


@as_root
def test_no_shell_is_asked_of_another_users_host(place):
    home = make_home(place / "home")
    with tempfile.TemporaryDirectory(prefix="vantage-theirs-") as theirs:
        os.chown(theirs, OTHER, OTHER)
        Path(theirs).chmod(0o755)
        (home / "host.json").write_text(json.dumps({"pid": 1, "socket": f"{theirs}/host.sock", "protocol": 1}))
        with another_users_server(Path(theirs) / "host.sock") as process:
            done = run(*VANTAGE, "serve", "--port", "0", home=home)
            process.kill()
            heard = process.stdout.read()
    assert heard.replace("heard b''\n", "") == ""
    assert done.returncode == 1 and "another user" in done.stderr, done
    assert done.stderr.count("\n") == 1, done


@as_root
def test_a_squatted_directory_for_sockets_is_refused_in_one_line(place):
    """A home whose path is too long for a socket has a directory in /tmp, whose name another user can know."""
    home = place / ("x" * 60) / ("y" * 60)
    home.parent.mkdir()
    make_home(home)
    code = "import sys\nfrom vantage.ptyhost.protocol import socket_path\nprint(socket_path(sys.argv[1]))"
    path = Path(run(sys.executable, "-c", code, str(home), home=home).stdout.strip())
    try:
        os.chown(path.parent, OTHER, OTHER)
        done = run(*VANTAGE, "serve", "--port", "0", home=home)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done
        assert f"{path.parent} belongs to" in done.stderr
    finally:
        path.parent.rmdir()


def test_sockets_are_ours_alone(place):
    with serving(place / "home") as server:
        for path in (server.home / "server.sock", server.home / "mcp.sock"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(server.socket)
