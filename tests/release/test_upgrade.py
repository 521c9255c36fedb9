"""Tests for upgrades and rollbacks while the service runs."""

from __future__ import annotations

import pytest

from tests.releases import needs_previous
from tests.upgrade import rehearse


@needs_previous
@pytest.mark.slow
@pytest.mark.timeout(900)  # The test starts the service eight times, perhaps on a busy machine.
@pytest.mark.xdist_group("service")
def test_upgrade_and_rollback_fail_no_requests() -> None:
    rehearsal = rehearse()
    assert rehearsal.failures == []
    assert rehearsal.pages > 30
    assert {status for name, status in rehearsal.responses if name == "scan"} == {200}
