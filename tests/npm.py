"""Programs of npm: linters of openapi.yaml and generators of clients, in the versions of tests/openapi."""

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
# npm says nothing of itself, `npx` runs what is installed or nothing, and no program reports to its makers.
QUIET = {
    "npm_config_loglevel": "error",
    "npm_config_offline": "true",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    "REDOCLY_TELEMETRY": "off",
}


@cache
def installed() -> Path:
    """Return the folder of the programs, installed once for each lock; skip the test where there is no npm."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    lock = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()[:16]
    kept = Path(tempfile.gettempdir()) / f"website-scan-npm-{lock}"
    if not kept.exists():
        made = Path(tempfile.mkdtemp(dir=kept.parent))
        shutil.copytree(FOLDER, made, dirs_exist_ok=True)
        ran = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=made,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            shutil.rmtree(made)
            pytest.skip(f"no registry of packages: {ran.stderr.strip().splitlines()[-1]}")
        try:
            made.rename(kept)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    return kept / "node_modules"


def run(program: str, *arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program and return what it said."""
    return subprocess.run(
        [installed() / ".bin" / program, *arguments],
        cwd=folder,
        env=os.environ | QUIET,
        capture_output=True,
        text=True,
        check=False,
    )
