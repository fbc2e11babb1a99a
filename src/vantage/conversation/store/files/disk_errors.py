"""Errors of the disk: no room, no descriptors left, a file that was changed from outside."""

import errno
from pathlib import Path

from vantage.errors import Unavailable

_SCARCE = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)


def is_scarcity(error: OSError) -> bool:
    """Whether the error is a lack of room or descriptors, so that the operation can be tried again later."""
    return error.errno in _SCARCE


def no_room(error: OSError) -> Unavailable:
    """The error for a write that can be tried again later."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return Unavailable(f"no more files can be opened: {error.strerror}", hint="raise the limit: ulimit -n")
    return Unavailable(f"the disk takes no more: {error.strerror}", hint="free some space; nothing is lost")


def damaged(path: Path, why: object, hint: str = "put it back from a copy, or remove it") -> Unavailable:
    """The error for a file of ours that another program or the disk has changed."""
    if isinstance(why, OSError):
        if is_scarcity(why):
            return no_room(why)
        why = why.strerror
    return Unavailable(f"{path} is damaged: {why}", hint=hint)
