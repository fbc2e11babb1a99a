"""`vantage open`: the page, in a browser that is logged in.

The browser gets the path of a file that only its user can read and that redirects to the one-time link, because every
user of the machine can read the arguments of a process. The file is removed when the link was used.
"""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import click

from vantage.cli.arguments.command import Verb, json_option
from vantage.cli.arguments.conversation import home_option
from vantage.cli.display.printing import note, print_json
from vantage.cli.home_client import HomeClient, client_of
from vantage.client.requests import request
from vantage.client.retry import Retry

_FOLDER = "links"
_LINK_S = 600
"""How long a link works."""


@click.command(cls=Verb)
@click.option("--print", "only_print", is_flag=True, help="Print the link instead of opening it.")
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, _LINK_S),
    default=10,
    help="How long the browser may take; then the link is printed, too.  [default: 10]",
)
@json_option
@home_option
def open(only_print: bool, wait: float, as_json: bool, home: str | None) -> None:
    """Open the page in your browser.

    The link works once, for ten minutes, and for you only; it is printed where no browser can be opened.
    """
    with client_of(home) as client:
        link = client.answer(request("POST", "/v1/links", {}))
        if as_json:
            print_json(link)
        elif only_print or not (file := handed_over(client.home, link["url"])):
            click.echo(link["url"])
        elif _was_used(client, link["id"], wait):
            _remove(file)
            note(f"Opened {link['url'].partition('/login')[0]} in your browser.")
        else:  # the browser is slow, or may not read the file, which the next call removes
            note("No browser has used the link yet. It works here, too:")
            click.echo(link["url"])


def handed_over(home: str, url: str) -> Path | None:
    """The file that a browser was given to open; None where no browser can be opened."""
    if not _has_display() or _is_confined():
        return None
    import webbrowser

    file = _written(Path(home) / _FOLDER, url)
    if webbrowser.open(file.as_uri()):
        return file
    _remove(file)
    return None


def _was_used(client: HomeClient, link_id: str, seconds: float) -> bool:
    """Whether a browser logs in with the link in time."""
    retry = Retry(seconds)
    while not client.answer(request("GET", f"/v1/links/{link_id}"))["used"]:
        if not retry.pause():
            return False
    return True


def _has_display() -> bool:
    """Whether there is a display. Without one, a browser would run in this terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _is_confined() -> bool:
    """Whether the default browser is a snap or a flatpak, which cannot read files in hidden directories."""
    if sys.platform == "darwin" or os.environ.get("BROWSER"):
        return False
    try:
        name = subprocess.check_output(
            ["xdg-settings", "get", "default-web-browser"],  # noqa: S607 -- found by PATH
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=5,
        ).strip()
    except (OSError, subprocess.SubprocessError):
        return False
    flatpaks = (Path("/var/lib/flatpak"), Path.home() / ".local/share/flatpak")
    return _SNAP.fullmatch(name) is not None or any(
        (place / "exports/share/applications" / name).is_file() for place in flatpaks
    )


_SNAP = re.compile(r"[\w-]+_[\w-]+\.desktop")
"""The name of a snap's desktop file: `firefox_firefox.desktop`."""


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Vantage</title>
<noscript><meta http-equiv="refresh" content="0; url={url}"></noscript>
<script>location.replace("{url}");</script>
</html>
"""


def _written(folder: Path, url: str) -> Path:
    """A file that redirects to a link. Files of links that no longer work are removed."""
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    for old in folder.glob("*.html"):
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > _LINK_S:
                old.unlink()
    file = folder / f"{os.urandom(8).hex()}.html"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as page:
        page.write(_PAGE.format(url=url))  # our address and our secret: no character in it has a meaning in HTML
    return file


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
