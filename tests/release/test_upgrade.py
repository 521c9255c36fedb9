"""Rolling upgrade and rollback of a release while the service runs."""

from __future__ import annotations

import pytest

from tests.releases import needs_previous
from tests.upgrade import rehearse


@needs_previous
@pytest.mark.slow
@pytest.mark.timeout(900)  # starts the service eight times, perhaps on a busy machine
@pytest.mark.xdist_group("service")
def test_the_previous_release_stands_the_new_schema_and_nobody_is_refused_on_the_way_there_and_back() -> None:
    rehearsal = rehearse()
    assert rehearsal.failures == []
    assert rehearsal.pages > 30
    assert {status for name, status in rehearsal.answers if name == "scan"} == {200}
