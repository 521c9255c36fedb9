"""Test which findings and scores fail the gate."""

from __future__ import annotations

import pytest

from tests.website_scan.command.reports import check_result, judged_report
from website_scan.command.gate import ACCEPTED, Gate
from website_scan.findings import Severity

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW


@pytest.mark.parametrize(
    ("fail_on", "is_good"), [(None, True), (Severity.CRITICAL, True), (HIGH, False), (MEDIUM, False), (LOW, False)]
)
def test_severe_failure_fails_the_gate(fail_on: Severity | None, is_good: bool) -> None:
    report = judged_report(check_result("hsts", "fail", HIGH), check_result("csp", "pass"))
    assert (not list(Gate(fail_on=fail_on).complaints(report))) is is_good


def test_warning_has_no_severity_for_the_gate() -> None:
    assert not list(Gate(fail_on=LOW).complaints(judged_report(check_result("hsts", "warn", HIGH))))


@pytest.mark.parametrize("status", ["fail", "warn"])
def test_named_outcome_fails_the_gate_at_any_severity(status: str) -> None:
    report = judged_report(
        check_result("hsts", status, LOW, outcome="short"), check_result("csp", status, LOW, outcome="missing")
    )
    (complaint,) = Gate(outcomes=frozenset({"hsts.short"})).complaints(report)
    assert complaint == "security of https://example.com/: 1 finding: hsts is wrong."
    assert not list(Gate(outcomes=frozenset({"hsts.missing", "csp.short"})).complaints(report))


def test_accepted_outcome_counts_as_passed() -> None:
    report = judged_report(check_result("hsts", "fail", HIGH, outcome="short"), check_result("csp", "pass"))
    strict = Gate({"": 100}, LOW, frozenset({"hsts.short"}))
    assert len(list(strict.complaints(report))) == 2
    accepted = report.accept_outcomes({"hsts.short"})
    assert (accepted.accepted, accepted.score) == ({"hsts": ACCEPTED}, 100)
    assert not list(strict.complaints(accepted))
    assert report.accept_outcomes({"hsts.missing", "csp.short"}) == report


@pytest.mark.parametrize(
    ("gate", "complaint"),
    [
        (Gate(fail_on=MEDIUM), "2 failures (medium or higher): a is wrong, b is wrong."),
        (Gate(fail_on=Severity.CRITICAL), "1 failure (critical): a is wrong."),
        # The gate names the outcome of the warning, so the message omits the severity.
        (Gate(fail_on=MEDIUM, outcomes=frozenset({"c.faulty"})), "3 findings: a is wrong, b is wrong, c is wrong."),
        (
            Gate(fail_on=MEDIUM, outcomes=frozenset({"a.faulty"})),
            "2 failures (medium or higher): a is wrong, b is wrong.",
        ),
    ],
)
def test_failure_by_outcome_has_no_severity(gate: Gate, complaint: str) -> None:
    report = judged_report(
        check_result("a", "fail", Severity.CRITICAL), check_result("b", "fail", MEDIUM), check_result("c", "warn", LOW)
    )
    assert list(gate.complaints(report)) == [f"security of https://example.com/: {complaint}"]


def test_own_minimum_overrides_the_general_minimum() -> None:
    report = judged_report(check_result("hsts", "fail", HIGH), check_result("csp", "pass"))
    assert report.score == 50
    assert not list(Gate({"": 50}).complaints(report))
    (complaint,) = Gate({"": 51}).complaints(report)
    assert complaint == "security of https://example.com/: 50 is below 51."
    assert not list(Gate({"": 90, "security": 50}).complaints(report))
    assert not list(Gate({"seo": 90}).complaints(report))
