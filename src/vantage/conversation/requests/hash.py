"""The hash of what a request shows. An answer carries the hash of what its client displayed."""

from vantage.events import Request
from vantage.timeline.specs.check import spec_hash

SHOWN = ("kind", "title", "text", "tool", "args", "cwd", "details", "options", "schema")


def request_hash(request: Request) -> str:
    """The first 16 hex digits of the SHA-256 of what is shown, as canonical JSON. Absent fields are left out."""
    shown = {name: getattr(request, name) for name in SHOWN}
    return spec_hash({name: value for name, value in shown.items() if value is not None})
