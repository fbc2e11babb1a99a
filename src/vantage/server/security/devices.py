"""The device of a browser, from the headers that it sends: "Chromium on Linux".

Only words of these tables are returned, so nothing that a client sends is shown.
"""

from collections.abc import Mapping

_PROGRAMS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Brave", "Brave"),
    ("Google Chrome", "Chrome"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ('"Chromium"', "Chromium"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "Python"),
)
"""A part of the headers → the browser's name. The first match counts: most browsers name others too."""
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
    ("FreeBSD", "FreeBSD"),
)


def device(headers: Mapping[str, str]) -> str:
    """The device that a request comes from."""
    said = f"{headers.get('sec-ch-ua', '')} {headers.get('user-agent', '')}"
    program = next((name for part, name in _PROGRAMS if part in said), "An unknown program")
    system = next((name for part, name in _SYSTEMS if part in said), "")
    return f"{program} on {system}" if system else program
