"""Launcher: gives up root, requests a signal on the parent's death, and executes another program.

Run as a script by `operations.stack.processes.spawn`, because code between fork and exec (`preexec_fn`) may
deadlock in a process with threads:

    python -I -S launcher.py PARENT_PID DEATH_SIGNAL UID GID COMMAND…

Exit status 126 if it cannot become the user. Imports little: it starts within milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # of prctl(2)
CANNOT_EXECUTE = 126  # as in shells


def main(parent: int, death_signal: int, uid: int, gid: int) -> None:
    """Become the user for good, unless this process is that user."""
    if (uid, gid) != (os.geteuid(), os.getegid()):
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After the change of user, which clears the signal.
        library = ctypes.CDLL(None, use_errno=True)
        if library.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        if os.getppid() != parent:
            raise OSError("the parent has ended")
    # Python ignores these two signals, and exec keeps ignored signals ignored.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        os.execv(sys.argv[5], sys.argv[5:])  # noqa: S606 -- executing it is the purpose
    except (OSError, AttributeError) as failure:
        sys.stderr.write(f"{sys.argv[5]} could not be started: {failure}\n")
        sys.exit(CANNOT_EXECUTE)
