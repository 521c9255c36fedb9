"""Return memory that a scan no longer needs to the operating system. Has an effect with glibc only.

glibc gives each thread of a scan a heap of its own, and keeps up to 64 MiB free at the end of each heap, for threads
that will never start. So a worker grows with every large page. One heap costs nothing where one thread runs at a time.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

M_ARENA_MAX = -8  # malloc.h
WARM_UP = 3  # scans of a process, after which it has loaded what it holds for good

_libc: Any = ctypes.CDLL(None)
_is_glibc = hasattr(_libc, "gnu_get_libc_version")
_given_back = 0


def use_one_heap() -> None:
    """Use one heap for the rest of the life of this process and its forks. Call it before any thread starts."""
    if _is_glibc:
        _libc.mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Free what the scan leaves behind, and have the C library return free memory to the operating system.

    A large page may make few objects, and Python collects by their number: several such pages would stay in memory.
    What is left after the first scans of a process are modules and caches: they are frozen, because a collection that
    looks at them takes 30 ms, and 1 ms without them.
    """
    global _given_back
    gc.collect()
    if _given_back < WARM_UP:
        _given_back += 1
        gc.freeze()
    if _is_glibc:
        _libc.malloc_trim(0)
