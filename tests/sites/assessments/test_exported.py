"""Tests for the export and the deletion of an organization with assessments."""

from __future__ import annotations

import json

from django.utils import timezone

from accounts.closing.deletion import GRACE_PERIOD, delete_closed
from accounts.models import Membership, Organization
from sites.models import Assessment, AssessmentEvent, AssessmentFinding, AssessmentPage, AssessmentResult
from tests.accounts.test_export import exported_files, run_export
from tests.factories import Member, person_of
from tests.sites.assessments.cast import assess, decide, museum_audit

MODELS = (Assessment, AssessmentPage, AssessmentResult, AssessmentFinding, AssessmentEvent)


def test_export_has_a_file_with_the_report_and_the_log(home: Member, stranger: Member) -> None:
    museum = assess(home, museum_audit(home))
    assess(stranger, museum_audit(stranger))
    decide(home, museum, 3, "2.4.3", "failed", note="The order jumps.")
    owner = person_of(home, "owner", "owner@people.test")
    files = exported_files(run_export(Membership.objects.get(user=owner)))
    assert [name for name in files if name.startswith("assessments/")] == [f"assessments/{museum.id}.json"]
    document = json.loads(files[f"assessments/{museum.id}.json"])
    assert [event["action"] for event in document.pop("log")] == ["created", "results_copied", "result"]
    assert document == json.loads(home.api.get(f"/v1/assessments/{museum.id}/report").getvalue())


def test_deletion_of_an_organization_leaves_no_rows_of_its_assessments(home: Member, stranger: Member) -> None:
    assess(home, museum_audit(home))
    other = assess(stranger, museum_audit(stranger))
    now = timezone.now()
    Organization.objects.filter(id=home.organization.id).update(closed_at=now - GRACE_PERIOD)
    assert delete_closed(now, 60)
    for model in MODELS:
        owners = {row.pk if isinstance(row, Assessment) else row.assessment_id for row in model._default_manager.all()}
        assert owners == {other.id}, model.__name__
