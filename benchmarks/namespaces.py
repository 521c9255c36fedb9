"""Hosts on one machine: network namespaces with addresses and names of their own, on a bridge that leads nowhere else.

`enter` starts the program again where it may make them: in namespaces of its own for network, mounts and processes.
All that is made there, processes too, is gone with it. Needs Linux, iproute2 and util-linux; root, or a system that
lets its users have namespaces.
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
SERVERS = "10.83.0.1"  # this process' own: PostgreSQL and Redis
# What is loaded before libc: only the time of day is moved, what waits, waits as long. (libfaketime moves more, and
# under it Python's `time.sleep` fails.)
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
    """None in the namespaces; else the exit status of `python -m benchmarks name` that ran there."""
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
    """Give this process' namespace further addresses."""
    for address in addresses:
        _ip("address", "add", f"{address}/16", "dev", BRIDGE)


def clock_library(folder: Path) -> Path | None:
    """What gives a process another time of day; None where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(CLOCK)
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Host:
    """A namespace with one address; its clock is `clock_s` ahead, by `clock_library`."""

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
        """As a cable is pulled: nobody is told."""
        _ip("link", "set", self._port, "down")

    def reconnect(self) -> None:
        _ip("link", "set", self._port, "up")

    def start(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path, log: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """A process on this host, which has the host's name and clock."""
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
    # `ip netns` keeps its namespaces here; nobody else's are to be seen or touched.
    Path("/run/netns").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/netns"], check=True)
    _ip("link", "set", "lo", "up")
    _ip("link", "add", BRIDGE, "type", "bridge")
    _ip("address", "add", f"{SERVERS}/16", "dev", BRIDGE)
    _ip("link", "set", BRIDGE, "up")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
