"""Environment of the service's processes: it must not contain the secret key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Running
from tests.operations.stack.processes import running_with

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here")
def test_environment_of_no_process_contains_the_secret_key(running: Running) -> None:
    """Scans load untrusted pages: an attacker who escapes the browser can read /proc of all processes of its user."""
    key = (running.service.data_dir / "secret_key").read_text().strip()
    assert len(running_with(str(running.service.data_dir))) > 5
    assert running_with(key) == {}
