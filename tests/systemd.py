"""Debian machine with a real systemd.

It runs in a systemd-nspawn container without network.

The tests of deploy/systemd install the service in the machine as an operator does. Only root can create the machine, on
Debian and derived systems. Elsewhere the tests are skipped with the reason.
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
from pathlib import Path

import pytest
from msgspec import Struct
from packaging.requirements import Requirement

from tests.operations.stack.processes import wait_until

RELEASE = "bookworm"
PYTHON = "3.11.2"  # This is the Python version of the Debian release.
SYSTEMD_PACKAGES = ("systemd", "systemd-sysv", "dbus", "iproute2", "procps")
# Some units would wait for a network, which the machine does not have.
DISABLED = ("systemd-networkd.service", "systemd-networkd-wait-online.service")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    # The machine has no network, so Python packages come from a folder.
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "/wheels",
}
BOOT_TIMEOUT_S = 120


class Machine(Struct, frozen=True):
    """Running machine that executes commands as root."""

    root: Path
    leader: int

    def command(self, *words: str | Path) -> list[str | Path]:
        """Return the command line that runs `words` in the machine."""
        enter = ["nsenter", "--target", str(self.leader), "--all", "--root", "--wd", "env", "--ignore-environment"]
        return [*enter, *(f"{name}={value}" for name, value in ENVIRONMENT.items()), *words]

    def run(self, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        execution = subprocess.run(self.command(*words), capture_output=True, text=True, check=False, timeout=300)
        assert execution.returncode == 0 or not check, f"{words}: {execution.stdout}{execution.stderr}"
        return execution

    def shell(self, script: str, *, check: bool = True) -> str:
        """Run a shell script, and return its output."""
        return self.run("bash", "-euc", script, check=check).stdout.strip()

    def type(self, script: str, answers: Mapping[str, str], timeout_s: float) -> str:
        """Run a shell script in a terminal.

        Answer its prompts, and return the content of the terminal.
        """
        main_end, terminal_end = pty.openpty()
        words = self.command("bash", "-euc", script)
        process = subprocess.Popen(
            words, stdin=terminal_end, stdout=terminal_end, stderr=terminal_end, start_new_session=True
        )
        os.close(terminal_end)
        output, answered_length = "", 0
        deadline = time.monotonic() + timeout_s
        try:
            while select.select([main_end], [], [], max(0.0, deadline - time.monotonic()))[0]:
                try:
                    output += os.read(main_end, 65_536).decode(errors="replace")
                except OSError:  # No process uses the terminal any more.
                    assert process.wait(timeout_s) == 0, output
                    return output
                for prompt, answer in answers.items():
                    if output[answered_length:].rstrip().endswith(prompt):
                        answered_length = len(output)
                        os.write(main_end, f"{answer}\n".encode())
            pytest.fail(f"not within {timeout_s} s:\n{output}")
        finally:
            process.kill()
            process.wait()
            os.close(main_end)

    def property(self, unit: str, name: str) -> str:
        """Return a systemd property of the unit, such as MainPID."""
        return self.run("systemctl", "show", "--value", "--property", name, unit).stdout.strip()


@contextlib.contextmanager
def machine(packages: Sequence[str], requirements: Path, code: Path) -> Iterator[Machine]:
    """Create and start a Debian machine.

    It has Debian's `packages`, the wheels of `requirements`, and `code`.

    `code` becomes /opt/website-scan in the machine. Skips the test if no machine can be created here.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can start a machine with systemd")
    _install({"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container"})
    name = f"website-scan-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
        root = Path(folder) / "root"
        include = ",".join([*SYSTEMD_PACKAGES, *packages])
        _run_or_skip(
            "no machine from Debian", "debootstrap", "--variant=minbase", f"--include={include}", RELEASE, root
        )
        _download(requirements, root / "wheels")
        shutil.copytree(code, root / "opt" / "website-scan")
        for unit in DISABLED:
            (root / "etc" / "systemd" / "system" / unit).symlink_to("/dev/null")
        with _booted_machine(root, name) as running:
            yield running


