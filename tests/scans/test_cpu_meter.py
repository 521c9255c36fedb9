"""Processor time of a visit, including the child process that tested its markup."""

from __future__ import annotations

import subprocess
import sys
import time

from scans.browser import CpuMeter

BUSY = "import time\nwhile time.process_time() < 0.2: pass"


def test_ended_child_processes_are_counted() -> None:
    meter = CpuMeter()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert meter.cpu_s() >= 0.2


def test_child_processes_that_ended_earlier_are_not_counted() -> None:
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    start_s = time.process_time()
    meter = CpuMeter()
    measured_s = meter.cpu_s()
    assert measured_s <= time.process_time() - start_s
