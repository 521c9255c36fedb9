"""Test that docs/statement.md names buttons, links, fields and results as the pages do."""

from __future__ import annotations

import re
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from sites.models import Assessment, AssessmentFinding, AssessmentPage
from tests.factories import member_of
from tests.page_reading import browser_of, text_of
from tests.populated_assessments import populate_assessment

# Words in bold that are not on a page, because they stress something.
EMPHASIS = {
    "An account with the role member or a higher one.",
    "A computer with a keyboard, a browser and a screen reader",
    "Somebody who knows the site",
    "Automatic checks prove failures only.",
    "all steps of the main tasks",
    "First mark what the site does not have.",
    "Then test the others, one criterion after the other.",
    "Confirm it",
    "Dispute it",
    "Look at what needs review",
    "on your own site",
    "First complete the texts under Details",
}
PAGES = (
    "/o/home/scans/",
    "/o/home/scans/new?scope=site",
    "/audit/{museum_audit_id}",
    "/audit/{museum_audit_id}/conformance",
    "/o/home/assessments/new",
    "/o/home/assessments/{assessment_id}",
    "/o/home/assessments/{assessment_id}/criteria/1.1.1",
    "/o/home/assessments/{assessment_id}/criteria/2.4.3",
    "/o/home/assessments/{assessment_id}/pages",
    "/o/home/assessments/{assessment_id}/texts",
    "/o/home/assessments/{assessment_id}/status",
    "/assessment/{assessment_id}",
    "/assessment/{assessment_id}/statement",
    "/o/home/members/",
)


def test_guide_uses_the_words_of_the_pages(db: None) -> None:
    # The plan has room for another assessment, so that the form for a new one is on its page.
    home = member_of("Home", "pro")
    document = (settings.BASE_DIR / "docs" / "statement.md").read_text(encoding="utf-8")
    words = {" ".join(text.split()) for text in re.findall(r"\*\*(.+?)\*\*", document, re.DOTALL)}
    assert words >= EMPHASIS
    ids, client = populate_assessment(home), browser_of(home, "owner")
    pages = AssessmentPage.objects.filter(assessment=ids["assessment_id"])
    pages.filter(number=3).update(changed_at=timezone.now() + timedelta(days=1))
    pages.filter(number=4).update(is_missing=True)
    AssessmentFinding.objects.filter(page__number=3, check_id="image-alt").update(fixed_at=timezone.now())
    texts = [text_of(client.get(path.format(**ids))) for path in PAGES]
    client.post(f"/o/home/assessments/{ids['assessment_id']}/status", {"status": "finished"})
    Assessment.objects.update(shared_at=timezone.now())
    texts.append(text_of(client.get(f"/o/home/assessments/{ids['assessment_id']}")))
    # A number stands for the ellipsis.
    labels = {label: r" \d+ ".join(map(re.escape, label.split(" … "))) for label in words - EMPHASIS}
    missing = {
        label
        for label, pattern in labels.items()
        if not any(re.search(rf"(?<!\w){pattern}(?!\w)", text) for text in texts)
    }
    assert missing == set()
