"""What can be read in the environment of the service's processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Running
from tests.operations.stack.processes import running_with

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here")
def test_no_process_of_the_service_has_the_key_in_its_environment(running: Running) -> None:
    """Scans load other people's pages: whoever gets out of one reads /proc of every process of the same user."""
    key = (running.service.data_dir / "secret_key").read_text().strip()
    assert len(running_with(str(running.service.data_dir))) > 5
    assert running_with(key) == {}
