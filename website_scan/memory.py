"""Return a worker's unused memory to the operating system.

This happens after a scan, and with glibc only. glibc creates a heap (arena) for each thread of a scan, and retains up
to 64 MiB of free memory at the end of each heap, for threads that will never start. So a worker grows with every large
page. A single heap costs no speed if only one thread runs at a time.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

# Constant from malloc.h.
M_ARENA_MAX = -8
# After this many scans, a process has imported all modules and filled its caches.
WARM_UP_SCANS = 3

_libc: Any = ctypes.CDLL(None)
_is_glibc = hasattr(_libc, "gnu_get_libc_version")
_frozen_scans = 0


def use_one_heap() -> None:
    """Make malloc use a single heap in this process and its forks.

    Must be called before any thread starts.
    """
    if _is_glibc:
        _libc.mallopt(M_ARENA_MAX, 1)


def release_memory() -> None:
    """Collect garbage and free memory after a scan.

    Returns free memory to the operating system. A large page may create few objects, and Python starts collections by
    the number of objects: the garbage of several such pages would stay in memory. Objects that exist after the first
    scans are modules and caches. They are frozen, because a collection that traverses them takes 30 ms, and 1 ms
    without them.
    """
    global _frozen_scans
    gc.collect()
    if _frozen_scans < WARM_UP_SCANS:
        _frozen_scans += 1
        gc.freeze()
    if _is_glibc:
        _libc.malloc_trim(0)
