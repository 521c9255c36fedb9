"""Podman with this code's images, for tests that run containers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images import Podman


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """Podman with all images."""
    podman = Podman(Path(tempfile.mkdtemp(prefix="wss-images-", dir="/var/tmp")))
    try:
        podman.build()
        trial = podman.try_run("run", "--detach", "--ulimit=host", "website-scan-command", "true")
        if trial.returncode:
            pytest.skip(f"Podman runs no containers here: {trial.stderr.strip()}")
        yield podman
    finally:
        podman.close()
