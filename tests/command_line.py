"""The command line as people use it: a process of its own with an environment of its own, or here, which is quicker."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S = 60


def environment(**variables: str) -> dict[str, str]:
    """No SECRET_KEY, no DATABASE_URL, no REDIS_URL, and what is used without them can't be reached; no browser.

    DATA_DIR is that of the tests: in the usual one a developer's own service may run.
    """
    nowhere = {"PGHOST": "/nonexistent", "PGPORT": "1", "SCAN_BROWSER": "off"}
    return {name: os.environ[name] for name in ("PATH", "DATA_DIR")} | nowhere | variables


def start(*arguments: str | bytes, errors: int = subprocess.PIPE, **variables: str) -> subprocess.Popen[str]:
    """`python manage.py …`, running; its output is a pipe, and so are its errors, if they go nowhere else."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        cwd="/",
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        encoding="utf-8",
        errors="surrogateescape",
    )


def run(*arguments: str | bytes, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python manage.py …`, ended. No command ever ends with a traceback."""
    with start(*arguments, **variables) as process:
        output, errors = process.communicate(timeout=TIMEOUT_S)
    assert "Traceback" not in errors, errors
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def run_here(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python manage.py …` in this process, ended, with the settings as they are."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            load_command_class(get_commands()[name], name).run_from_argv(["manage.py", name, *arguments])
        except SystemExit as ended:
            status = int(ended.code or 0)
    written = (stream.detach().getvalue().decode() for stream in (output, errors))
    return subprocess.CompletedProcess(arguments, status, *written)
