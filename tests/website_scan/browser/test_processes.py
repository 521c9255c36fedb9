"""Killing of the browser's processes with all their descendants, even if nobody reaps an orphan."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Acts like the init process of a container that never reaps orphans; prctl(2) makes any process a reaper of orphans.
INIT_PROCESS = """
import ctypes, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
# Kills a child process that has its own child, which becomes an orphan, and prints the orphan's state.
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
def test_kill_does_not_wait_for_orphans_to_be_reaped() -> None:
    command = [sys.executable, "-c", INIT_PROCESS, KILLER]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["zombie", "False"]
