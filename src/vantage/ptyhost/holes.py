"""Frees disk space inside a file: a hole takes no blocks, and offsets after it stay the same."""

import ctypes
import os
from typing import Final

_PUNCH_HOLE: Final = 0x02 | 0x01  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
_libc: Final = ctypes.CDLL(None, use_errno=True)


def punch_hole(descriptor: int, start: int, length: int) -> None:
    """Frees a part of a file. Raises OSError where the file system cannot."""
    result = _libc.fallocate(
        ctypes.c_int(descriptor), ctypes.c_int(_PUNCH_HOLE), ctypes.c_int64(start), ctypes.c_int64(length)
    )
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
