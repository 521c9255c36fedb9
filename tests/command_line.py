"""Helpers that run `manage.py` commands, also in separate processes."""

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
    """Return the environment without secret keys, server URLs or a browser.

    The default servers are unreachable. DATA_DIR is the tests' folder, because a developer's service may run in the
    default one.
    """
    unreachable = {"PGHOST": "/nonexistent", "PGPORT": "1", "SCAN_BROWSER": "off"}
    return {name: os.environ[name] for name in ("PATH", "DATA_DIR")} | unreachable | variables


def start(*arguments: str | bytes, **variables: str) -> subprocess.Popen[str]:
    """Start `python manage.py …` with pipes for its output and errors."""
    return start_with_stderr(subprocess.PIPE, *arguments, **variables)


def start_with_stderr(errors: int, /, *arguments: str | bytes, **variables: str) -> subprocess.Popen[str]:
    """Start `python manage.py …` with a pipe for its standard output.

    Standard error goes to a file descriptor.
    """
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
    """Run `python manage.py …` to completion.

    Fails if the command prints a traceback.
    """
    with start(*arguments, **variables) as process:
        output, errors = process.communicate(timeout=TIMEOUT_S)
    assert "Traceback" not in errors, errors
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def run_here(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a `manage.py` command in this process."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            load_command_class(get_commands()[name], name).run_from_argv(["manage.py", name, *arguments])
        except SystemExit as exit_request:
            status = int(exit_request.code or 0)
    texts = (stream.detach().getvalue().decode() for stream in (output, errors))
    return subprocess.CompletedProcess(arguments, status, *texts)
