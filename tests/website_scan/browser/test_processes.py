"""Test that all browser processes are killed.

This includes all their descendants, even if nobody reaps orphans.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

# This program acts like a container's init process that never reaps orphans.
INIT_PROCESS = """
import ctypes, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
# This program kills a child and prints the state of the child's orphan.
KILLER = """
import subprocess, sys, psutil
from website_scan.browser import processes
processes.STOP_TIMEOUT_S = 3600
start = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()']).pid, flush=True); input()"
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
with subprocess.Popen([sys.executable, "-c", start], **pipes, start_new_session=True) as child:
    orphan = psutil.Process(int(child.stdout.readline()))
    processes.kill_trees([psutil.Process(child.pid)])
    print(orphan.status(), psutil.pid_exists(child.pid))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux lets any process have orphans.")
def test_kill_does_not_wait_for_orphans_to_be_reaped() -> None:
    command = [sys.executable, "-c", INIT_PROCESS, KILLER]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["zombie", "False"]
