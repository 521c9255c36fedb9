"""Launcher script that drops root privileges and executes a program that gets a signal when its parent dies.

`operations.stack.processes.spawn` runs this script instead of a `preexec_fn`, because code between fork and exec may
deadlock in a process with threads:

    python -I -S launcher.py PARENT_PID DEATH_SIGNAL UID GID COMMAND…

The exit status is 126 if the script cannot switch to the user. The script has few imports, so it starts within
milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # Option of the system call prctl(2).
CANNOT_EXECUTE = 126  # Shells use this exit status for a command that cannot be executed.


def main(parent: int, death_signal: int, uid: int, gid: int) -> None:
    """Switch to the user permanently if needed, and request `death_signal` for when the parent dies (Linux)."""
    if (uid, gid) != (os.geteuid(), os.getegid()):
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # A change of the user clears the death signal, so the signal is requested afterwards.
        library = ctypes.CDLL(None, use_errno=True)
        if library.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        if os.getppid() != parent:
            raise OSError("the parent has ended")
    # Python ignores these two signals, and a program started with exec inherits ignored signals.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        os.execv(sys.argv[5], sys.argv[5:])  # noqa: S606 -- The purpose of this script is to execute the command.
    except (OSError, AttributeError) as failure:
        sys.stderr.write(f"{sys.argv[5]} could not be started: {failure}\n")
        sys.exit(CANNOT_EXECUTE)
