"""Tests for an audit's progress, which consists of named steps."""

from __future__ import annotations

import pytest
from django.utils import timezone

from scans.models import Scan
from sites.audits.progress import progress_of
from sites.models import Audit
from tests.factories import Member
from tests.populated_audits import make_audit, make_pages, release


@pytest.mark.parametrize(
    ("columns", "text", "percent"),
    [
        ({"kind": "site", "status": "queued"}, "Waiting in the queue", None),
        ({"kind": "site", "status": "discovering", "pages_found": 23}, "Finding pages · 23 found", None),
        (
            {"kind": "site", "status": "running", "pages_planned": 40, "pages_done": 11, "pages_failed": 1},
            "12 of 40",
            30,
        ),
        ({"kind": "pages", "status": "running", "pages_planned": 2}, "Checking the pages · 0 of 2", 0),
        ({"kind": "site", "status": "completed", "pages_planned": 2, "pages_done": 2}, "Done", 100),
        ({"kind": "site", "status": "cancelled"}, "Cancelled", 100),
        ({"kind": "page", "status": "failed"}, "Failed", 100),
        ({"kind": "page", "status": "running"}, "Waiting in the queue", 0),
    ],
)
def test_progress_step_has_a_name(columns: dict[str, object], text: str, percent: int | None) -> None:
    progress = progress_of(Audit(url="https://example.com/", **columns))
    assert progress.text.endswith(text)
    assert progress.percent == percent
    states = [step.state for step in progress.steps]
    assert states == sorted(states, key=["done", "current", "next"].index)
    assert states.count("current") == 1


def test_progress_shows_the_step_of_the_visit(home: Member) -> None:
    audit = make_audit(home)
    lead = release(make_pages(audit, [audit.url])[0], timezone.now())[0]
    assert progress_of(audit, lead).text == "Waiting in the queue"
    Scan.objects.filter(id=lead.id).update(status="scanning", phase="checking", percent=64)
    lead.refresh_from_db()
    assert progress_of(audit, lead).text == "Checking the page · running the checks"
    assert progress_of(audit, lead).percent == 64
