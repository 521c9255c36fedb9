"""Virtual hosts on one machine: network namespaces with their own addresses and names, on an isolated bridge.

`enter` restarts the program in its own namespaces for network, mounts and processes, where it may create hosts. All
hosts and processes disappear with it. Needs Linux, iproute2 and util-linux; root, or a system that permits user
namespaces.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

INSIDE = "WSS_BENCH_INSIDE"
BRIDGE = "hosts"
NETWORK = "10.83.0.0/16"
SERVERS = "10.83.0.1"  # address of this process, for PostgreSQL and Redis
# Source of a library for LD_PRELOAD that shifts only the time of day; waiting times do not change. (libfaketime shifts
# more clocks, which breaks Python's `time.sleep`.)
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead_s(void) { const char *value = getenv("CLOCK_AHEAD_S"); return value ? atol(value) : 0; }

int clock_gettime(clockid_t clock, struct timespec *at) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, at);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead_s();
    return status;
}

int gettimeofday(struct timeval *at, void *zone) {
    int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
    int status = real(at, zone);
    if (status == 0) at->tv_sec += ahead_s();
    return status;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


def enter(name: str) -> int | None:
    """Run `python -m benchmarks name` in new namespaces and return its exit status; return None inside of them."""
    if os.environ.get(INSIDE):
        _make_bridge()
        return None
    missing = [each for each in ("unshare", "ip", "mount") if shutil.which(each) is None]
    if missing:
        print(f"Hosts need {', '.join(missing)}: apt install iproute2 util-linux mount")
        return 1
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *as_root, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command += [sys.executable, "-m", "benchmarks", name]
    return subprocess.run(command, env=dict(os.environ) | {INSIDE: "1"}, check=False).returncode


def add_addresses(addresses: Sequence[str]) -> None:
    """Add addresses to this process' namespace."""
    for address in addresses:
        _ip("address", "add", f"{address}/16", "dev", BRIDGE)


def clock_library(folder: Path) -> Path | None:
    """Compile the library that shifts a process' time of day; return its path, None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(CLOCK)
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Host:
    """Virtual host: a namespace with one address, whose clock `clock_library` shifts by `clock_s`."""

    number: int
    clock_s: int = 0
    clock_library: Path | None = None

    @property
    def name(self) -> str:
        return f"host{self.number}"

    @property
    def address(self) -> str:
        return f"10.83.0.{10 + self.number}"

    def make(self) -> None:
        _ip("netns", "add", self.name)
        _ip("link", "add", self._port, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        _ip("link", "set", self._port, "master", BRIDGE, "up")
        _ip("-n", self.name, "address", "add", f"{self.address}/16", "dev", "eth0")
        for each in ("eth0", "lo"):
            _ip("-n", self.name, "link", "set", each, "up")

    def cut_off(self) -> None:
        """Disconnect the host without notice, as if its cable was pulled."""
        _ip("link", "set", self._port, "down")

    def reconnect(self) -> None:
        _ip("link", "set", self._port, "up")

    def start(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, log: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start a process on this host, with the host's name and clock."""
        environment = dict(env)
        if self.clock_library:
            environment |= {"LD_PRELOAD": str(self.clock_library), "CLOCK_AHEAD_S": str(self.clock_s)}
        named = ["unshare", "--uts", "sh", "-c", f'hostname {self.name} && exec "$@"', "sh", *command]
        return subprocess.Popen(
            ["ip", "netns", "exec", self.name, *named], env=environment, cwd=cwd, stdout=log, stderr=log
        )

    @property
    def _port(self) -> str:
        return f"port{self.number}"


def _make_bridge() -> None:
    # `ip netns` keeps its namespaces here; the mount hides and protects those of others.
    Path("/run/netns").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/netns"], check=True)
    _ip("link", "set", "lo", "up")
    _ip("link", "add", BRIDGE, "type", "bridge")
    _ip("address", "add", f"{SERVERS}/16", "dev", BRIDGE)
    _ip("link", "set", BRIDGE, "up")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
