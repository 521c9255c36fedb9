"""Test time limits of a part of a task, in a process like those of a worker's pool."""

from __future__ import annotations

import subprocess
import sys
import time

from infrastructure.task_limits import task_limits

LIKE_A_POOL_PROCESS = """
import signal, time
from billiard.exceptions import SoftTimeLimitExceeded
from billiard.pool import SIG_SOFT_TIMEOUT, soft_timeout_sighandler
from infrastructure.task_limits import task_limits
signal.signal(SIG_SOFT_TIMEOUT, soft_timeout_sighandler)
"""
INTERRUPTED = """
try:
    with task_limits(0.2, 60):
        time.sleep(30)
except SoftTimeLimitExceeded:
    print("interrupted")
with task_limits(0.2, 0.4):
    pass
time.sleep(0.6)
print("not interrupted after the end")
"""
# The masked signal stands for code that never returns to Python.
HANGING = """
signal.pthread_sigmask(signal.SIG_BLOCK, {SIG_SOFT_TIMEOUT})
with task_limits(0.1, 0.5):
    time.sleep(30)
print("not reached")
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LIKE_A_POOL_PROCESS + script], capture_output=True, text=True, timeout=25, check=False
    )


def test_soft_limit_interrupts_the_part_of_the_task() -> None:
    process = run(INTERRUPTED)
    assert process.stdout.splitlines() == ["interrupted", "not interrupted after the end"], process.stderr


def test_hard_limit_ends_the_process_with_its_tracebacks() -> None:
    process = run(HANGING)
    assert (process.returncode, process.stdout) == (1, "")
    assert "Timeout" in process.stderr


def test_other_processes_have_no_limits() -> None:
    with task_limits(0.01, 0.01):
        time.sleep(0.1)  # Longer than the limits.
