"""Tests for the measurement of processor time and memory of process trees."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil

from benchmarks.usage import cpu_s, memory_mib, process_tree, scheduled_ms

BURN = "import time\nwhile time.process_time() < 0.3: pass"


def test_processor_time_includes_children_that_have_just_ended() -> None:
    root = psutil.Process()
    start_s = cpu_s(root)
    with subprocess.Popen([sys.executable, "-c", BURN]) as child:
        # The child becomes a zombie, which is not reaped yet.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert cpu_s(root) - start_s > 0.25  # The kernel counts in ticks of 0.01 seconds.
        assert child.pid in {process.pid for process in process_tree(root)}
        assert memory_mib(root) > 1
    assert cpu_s(root) - start_s > 0.25  # The kernel counts in ticks of 0.01 seconds.


def test_scheduled_time_is_that_of_the_process() -> None:
    before_ms, start_s = scheduled_ms(os.getpid()), time.process_time()
    while time.process_time() - start_s < 0.05:
        pass
    assert scheduled_ms(os.getpid()) - before_ms > 40
