"""Tests for measuring a visit's CPU time.

The time includes child processes.
"""

from __future__ import annotations

import subprocess
import sys
import time

from scans.browser import CpuMeter

BUSY = "import time\nwhile time.process_time() < 0.2: pass"


def test_cpu_time_includes_ended_child_processes() -> None:
    meter = CpuMeter()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert meter.cpu_s() >= 0.2


def test_cpu_time_excludes_earlier_processes() -> None:
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    start_s = time.process_time()
    meter = CpuMeter()
    measured_s = meter.cpu_s()
    assert measured_s <= time.process_time() - start_s
