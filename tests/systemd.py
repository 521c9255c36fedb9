"""Debian machine with a real systemd: a container of systemd-nspawn that debootstrap makes, with only loopback.

The tests of deploy/systemd install the service in it as an operator does. Only root can make it, on Debian and its
descendants; elsewhere the tests are skipped with the reason.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.operations.stack.processes import wait_until

RELEASE = "bookworm"
PYTHON = "3.11.2"  # of that release
OF_SYSTEMD = ("systemd", "systemd-sysv", "dbus", "iproute2", "procps")
# Units that wait for a network, which the machine does not have.
DISABLED = ("systemd-networkd.service", "systemd-networkd-wait-online.service")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    # Python's packages come from a folder, as the machine has no network.
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "/wheels",
}
BOOT_S = 120


@dataclass(frozen=True)
class Machine:
    """Running machine. Commands in it are root's."""

    root: Path
    leader: int

    def command(self, *words: str | Path) -> list[str | Path]:
        """Return the command that runs another one in the machine."""
        enter = ["nsenter", "--target", str(self.leader), "--all", "--root", "--wd", "env", "--ignore-environment"]
        return [*enter, *(f"{name}={value}" for name, value in ENVIRONMENT.items()), *words]

    def run(self, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(self.command(*words), capture_output=True, text=True, check=False, timeout=300)
        assert ended.returncode == 0 or not check, f"{words}: {ended.stdout}{ended.stderr}"
        return ended

    def shell(self, script: str, *, check: bool = True) -> str:
        """Run a shell script and return its output."""
        return self.run("bash", "-euc", script, check=check).stdout.strip()

    def type(self, script: str, answers: Mapping[str, str], timeout_s: float) -> str:
        """Run a shell script on a terminal, answer its prompts, and return what the terminal shows."""
        ours, theirs = pty.openpty()
        words = self.command("bash", "-euc", script)
        process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        shown, read = "", 0
        deadline = time.monotonic() + timeout_s
        try:
            while select.select([ours], [], [], max(0.0, deadline - time.monotonic()))[0]:
                try:
                    shown += os.read(ours, 65_536).decode(errors="replace")
                except OSError:  # the terminal has no more users
                    assert process.wait(timeout_s) == 0, shown
                    return shown
                for prompt, answer in answers.items():
                    if shown[read:].rstrip().endswith(prompt):
                        read = len(shown)
                        os.write(ours, f"{answer}\n".encode())
            pytest.fail(f"not within {timeout_s} s:\n{shown}")
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def property(self, unit: str, name: str) -> str:
        """Return a property of a unit, such as MainPID."""
        return self.run("systemctl", "show", "--value", "--property", name, unit).stdout.strip()


@contextlib.contextmanager
def machine(packages: Sequence[str], requirements: Path, code: Path) -> Iterator[Machine]:
    """Make a machine with Debian's `packages` and the wheels of `requirements`, put `code` into it, and start it.

    `code` is the machine's /opt/website-scan. Skips the test where there can be no machine.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can start a machine with systemd")
    _install({"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container"})
    name = f"website-scan-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
        root = Path(folder) / "root"
        include = ",".join([*OF_SYSTEMD, *packages])
        _made("no machine from Debian", "debootstrap", "--variant=minbase", f"--include={include}", RELEASE, root)
        _download(requirements, root / "wheels")
        shutil.copytree(code, root / "opt" / "website-scan")
        for unit in DISABLED:
            (root / "etc" / "systemd" / "system" / unit).symlink_to("/dev/null")
        with _booted(root, name) as running:
            yield running


def _install(programs: Mapping[str, str]) -> None:
    """Install the packages of missing programs; skip the test where that is impossible."""
    packages = [package for program, package in programs.items() if shutil.which(program) is None]
    if not packages:
        return
    if shutil.which("apt-get") is None:
        pytest.skip(f"{', '.join(packages)} cannot be installed, as this is not Debian")
    wait = ["apt-get", "--option", "DPkg::Lock::Timeout=120", "--quiet", "--yes"]
    _made("no registry of packages", *wait, "update")
    _made("no registry of packages", *wait, "install", "--no-install-recommends", *packages)


def _made(what_is_missing: str, *command: str | Path) -> None:
    """Run a command that needs the network; skip the test if it fails."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=900)
    assert "find these debs" not in ran.stdout, ran.stdout[-300:]  # debootstrap's word for packages that do not exist
    if ran.returncode:
        pytest.skip(f"{what_is_missing}: {(ran.stderr or ran.stdout).strip().splitlines()[-1]}")


def _download(requirements: Path, folder: Path) -> None:
    """Put the wheels of locked requirements for the machine's Python into a folder.

    pip would evaluate their markers for the Python that runs it.
    """
    python = {"python_full_version": PYTHON, "python_version": PYTHON.rpartition(".")[0]}
    wanted = []
    for line in requirements.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        locked, *hashes = line.partition("#")[0].split("--hash=")
        if not locked.strip():
            continue
        requirement = Requirement(locked.strip())
        if requirement.marker is None or requirement.marker.evaluate(python):
            pinned = f"{requirement.name}{requirement.specifier}"
            wanted.append(" ".join([pinned, *(f"--hash={each.strip()}" for each in hashes)]))
    folder.mkdir()
    lock = folder / "requirements.txt"
    lock.write_text("\n".join(wanted), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
    kind = ["--only-binary", ":all:", "--python-version", PYTHON]
    _made("no registry of packages", *pip, *kind, "--require-hashes", "--requirement", lock, "--dest", folder)


@contextlib.contextmanager
def _booted(root: Path, name: str) -> Iterator[Machine]:
    """Start systemd in the folder, wait until it has started everything, and end it afterwards."""
    log = root.parent / "console"
    options = ["--quiet", f"--directory={root}", f"--machine={name}", "--private-network", "--console=pipe"]
    options += ["--register=no", "--boot"]
    if not Path("/run/systemd/system").exists():  # there is no systemd outside that could make a scope
        options += ["--keep-unit"]
    with log.open("wb") as console:
        nspawn = subprocess.Popen(
            ["systemd-nspawn", *options], stdin=subprocess.DEVNULL, stdout=console, stderr=console
        )
    try:
        running = Machine(root, _leader(nspawn, log))
        try:
            wait_until(lambda: _is_up(running) or nspawn.poll() is not None, BOOT_S, poll_s=0.2)
        except AssertionError:
            pytest.fail(f"systemd is still starting:\n{running.shell('systemctl list-jobs', check=False)}")
        if nspawn.poll() is not None:
            pytest.skip(f"systemd does not start in a container: {log.read_text(errors='replace')[-300:]}")
        yield running
    finally:
        nspawn.terminate()  # the machine shuts down
        try:
            nspawn.wait(60)
        except subprocess.TimeoutExpired:
            nspawn.kill()
            nspawn.wait()
        shutil.rmtree(f"/run/systemd/nspawn/propagate/{name}", ignore_errors=True)


def _leader(nspawn: subprocess.Popen[bytes], log: Path) -> int:
    """Return the process that is 1 in the machine. Before it, systemd-nspawn has a child that prepares the folder."""
    found: list[str] = []

    def is_first(child: str) -> bool:
        return bool(re.search(r"^NSpid:.*\t1$", Path(f"/proc/{child}/status").read_text(), re.MULTILINE))

    def is_there() -> bool:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children").read_text().split()
            found[:] = filter(is_first, children)
        return bool(found) or nspawn.poll() is not None

    wait_until(is_there, BOOT_S)
    if not found:
        pytest.skip(f"systemd-nspawn does not start a container: {log.read_text(errors='replace')[-300:]}")
    return int(found[0])


def _is_up(running: Machine) -> bool:
    return running.run("systemctl", "is-system-running", check=False).stdout.strip() in {"running", "degraded"}
