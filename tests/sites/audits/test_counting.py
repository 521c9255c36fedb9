"""Tests for the SQL statement COUNT_FINDINGS.

It adds a page's findings to its audit.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from infrastructure.postgresql.statements import fetch
from sites.audits.settling import COUNT_FINDINGS
from sites.models import Audit, AuditFinding, AuditPlace
from tests.factories import Member
from tests.populated_audits import make_audit

MAX_PLACES, MAX_SAMPLES = 2, 2


@pytest.fixture
def audit(home: Member) -> Audit:
    return make_audit(
        home, kind="site", url="https://shop.example.com/", max_pages=100, status="running", types=["seo"]
    )


def count_finding(audit: Audit, page: str, *places: str, **changes: Any) -> AuditFinding:
    """Count a finding on one more page.

    Return the audit's finding.
    """
    row = {
        **{"type": "seo", "check_id": "title", "status": "fail", "severity": "medium", "title": f"Title of {page}"},  # noqa: PIE800
        **{"outcome": "short", "how_to_fix": {"text": f"Fix of {page}", "snippets": []}},  # noqa: PIE800
        "consequence": f"Consequence of {page}",
        **{"message": f"Message of {page}", "fix": f"Fix of {page}", "points": 1.5, "later": 2.0, "holds": False},  # noqa: PIE800
        **{"is_emergency": False, "told_by": "", "sample": {"url": page, "scan_id": f"scan_{page}"}},  # noqa: PIE800
        "places": [{"fingerprint": place, "place": f"Place {place}"} for place in places],
        **changes,
    }
    parameters = {"audit": audit.id, "found": json.dumps([row]), "most_places": MAX_PLACES, "samples": MAX_SAMPLES}
    fetch(COUNT_FINDINGS, parameters)
    return AuditFinding.objects.get(audit=audit)


def sample_urls(counted_row: AuditFinding | AuditPlace) -> list[str]:
    return [sample["url"] for sample in counted_row.samples]


def test_points_of_a_finding_are_summed(audit: Audit) -> None:
    count_finding(audit, "a", holds=True, is_emergency=True)
    finding = count_finding(audit, "b", holds=True)
    assert (finding.pages_affected, finding.critical_pages, finding.held_pages) == (2, 1, 2)
    assert (finding.points, finding.later) == (3.0, 4.0)


@pytest.mark.parametrize(
    ("first", "worse"),
    [
        ({"severity": "medium"}, {"severity": "critical"}),
        ({"status": "warn", "severity": "high"}, {"status": "fail", "severity": "low"}),
    ],
)
def test_texts_come_from_the_worst_page(audit: Audit, first: dict[str, str], worse: dict[str, str]) -> None:
    count_finding(audit, "a", **first)
    finding = count_finding(audit, "b", **worse)
    assert (finding.title, finding.message, finding.fix) == ("Title of b", "Message of b", "Fix of b")
    assert finding.consequence == "Consequence of b"
    assert finding.how_to_fix["text"] == "Fix of b"
    assert (finding.status, finding.severity) == ("fail", worse["severity"])
    assert sample_urls(finding) == ["b"]
    milder = count_finding(audit, "c", **first)
    assert milder.consequence == "Consequence of b"
    assert (milder.title, milder.status, milder.severity) == ("Title of b", "fail", worse["severity"])
    assert sample_urls(milder) == ["b"]
    assert milder.pages_affected == 3


def test_outcome_comes_from_the_worst_page(audit: Audit) -> None:
    count_finding(audit, "a", outcome="long", severity="low")
    count_finding(audit, "b", outcome="missing", severity="high")
    finding = count_finding(audit, "c", outcome="long", severity="low")
    assert (finding.outcome, finding.outcomes) == ("missing", ["long", "missing"])
    assert finding.outcome_names == ["title.long", "title.missing"]


def test_equally_bad_sample_pages_are_limited(audit: Audit) -> None:
    count_finding(audit, "a")
    assert sample_urls(count_finding(audit, "b")) == ["a", "b"]
    finding = count_finding(audit, "c")
    assert sample_urls(finding) == ["a", "b"]
    assert finding.title == "Title of a"


def test_repeat_must_repeat_on_every_page(audit: Audit) -> None:
    assert count_finding(audit, "a", told_by="h1").told_by == "h1"
    assert count_finding(audit, "b", told_by="h1").told_by == "h1"
    assert count_finding(audit, "c").told_by == ""
    assert count_finding(audit, "d", told_by="h1").told_by == ""


def test_place_stores_few_sample_pages(audit: Audit) -> None:
    for page in ("a", "b", "c"):
        count_finding(audit, page, "menu")
    place = AuditPlace.objects.get(finding__audit=audit)
    assert (place.fingerprint, place.place, place.pages_affected) == ("menu", "Place menu", 3)
    assert sample_urls(place) == ["a", "b"]


def test_only_stored_places_are_counted(audit: Audit) -> None:
    count_finding(audit, "a", "menu", "footer")
    count_finding(audit, "b", "banner", "footer")
    places = AuditPlace.objects.filter(finding__audit=audit).values_list("fingerprint", "pages_affected")
    assert dict(places) == {"menu": 1, "footer": 2}
