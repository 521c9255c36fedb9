"""Program that runs the command of `--start`.

It is a separate process, and then ends all its processes. They end when the command or the scan ends. The end of the
scan closes the standard input of this program, even if the scanner is killed.
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

END_TIMEOUT_S = 5.0
# Killed processes may have started others in between.
MAX_KILLS = 5
# Constant of the system call prctl(2).
PR_SET_CHILD_SUBREAPER = 36


def main(command: str) -> int:
    """Run the shell command.

    Returns its exit status, or 0 if the scan ended before the command.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ignore_signal)
    if sys.platform == "linux":
        # Orphans of the command become children of this process, which can end them.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, start_new_session=True)
    ends: queue.SimpleQueue[int] = queue.SimpleQueue()
    for wait_for_end in (started.wait, lambda: len(os.read(0, 1))):
        threading.Thread(target=lambda wait=wait_for_end: ends.put(wait()), daemon=True).start()
    status = ends.get()
    _end_processes(started.pid)
    return status


def _ignore_signal(*_: object) -> None:
    """Ignore a signal, because the scanner ends this program.

    SIG_IGN would be inherited by child processes.
    """


def _end_processes(group: int) -> None:
    for number in (signal.SIGTERM, *[signal.SIGKILL] * MAX_KILLS):
        processes = psutil.Process().children(recursive=True)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        psutil.wait_procs(processes, END_TIMEOUT_S)
        if not psutil.Process().children(recursive=True):
            return


if __name__ == "__main__":
    # sys.exit would wait for the thread that reads standard input.
    os._exit(main(sys.argv[1]) % 256)
