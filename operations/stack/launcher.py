"""Launcher: switches to an account, requests a signal on the parent's death, and executes another program.

Run as a script by `operations.stack.processes.spawn`, because code between fork and exec (`preexec_fn`) may
deadlock in a process with threads:

    python -I -S launcher.py PARENT_PID DEATH_SIGNAL RUN_AS UID GID COMMAND…

Exit status 126 if it cannot switch to the account. Imports little: it starts within milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

# Numbers of prctl(2), unshare(2) and capabilities(7).
PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522
CLONE_NEWUSER = 0x10000000
NAMESPACE_ID = 1000  # any number but root's 0
CANNOT_EXECUTE = 126  # as in shells


def main(parent: int, death_signal: int, run_as: str, uid: int, gid: int) -> None:
    """Switch to the account. `run_as` is the name of an `operations.stack.processes.RunAs`."""
    if run_as == "NAMESPACE":
        enter_user_namespace()
    elif run_as == "USER":
        become(uid, gid)
    elif run_as == "USER_WITH_FILE_ACCESS":
        become_with_file_access(uid, gid)
    if sys.platform == "linux":
        # After every change of user: such a change clears the signal.
        system("prctl", PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if os.getppid() != parent:
            raise OSError("the parent has ended")
    # Python ignores these two signals, and exec keeps ignored signals ignored.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def enter_user_namespace() -> None:
    """Enter a user namespace: an ordinary user inside, the same user as before outside (user_namespaces(7))."""
    uid, gid = os.geteuid(), os.getegid()
    system("unshare", CLONE_NEWUSER)
    # A process may map its own group only after giving up setgroups(2).
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{NAMESPACE_ID} {uid} 1"),
        ("gid_map", f"{NAMESPACE_ID} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # pathlib would take longer to import
            file.write(text)


def become(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def become_with_file_access(uid: int, gid: int) -> None:
    """Become another user permanently, and keep only CAP_DAC_OVERRIDE, root's right to enter and read folders."""
    system("prctl", PR_SET_KEEPCAPS, 1, 0, 0, 0)
    become(uid, gid)
    kept = 1 << CAP_DAC_OVERRIDE
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    # effective, permitted, inheritable of capabilities 0-31, then of 32-63
    system("capset", header, (ctypes.c_uint32 * 6)(kept, kept, kept, 0, 0, 0))
    system("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0)


def system(function: str, *arguments: object) -> None:
    """Call a function of the C library that returns 0. Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, function)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), function)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        os.execv(sys.argv[6], sys.argv[6:])  # noqa: S606 -- executing it is the purpose
    except (OSError, AttributeError) as failure:
        sys.stderr.write(f"{sys.argv[6]} could not be started: {failure}\n")
        sys.exit(CANNOT_EXECUTE)
