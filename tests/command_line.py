"""The command line as people use it: a process of its own, with an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S = 60


def environment(**variables: str) -> dict[str, str]:
    """No SECRET_KEY, no DATABASE_URL, no REDIS_URL, and what is used without them can't be reached; no browser."""
    return {"PATH": os.environ["PATH"], "PGHOST": "/nonexistent", "PGPORT": "1", "SCAN_BROWSER": "off"} | variables


def start(*arguments: str | bytes, **variables: str) -> subprocess.Popen[str]:
    """`python manage.py …`, running; both outputs are pipes."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        cwd="/",
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="surrogateescape",
    )


def run(*arguments: str | bytes, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python manage.py …`, ended. No command ever ends with a traceback."""
    with start(*arguments, **variables) as process:
        output, errors = process.communicate(timeout=TIMEOUT_S)
    assert "Traceback" not in errors, errors
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)