def _install(programs: Mapping[str, str]) -> None:
    """Install the packages of missing programs.

    Skips the test if that is impossible.
    """
    packages = [package for program, package in programs.items() if shutil.which(program) is None]
    if not packages:
        return
    if shutil.which("apt-get") is None:
        pytest.skip(f"{', '.join(packages)} cannot be installed, as this is not Debian")
    apt_get = ["apt-get", "--option", "DPkg::Lock::Timeout=120", "--quiet", "--yes"]
    _run_or_skip("no registry of packages", *apt_get, "update")
    _run_or_skip("no registry of packages", *apt_get, "install", "--no-install-recommends", *packages)


def _run_or_skip(what_is_missing: str, *command: str | Path) -> None:
    """Run a command that needs the network.

    Skips the test if the command fails.
    """
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    execution = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=900)
    # debootstrap prints this message if packages do not exist.
    assert "find these debs" not in execution.stdout, execution.stdout[-300:]
    if execution.returncode:
        pytest.skip(f"{what_is_missing}: {(execution.stderr or execution.stdout).strip().splitlines()[-1]}")


def _download(requirements: Path, folder: Path) -> None:
    """Download wheels for the machine's Python version.

    The requirements are locked.

    pip would evaluate the markers of the requirements for the Python that runs pip.
    """
    python = {"python_full_version": PYTHON, "python_version": PYTHON.rpartition(".")[0]}
    needed = []
    for line in requirements.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        locked, *hashes = line.partition("#")[0].split("--hash=")
        if not locked.strip():
            continue
        requirement = Requirement(locked.strip())
        if requirement.marker is None or requirement.marker.evaluate(python):
            pinned = f"{requirement.name}{requirement.specifier}"
            needed.append(" ".join([pinned, *(f"--hash={digest.strip()}" for digest in hashes)]))
    folder.mkdir()
    lock = folder / "requirements.txt"
    lock.write_text("\n".join(needed), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
    kind = ["--only-binary", ":all:", "--python-version", PYTHON]
    _run_or_skip("no registry of packages", *pip, *kind, "--require-hashes", "--requirement", lock, "--dest", folder)


@contextlib.contextmanager
def _booted_machine(root: Path, name: str) -> Iterator[Machine]:
    """Run systemd in the folder.

    Wait until it has started all units, and stop it afterwards.
    """
    log = root.parent / "console"
    options = ["--quiet", f"--directory={root}", f"--machine={name}", "--private-network", "--console=pipe"]
    options += ["--register=no", "--boot"]
    if not Path("/run/systemd/system").exists():  # If systemd does not run on this machine, no scope can be created.
        options += ["--keep-unit"]
    with log.open("wb") as console:
        nspawn = subprocess.Popen(
            ["systemd-nspawn", *options], stdin=subprocess.DEVNULL, stdout=console, stderr=console
        )
    try:
        running = Machine(root, _init_process(nspawn, log))
        try:
            wait_until(lambda: _is_up(running) or nspawn.poll() is not None, BOOT_TIMEOUT_S, poll_s=0.2)
        except AssertionError:
            pytest.fail(f"systemd is still starting:\n{running.shell('systemctl list-jobs', check=False)}")
        if nspawn.poll() is not None:
            pytest.skip(f"systemd does not start in a container: {log.read_text(errors='replace')[-300:]}")
        yield running
    finally:
        nspawn.terminate()  # The signal shuts the machine down.
        try:
            nspawn.wait(60)
        except subprocess.TimeoutExpired:
            nspawn.kill()
            nspawn.wait()
        shutil.rmtree(f"/run/systemd/nspawn/propagate/{name}", ignore_errors=True)


def _init_process(nspawn: subprocess.Popen[bytes], log: Path) -> int:
    """Return the PID of the machine's init process, as seen by the host.

    systemd-nspawn first starts a child that prepares the folder.
    """
    processes: list[str] = []

    def is_first(child: str) -> bool:
        return bool(re.search(r"^NSpid:.*\t1$", Path(f"/proc/{child}/status").read_text(), re.MULTILINE))

    def is_running() -> bool:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children").read_text().split()
            processes[:] = filter(is_first, children)
        return bool(processes) or nspawn.poll() is not None

    wait_until(is_running, BOOT_TIMEOUT_S)
    if not processes:
        pytest.skip(f"systemd-nspawn does not start a container: {log.read_text(errors='replace')[-300:]}")
    return int(processes[0])


def _is_up(running: Machine) -> bool:
    return running.run("systemctl", "is-system-running", check=False).stdout.strip() in {"running", "degraded"}
