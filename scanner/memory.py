"""Memory that a scan no longer needs goes back to the machine, not into reserve. All of this is glibc's matter.

glibc gives each of a scan's threads a heap of its own, and keeps up to 64 MiB at the end of each, for threads
that will never come; a worker grows with every large page. One heap does no harm where one thread runs at once.
"""

from __future__ import annotations

import ctypes
from typing import Any

M_ARENA_MAX = -8  # malloc.h

_libc: Any = ctypes.CDLL(None)
_is_glibc = hasattr(_libc, "gnu_get_libc_version")


def use_one_heap() -> None:
    """For the rest of this process' life, and its forks'; to be called before there are threads."""
    if _is_glibc:
        _libc.mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Have the C library return what is free."""
    if _is_glibc:
        _libc.malloc_trim(0)
