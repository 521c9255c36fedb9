"""Tests for the seccomp profile of Chromium's sandbox.

It refuses dangerous system calls.
"""

from __future__ import annotations

import ctypes.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.release.test_containers import ROOT
from website_scan.net.browser import find_browser, sandbox_problem

PROFILE = ROOT / "deploy" / "seccomp.json"
CONFINED = ROOT / "tests" / "confined.py"
UID = 10001
BROWSER = find_browser("auto")
PAGE = "data:text/html,<p>shown</p><script>document.title='ran'</script>"

pytestmark = pytest.mark.skipif(ctypes.util.find_library("seccomp") is None, reason="there is no libseccomp here")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Folder that every user may write to.

    pytest's own folders are private.
    """
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o777)
        yield path


def run_confined(profile: Path, *command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with a seccomp profile.

    The user may write only to this folder.
    """
    shutil.copy(CONFINED, folder)
    shutil.copy(profile, folder / "profile.json")
    start = [
        "/usr/bin/env",
        "-i",
        f"HOME={folder}",
        f"TMPDIR={folder}",
        "PATH=/usr/bin:/bin",
        sys.executable,
        "-I",
        "-S",
    ]
    return subprocess.run(
        [*start, str(folder / "confined.py"), str(folder / "profile.json"), str(UID), *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def stricter_profile(folder: Path, *names: str) -> Path:
    """Return a copy of the profile that also refuses these calls."""
    profile = json.loads(PROFILE.read_text())
    profile["syscalls"][0]["names"] += names
    path = folder / "stricter.json"
    path.write_text(json.dumps(profile))
    return path


@pytest.mark.parametrize(
    ("code", "is_allowed"),
    [
        # Chromium's sandbox starts with this system call.
        ("libc.unshare(0x10000000 | 0x20000000 | 0x40000000)", True),
        ("libc.unshare(0x10000000) or libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0)", False),
        ("libc.syscall(101, 0, 0, 0, 0)", False),  # The system call ptrace is refused.
        ("libc.syscall(321, 0, 0, 0)", False),  # The system call bpf is refused.
        ("libc.syscall(425, 1, 0)", False),  # The system call io_uring_setup is refused.
    ],
)
@pytest.mark.skipif(sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != 8, reason="other numbers")
def test_profile_refuses_dangerous_calls(folder: Path, code: str, is_allowed: bool) -> None:
    call = f"import ctypes; libc = ctypes.CDLL(None, use_errno=True); r = {code}; print(r, ctypes.get_errno())"
    execution = run_confined(PROFILE, "/usr/bin/python3", "-c", call, folder=folder)
    assert execution.stdout.strip() == ("0 0" if is_allowed else "-1 1"), execution.stderr


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None or sandbox_problem(BROWSER) != "", reason="Chromium has no sandbox here at all")
def test_chromium_starts_only_with_its_sandbox(folder: Path) -> None:
    arguments = ["--dump-dom", "--disable-gpu", f"--user-data-dir={folder}/profile", PAGE]
    execution = run_confined(PROFILE, str(BROWSER), *arguments, folder=folder)
    assert "<title>ran</title>" in execution.stdout, execution.stderr
    # Chromium's sandbox needs `chroot`, so the first execution had the sandbox.
    refused_execution = run_confined(stricter_profile(folder, "chroot"), str(BROWSER), *arguments, folder=folder)
    assert "shown" not in refused_execution.stdout
    assert refused_execution.returncode != 0
