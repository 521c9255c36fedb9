"""An assessment with a state, findings, results and a log, created with the service's functions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scans.policy import scan_policy
from sites.assessments import refreshing, results, services
from sites.assessments.counting import count_findings
from sites.assessments.requests import AssessmentRequestSerializer
from sites.models import Assessment, AssessmentFinding
from tests.factories import Member, key_caller
from tests.populated_audits import SITE
from website_scan.net.targets import parse_target


def populate_assessments(home: Member, audit_id: str, now: datetime) -> dict[str, Any]:
    """Create an assessment of an audit with two of its pages and a state, and return IDs by name."""
    caller = key_caller(home.organization.id)
    body = {"audit": audit_id, "name": "Bakery, spring", "sample_size": 2, "evaluators": "Ada Lovelace\nBert Brecht"}
    created = services.create_assessment(caller=caller, values=AssessmentRequestSerializer.judged(body))
    assessment_id = str(created.response["id"])
    refreshing.copy_results(assessment_id)
    services.add_page(
        caller=caller,
        assessment_id=assessment_id,
        target=parse_target(f"{SITE}order", scan_policy()),
        name="Order with one item",
        is_state=True,
    )
    assessment = Assessment.objects.get(id=assessment_id)
    page = assessment.pages.get(number=1)
    finding: dict[str, Any] = {"assessment": assessment, "page": page, "first_seen_at": now, "seen_at": now}
    failing = AssessmentFinding.objects.create(
        check_id="image-alt",
        outcome="missing",
        has_failed=True,
        severity="high",
        title="Images without alternative text",
        message="1 of 2 images has no alternative text: /rolls.png.",
        fix="Say what the image shows.",
        criteria=["1.1.1"],
        places=[{"fingerprint": "0" * 16, "text": "#rolls > img"}],
        place_count=1,
        **finding,
    )
    disputed = AssessmentFinding.objects.create(
        check_id="color-contrast",
        has_failed=True,
        severity="medium",
        title="Text with too little contrast",
        message="The contrast of 1 text is 2.9 to 1.",
        criteria=["1.4.3"],
        places=[{"fingerprint": "1" * 16, "text": "p.logo"}],
        place_count=1,
        is_new=True,
        **finding,
    )
    count_findings(page)
    results.dispute(
        caller=caller, assessment_id=assessment_id, finding_id=disputed.id, reason="The text is part of the logo."
    )
    for number, criterion, result in ((1, "2.4.3", "failed"), (1, "2.1.1", "passed"), (2, "2.4.3", "cannot_tell")):
        results.set_result(
            caller=caller,
            assessment_id=assessment_id,
            number=number,
            criterion=criterion,
            values={"version": 0, "result": result, "note": "By keyboard.", "remedy": "Follow the order of the page."},
        )
    results.set_remaining(caller=caller, assessment_id=assessment_id, criterion="1.2.2", result="not_applicable")
    return {"assessment_id": assessment_id, "criterion": "2.4.3", "finding_id": failing.id}
