"""Score without muted findings, for real reports: muting a finding wins the `points` of its check."""

from __future__ import annotations

import json

import pytest

from scanner.findings import ScanType
from scanner.scoring import score_without
from tests.furnished import real_result


@pytest.mark.parametrize("scan_type", [ScanType.SECURITY, ScanType.SEO, ScanType.ACCESSIBILITY])
def test_muting_one_finding_wins_its_points(scan_type: ScanType) -> None:
    result = real_result(scan_type)
    assert result.scoring is not None
    assert result.score is not None
    stored = json.loads(json.dumps(result.scoring))
    assert score_without(stored, ()) == (result.score, result.grade)
    findings = [check for check in result.checks if check.status != "pass"]
    assert findings
    for check in findings:
        without = score_without(stored, {check.id})
        assert without is not None
        # Both are rounded: the score to whole points, `points` to tenths.
        assert abs(without[0] - result.score - check.points) <= 1.05, check.id
    everything = score_without(stored, {check.id for check in findings})
    assert everything is not None
    assert everything[0] == min([100, *(limit for limit, count, _, _ in stored["caps"] if count == 0)])
