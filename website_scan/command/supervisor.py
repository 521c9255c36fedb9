"""Supervisor of the command of `--start`: a separate program that ends all processes of the command.

The supervisor ends them when the command ends, and when its own standard input is closed. The kernel closes it if the
scanner is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading

import psutil

GRACE_S = 5.0
ROUNDS = 5  # processes may start other processes while they are ended
PR_SET_CHILD_SUBREAPER = 36  # prctl(2)


def main(command: str) -> int:
    """Run the shell command. Returns its exit status, or 0 if the supervisor had to end the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ignore_signal)
    if sys.platform == "linux":
        # Processes whose parent has ended become children of the supervisor, which can then end them.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, start_new_session=True)
    ends: queue.SimpleQueue[int] = queue.SimpleQueue()
    for wait_for_end in (started.wait, lambda: len(os.read(0, 1))):
        threading.Thread(target=lambda wait=wait_for_end: ends.put(wait()), daemon=True).start()
    status = ends.get()
    _end_all(started.pid)
    return status


def _ignore_signal(*_: object) -> None:
    """Ignore a signal: the scanner gets it, too, and ends this program. Children would inherit SIG_IGN."""


def _end_all(group: int) -> None:
    for number in (signal.SIGTERM, *[signal.SIGKILL] * ROUNDS):
        processes = psutil.Process().children(recursive=True)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        psutil.wait_procs(processes, GRACE_S)
        if not psutil.Process().children(recursive=True):
            return


if __name__ == "__main__":
    os._exit(main(sys.argv[1]) % 256)  # sys.exit would wait for the thread that reads standard input
