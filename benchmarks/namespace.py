"""Network namespace for benchmarks: nothing leaves it, although scans connect to public addresses."""

from __future__ import annotations

import ctypes
import ipaddress
import os
import subprocess
from pathlib import Path

CLONE_NEWNET = 0x4000_0000
# Nobody answers at these addresses, and a router says so at once.
UNREACHABLE_NETWORK = ipaddress.IPv4Network("24.0.0.0/8")
# With IPv4, a local route is sufficient to listen at an address.
BIND_ANYWHERE = Path("/proc/sys/net/ipv6/ip_nonlocal_bind")
COMMANDS = (
    "link set lo up",
    # Addresses of the scanner. Without them, a connection would have the same address on both sides, and be refused.
    "addr add 20.0.0.1/32 dev lo",
    "-6 addr add 2600:9000::1/128 dev lo nodad",
    "route add local 0.0.0.0/0 dev lo src 20.0.0.1",
    "-6 route add local ::/0 dev lo src 2600:9000::1",
    f"route add unreachable {UNREACHABLE_NETWORK} table local",
)


class NamespaceRefused(Exception):
    """Raised if this process cannot have a network namespace of its own."""


def enter_namespace() -> None:
    """Move this thread and its later children to a namespace in which nearly all addresses are those of this machine.

    Raises NamespaceRefused without Linux, root or the command `ip`.
    """
    try:
        _unshare()
        for command in COMMANDS:
            subprocess.run(("ip", *command.split()), check=True, capture_output=True)
        BIND_ANYWHERE.write_text("1")
    except (OSError, AttributeError, subprocess.CalledProcessError) as error:
        raise NamespaceRefused(f"A network namespace needs Linux, root and the command `ip`: {error}") from error


def _unshare() -> None:
    """Create the namespace. Python 3.12 has `os.unshare` for this."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
