"""Test that process environments do not contain the secret key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import RunningService
from tests.operations.stack.processes import running_with

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here")
def test_environment_contains_no_secret_key(running: RunningService) -> None:
    """Search /proc, which an attacker outside the browser could read."""
    key = (running.service.data_dir / "secret_key").read_text().strip()
    assert len(running_with(str(running.service.data_dir))) > 5
    assert running_with(key) == {}
