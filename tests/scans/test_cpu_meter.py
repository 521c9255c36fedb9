"""Processor time of a visit, with the process in which its markup was tried."""

from __future__ import annotations

import subprocess
import sys
import time

from scans.browser import CpuMeter

BUSY = "import time\nwhile time.process_time() < 0.2: pass"


def test_processes_that_have_ended_count() -> None:
    meter = CpuMeter()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert meter.cpu_s() >= 0.2


def test_processes_that_ended_before_do_not_count() -> None:
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    began_s = time.process_time()
    meter = CpuMeter()
    spent_s = meter.cpu_s()
    assert spent_s <= time.process_time() - began_s
