"""Keeper of the command of `--start`: a program of its own, which ends all processes that the command has started.

It does so when the command ends, and when its standard input is closed: the kernel closes it if the scanner is killed.
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
ROUNDS = 5  # processes may start others while they are ended
PR_SET_CHILD_SUBREAPER = 36  # prctl(2)


def main(command: str) -> int:
    """Run the shell command. Returns its exit status, or 0 if it had to be ended."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, _wait_for_the_scanner)
    if sys.platform == "linux":
        # Processes whose parent has ended become children of this one, so that it finds them.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, start_new_session=True)
    ends: queue.SimpleQueue[int] = queue.SimpleQueue()
    for end in (started.wait, lambda: len(os.read(0, 1))):
        threading.Thread(target=lambda end=end: ends.put(end()), daemon=True).start()
    status = ends.get()
    _end_all(started.pid)
    return status


def _wait_for_the_scanner(*_: object) -> None:
    """Keep running: the scanner gets the same signal, and ends this program. Unlike SIG_IGN, no child inherits this."""


def _end_all(group: int) -> None:
    for number in (signal.SIGTERM, *[signal.SIGKILL] * ROUNDS):
        found = psutil.Process().children(recursive=True)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        for each in found:
            with contextlib.suppress(psutil.Error):
                each.send_signal(number)
        psutil.wait_procs(found, GRACE_S)
        if not psutil.Process().children(recursive=True):
            return


if __name__ == "__main__":
    os._exit(main(sys.argv[1]) % 256)  # not sys.exit: a thread still reads
