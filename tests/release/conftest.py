"""Podman with the images of this code, for the modules that run containers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images import Podman


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """Podman with all images."""
    made = Podman(Path(tempfile.mkdtemp(prefix="wss-images-", dir="/var/tmp")))
    try:
        made.build()
        tried = made.ran("run", "--detach", "--ulimit=host", "website-scan-command", "true")
        if tried.returncode:
            pytest.skip(f"Podman runs no containers here: {tried.stderr.strip()}")
        yield made
    finally:
        made.close()
