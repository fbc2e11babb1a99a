"""Which processes are running, by id."""

import os


def is_running(pid: int) -> bool:
    """Whether there is a process with that id, of any user."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's
    return True
