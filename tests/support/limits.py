"""A process that is given less than it wants."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def limited(pid: int, what: int, most: int) -> Iterator[None]:
    """A process gets no more of something: descriptors (RLIMIT_NOFILE), bytes of a file (RLIMIT_FSIZE, a full disk)."""
    soft, hard = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (most, hard))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, what, (soft, hard))
