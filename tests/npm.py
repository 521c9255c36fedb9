"""Helpers that run OpenAPI linters, client generators and the library of Chrome's Recorder from npm."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "openapi"
# npm must print only errors, download no programs and send no telemetry.
QUIET = {
    "npm_config_loglevel": "error",
    "npm_config_offline": "true",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    "REDOCLY_TELEMETRY": "off",
}


@cache
def installed() -> Path:
    """Install the npm programs and return their folder.

    They are installed once per lock file. Skips the test without npm.
    """
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    lock = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()[:16]
    cached_folder = Path(tempfile.gettempdir()) / f"website-scan-npm-{lock}"
    if not cached_folder.exists():
        new_folder = Path(tempfile.mkdtemp(dir=cached_folder.parent))
        shutil.copytree(FOLDER, new_folder, dirs_exist_ok=True)
        execution = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=new_folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if execution.returncode:
            shutil.rmtree(new_folder)
            pytest.skip(f"no registry of packages: {execution.stderr.strip().splitlines()[-1]}")
        try:
            new_folder.rename(cached_folder)
        except OSError:  # Another process has created the folder first.
            shutil.rmtree(new_folder)
    return cached_folder / "node_modules"


def run(program: str, *arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program and return its status and its output."""
    return subprocess.run(
        [installed() / ".bin" / program, *arguments],
        cwd=folder,
        env=os.environ | QUIET,
        capture_output=True,
        text=True,
        check=False,
    )
