from __future__ import annotations

import subprocess
import sys

import pytest

from website_scan import memory

# Program with ten threads that parse a large page and retain a small object.
PROGRAM = """
import ctypes, re, sys, threading
from pathlib import Path
from selectolax.lexbor import LexborHTMLParser
from website_scan import memory

def resident_mib():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024

kept = []

def work():
    pages = [LexborHTMLParser("<p>x" * 100_000) for _ in range(2)]
    kept.append(LexborHTMLParser("<p>x"))

memory.use_one_heap()
work()
memory.release_memory()
before = resident_mib()
for _ in range(3):
    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
memory.release_memory()
print(resident_mib() - before, flush=True)
libc = ctypes.CDLL(None)
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


# Program that checks that only objects of the first scans are frozen.
COLLECTS = """
import gc, weakref
from website_scan import memory

class Circle:
    def __init__(self):
        self.itself = self

for _ in range(memory.WARM_UP_SCANS):
    held = [Circle() for _ in range(1000)]
    memory.release_memory()
    last = weakref.ref(held[0])
frozen = gc.get_freeze_count()
left = weakref.ref(Circle())
kept = [Circle() for _ in range(1000)]
memory.release_memory()
print(frozen > 1000, last() is not None, left() is None, gc.get_freeze_count() <= frozen)
"""


@pytest.mark.skipif(not memory._is_glibc, reason="other C libraries keep no heaps for threads")
def test_memory_of_large_pages_is_released() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    growth_mib, _, heaps = ran.stdout.partition("\n")
    assert int(growth_mib) < 100  # Without the release of memory, the growth would be about 500 MiB.
    assert heaps.count("<heap ") == 1


def test_objects_of_first_scans_are_not_collected() -> None:
    ran = subprocess.run([sys.executable, "-c", COLLECTS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True"] * 4


def test_memory_functions_need_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_is_glibc", False)
    monkeypatch.setattr(memory, "_libc", None)
    memory.use_one_heap()
    memory.release_memory()
