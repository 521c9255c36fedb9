"""The gate: findings and scores that fail a build."""

from __future__ import annotations

import pytest

from tests.website_scan.command.reports import found, judged
from website_scan.command.judged import Gate
from website_scan.findings import Severity

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW


@pytest.mark.parametrize(
    ("fail_on", "is_good"), [(None, True), (Severity.CRITICAL, True), (HIGH, False), (MEDIUM, False), (LOW, False)]
)
def test_a_failed_check_fails_from_its_severity_on(fail_on: Severity | None, is_good: bool) -> None:
    report = judged(found("hsts", "fail", HIGH), found("csp", "pass"))
    assert (not list(Gate(fail_on=fail_on).complaints(report))) is is_good


def test_a_warning_fails_no_gate() -> None:
    assert not list(Gate(fail_on=LOW).complaints(judged(found("hsts", "warn", HIGH))))


def test_the_lowest_score_of_a_type_comes_before_that_of_all() -> None:
    report = judged(found("hsts", "fail", HIGH), found("csp", "pass"))
    assert report.score == 50
    assert not list(Gate({"": 50}).complaints(report))
    (complaint,) = Gate({"": 51}).complaints(report)
    assert complaint == "security of https://example.com/: 50 is below 51."
    assert not list(Gate({"": 90, "security": 50}).complaints(report))
    assert not list(Gate({"seo": 90}).complaints(report))
