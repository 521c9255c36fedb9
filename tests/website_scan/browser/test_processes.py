"""Processes of the browser: they are killed with all their descendants, also where nobody takes an orphan's status."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Is like the first process of a container that takes no statuses of orphans; prctl(2) makes any process such a one.
FIRST_PROCESS = """
import ctypes, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
# Kills a child that has a child of its own, which so becomes an orphan, and prints its state.
KILLER = """
import subprocess, sys, psutil
from website_scan.browser import processes
processes.STOP_S = 3600
start = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()']).pid, flush=True); input()"
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
with subprocess.Popen([sys.executable, "-c", start], **pipes, start_new_session=True) as child:
    orphan = psutil.Process(int(child.stdout.readline()))
    processes.kill_trees([psutil.Process(child.pid)])
    print(orphan.status(), psutil.pid_exists(child.pid))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux lets any process have orphans.")
def test_kill_does_not_wait_until_somebody_takes_the_status_of_an_orphan() -> None:
    command = [sys.executable, "-c", FIRST_PROCESS, KILLER]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["zombie", "False"]
