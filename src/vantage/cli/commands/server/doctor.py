"""`vantage doctor`: what works on this machine and what does not, with the way out."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Literal

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import home_option

Verdict = Literal["ok", "note", "broken"]
Finding = tuple[Verdict, str, str]
"""The verdict, what was found, and the way out."""


@click.command(cls=OneLineCommand)
@home_option
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
def doctor(home: str | None, as_json: bool) -> None:
    """Say what works on this machine and what does not, with the way out.

    Exits with 1 when something that is needed does not work.
    """
    from pathlib import Path

    from vantage.conversation.store.home import home as default_home

    place = Path(home or default_home(os.environ)).expanduser()
    found = [(name, *finding) for name, check in _CHECKS.items() for finding in check(str(place))]
    if as_json:
        import msgspec

        keys = ("about", "verdict", "found", "way_out")
        click.echo(msgspec.json.encode([dict(zip(keys, one, strict=True)) for one in found]))
    else:
        for name, verdict, what, way_out in found:
            glyph, colour = _GLYPHS[verdict]
            click.echo(f"{click.style(glyph, fg=colour)} {name:<10} {what}" + (f": {way_out}" if way_out else ""))
    sys.exit(any(verdict == "broken" for _, verdict, _, _ in found))


_GLYPHS: dict[Verdict, tuple[str, str]] = {"ok": ("✔", "green"), "note": ("•", "yellow"), "broken": ("✘", "red")}


def _python(_home: str) -> Iterator[Finding]:
    import platform

    from vantage import __version__

    yield "ok", f"vantage {__version__} on Python {platform.python_version()}, {platform.system()}", ""


def _screen(_home: str) -> Iterator[Finding]:
    from vantage.terminal.engines import kind_of

    try:
        engine = kind_of("auto")
    except Exception as error:  # noqa: BLE001 -- every error is a finding
        yield "broken", f"no engine for screens can be loaded ({error})", "pip install pyghostty, or pyte"
        return
    if engine.name == "ghostty":
        yield "ok", f"screens are drawn by ghostty ({engine.build})", ""
    else:
        yield "note", f"screens are drawn by {engine.name}", "pip install pyghostty draws them faster and truer"


def _expressions(_home: str) -> Iterator[Finding]:
    try:
        import re2  # noqa: F401

        yield "ok", "regular expressions are RE2", ""
    except ImportError as error:
        yield "broken", f"RE2 cannot be loaded ({error})", "pip install google-re2"


def _shells(_home: str) -> Iterator[Finding]:
    from vantage.ptyhost import shells

    search = os.environ.get("PATH", os.defpath)
    for name in ("bash", "zsh", "fish", "sh"):
        try:
            yield "ok", shells.find(name, search).path, ""
        except shells.UnknownShell:
            verdict: Verdict = "broken" if name == "bash" else "note"
            yield verdict, f"{name} is not installed", "it is the default shell: install it" if name == "bash" else ""


def _home_directory(home: str) -> Iterator[Finding]:
    from vantage.ptyhost.ownership import NotPrivate, check_home
    from vantage.ptyhost.protocol import socket_path

    parent = home
    while not os.path.exists(parent):  # noqa: PTH110
        parent = os.path.dirname(parent)  # noqa: PTH120
    if not os.access(parent, os.W_OK | os.X_OK):
        yield "broken", f"{home} cannot be written", "give --home, or set VANTAGE_HOME"
        return
    try:
        check_home(home)
    except NotPrivate as error:
        yield "broken", error.message, error.hint
        return
    if os.path.exists(home) and os.stat(home).st_mode & 0o077:  # noqa: PTH110, PTH116
        yield "note", f"{home} can be read by other users", f"chmod 700 {home}"
    else:
        yield "ok", home, ""
    try:
        yield "ok", f"its PTY host listens at {socket_path(home)}", ""
    except OSError as error:
        yield "broken", f"there is no place for the PTY host's socket ({error})", "set XDG_RUNTIME_DIR"


def _host(home: str) -> Iterator[Finding]:
    import json
    from pathlib import Path

    from vantage.ptyhost.protocol import SPOKEN

    try:
        host = json.loads((Path(home) / "host.json").read_text(encoding="utf-8"))
        os.kill(host["pid"], 0)
    except FileNotFoundError:
        yield "ok", "no PTY host runs: the first terminal starts one", ""
    except (OSError, ValueError, KeyError):
        yield (
            "note",
            "a PTY host was killed: its terminals are lost, and their output is kept",
            "the next one replaces it",
        )
    else:
        spoken = host.get("protocol") in SPOKEN
        what = (
            f"a PTY host runs (process {host['pid']}, vantage {host.get('version')}, protocol {host.get('protocol')})"
        )
        yield ("ok", what, "") if spoken else ("broken", what, "'vantage stop --shells' ends it, and its shells")


def _server(home: str) -> Iterator[Finding]:
    from vantage.client.launch import running
    from vantage.errors import NoServer

    try:
        said = running(home)
    except NoServer as error:
        yield "broken", error.message, error.hint or "the next command starts another"
        return
    except OSError as error:
        yield "broken", str(error), "the next command starts another"
        return
    if said is None:
        yield "ok", "no server runs: the first command that needs one starts it", ""
        return
    from vantage import __version__

    what = f"a server runs at {said['url']} (process {said['pid']}, vantage {said['version']})"
    if said["version"] == __version__:
        yield "ok", what, ""
    else:
        yield "note", what, "it is of another version: 'vantage stop' ends it, and leaves its shells alive"


def _conversations(home: str) -> Iterator[Finding]:
    """Whether the settings of each conversation can be read: without them it cannot be opened."""
    from pathlib import Path

    from vantage.conversation.store.conversation_folder import known_settings

    fine = 0
    for folder, settings in known_settings(Path(home)):
        if isinstance(settings, Exception):
            yield "broken", f"{folder.settings} is damaged ({settings})", "put it back from a copy, or remove it"
        else:
            fine += 1
    yield "ok", f"{fine} conversation{'' if fine == 1 else 's'} can be opened", ""


def _specs(home: str) -> Iterator[Finding]:
    """Whether the render specs of the home and of installed packages can be used."""
    from pathlib import Path

    from vantage import extensions
    from vantage.conversation.store.specs.home import SpecFolder
    from vantage.timeline.tools.registry import ToolRegistry

    folder = SpecFolder(Path(home) / "specs", report_to=lambda _: None)
    folder.refresh()
    for broken in folder.broken:
        for error in broken.errors:
            yield "note", error if broken.path in error else f"{broken.path}: {error}", "'vantage spec check' says more"
    for problem in extensions.load(ToolRegistry()):
        yield "note", problem, "mend or remove the package: its tools are shown without it"
    tools = folder.own_tools()
    known = f"{len(tools)} tool{'' if len(tools) == 1 else 's'} in {folder.path}"
    yield "ok", f"render specs of {known}" if tools else f"no render specs in {folder.path}", ""


def _settings(home: str) -> Iterator[Finding]:
    """Every setting that is in force, and where it comes from."""
    from pathlib import Path

    from vantage.errors import VantageError
    from vantage.server.config import load, unknown_variables

    try:
        loaded = load(Path(home), {}, os.environ)
    except VantageError as error:
        yield "broken", error.message, error.hint
        return
    for name, source in loaded.sources.items():
        value = getattr(loaded.config, name)
        shown = ", ".join(value) or "none" if isinstance(value, list) else str(value).lower()
        yield "ok", f"{name} = {shown} ({source})", ""
    for variable, hint in unknown_variables(os.environ):
        yield "note", f"the variable {variable} means nothing", hint


def _pictures(_home: str) -> Iterator[Finding]:
    from vantage.export.screen.png import converter

    found = converter()
    if found:
        yield "ok", f"PNG pictures are made by {found}", ""
    else:
        yield "note", "PNG pictures cannot be made, SVG can", "install librsvg2-bin, or Chromium"


_CHECKS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "python": _python,
    "screen": _screen,
    "waits": _expressions,
    "shell": _shells,
    "home": _home_directory,
    "host": _host,
    "server": _server,
    "kept": _conversations,
    "specs": _specs,
    "settings": _settings,
    "pictures": _pictures,
}
