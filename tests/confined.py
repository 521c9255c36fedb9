"""Run a command as an unprivileged user with a seccomp profile.

The profile is in Docker's format.

Usage: python -I -S confined.py PROFILE UID COMMAND…

compose.yaml and the Kubernetes manifests request the same from the container engine, where libseccomp compiles the
profile as well. A profile may have only what `load` reads: a default action, and names of refused system calls.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

ALLOW = 0x7FFF0000
ERRNO = 0x00050000
PR_CAPBSET_DROP = 24
LAST_CAPABILITY = 63


def load(profile: dict[str, Any]) -> None:
    """Load the profile into this process and set no_new_privs.

    Raises OSError or KeyError.
    """
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(
        library.seccomp_init(ctypes.c_uint32({"SCMP_ACT_ALLOW": ALLOW}[profile["defaultAction"]]))
    )
    for rule in profile["syscalls"]:
        action = ctypes.c_uint32({"SCMP_ACT_ERRNO": ERRNO}[rule["action"]] | rule["errnoRet"])
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            # The number is -1 if no architecture has the system call.
            if number == -1:
                raise KeyError(name)
            add_result = library.seccomp_rule_add(context, action, number, 0)
            if add_result != 0:
                raise OSError(-add_result, name)
    if (load_result := library.seccomp_load(context)) != 0:
        raise OSError(-load_result, "seccomp_load")


def drop_privileges(uid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(LAST_CAPABILITY):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


if __name__ == "__main__":
    if os.geteuid() == 0:
        drop_privileges(int(sys.argv[2]))
    load(json.loads(Path(sys.argv[1]).read_text()))
    os.execv(sys.argv[3], sys.argv[3:])
