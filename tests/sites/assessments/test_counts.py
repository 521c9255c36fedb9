"""Tests that the counters of results, which triggers update, agree with the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db import connection

from scans.policy import scan_policy
from sites import migrations
from sites.assessments import refreshing, results, services
from sites.models import Assessment, AssessmentCount, AssessmentResult
from tests.factories import Member
from tests.sites.assessments.cast import HOST, assess, audit_of, caller_of, check, decide, museum_audit
from tests.sites.assessments.storing import counts_of, counts_of_results
from website_scan.net.targets import parse_target

SQL = Path(str(migrations.__file__)).with_name("assessment_counts.sql")


def refuse_difference(assessment: Assessment) -> None:
    assert counts_of(assessment) == counts_of_results(assessment)
    assert not AssessmentCount.objects.filter(count__lt=0).exists()


def test_counters_follow_all_changes(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    page: dict[str, Any] = {"caller": caller_of(home), "assessment_id": assessment.id}
    assert counts_of(assessment)["1.1.1", "untested", True, False, False] == 1
    refuse_difference(assessment)
    decide(home, assessment, 1, "2.4.3", "failed", note="It jumps.")
    refuse_difference(assessment)
    assert results.set_remaining(**page, criterion="2.4.3", result="passed") == 2
    assert counts_of(assessment)["2.4.3", "passed", False, False, False] == 2
    refuse_difference(assessment)
    finding = assessment.findings.get(has_failed=True)
    results.dispute(**page, finding_id=finding.id, reason="Decoration.")
    assert ("1.1.1", "untested", True, False, False) not in counts_of(assessment)
    refuse_difference(assessment)
    results.withdraw_dispute(**page, finding_id=finding.id)
    refuse_difference(assessment)
    services.add_page(**page, target=parse_target(f"{HOST}/cart", scan_policy()), name="Cart", is_state=True)
    refreshing.copy_results(assessment.id)
    refuse_difference(assessment)
    later = audit_of(home, {"/": (check("image-alt", "fail", "#a"),), "/visit": (check("image-alt", "pass"),)})
    services.refresh_assessment(**page, audit_id=later.id)
    refreshing.copy_results(assessment.id)
    refuse_difference(assessment)
    services.remove_page(**page, number=2)
    refuse_difference(assessment)
    assert sum(counts_of(assessment).values()) == 3 * 55


def test_counters_of_other_assessments_do_not_change(home: Member, stranger: Member) -> None:
    own, other = assess(home, museum_audit(home)), assess(stranger, museum_audit(stranger))
    before = counts_of(other)
    AssessmentResult.objects.filter(assessment=own).update(result="passed")
    assert counts_of(other) == before
    services.delete_assessment(caller=caller_of(home), assessment_id=own.id)
    assert counts_of(other) == before
    assert set(AssessmentCount.objects.values_list("assessment_id", flat=True)) == {other.id}


def test_migration_counts_the_results_of_earlier_releases(home: Member) -> None:
    assessment = assess(home, museum_audit(home))
    decide(home, assessment, 1, "2.4.3", "failed", note="It jumps.")
    expected = counts_of(assessment)
    AssessmentCount.objects.all().delete()
    *_, fill = SQL.read_text(encoding="utf-8").split("\n\n")
    with connection.cursor() as cursor:
        cursor.execute(fill)
    assert counts_of(assessment) == expected != {}
