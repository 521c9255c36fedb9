"""Tests for muted audit findings.

They are listed separately if every place on every page is muted.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from reports.mutes.services import active_mutes
from sites.audits.muting import AuditMutes
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.audit import SamplePage
from tests.factories import Member, make_scan
from tests.reports.people import page_of, person, text_of
from tests.reports.sarif import assert_sarif
from website_scan.fingerprints import fingerprint

REASON = "Sent by the load balancer."


def finished_audit(member: Member, *urls: str, kind: str = "site") -> Audit:
    """Create a finished audit with a page for each URL."""
    now = timezone.now()
    audit = Audit.objects.create(
        organization=member.organization,
        kind=kind,
        url=urls[0],
        types=["security"],
        max_pages=10,
        status="completed",
        created_at=now,
        completed_at=now,
        released_at=now,
        pages_planned=len(urls),
        pages_done=len(urls),
        totals={"security": {"pages": len(urls), "sum": 50, "flawless": 0, "gaps": 0, "cap": None, "caps": {}}},
    )
    for position, url in enumerate(urls):
        origin = "/".join(url.split("/")[:3])
        AuditPage.objects.create(audit=audit, position=position, url=url, origin=origin, status="done")
    return audit


def create_finding(
    audit: Audit,
    check: str,
    *urls: str,
    pages: int = 0,
    places: tuple[str, ...] = ("",),
    outcomes: tuple[str, ...] = ("faulty",),
) -> AuditFinding:
    """Create a finding that affects `pages` pages.

    Its places are on all sample pages.

    The first of the outcomes is that of the worst page.
    """
    scan = make_scan(Member(audit.organization, None, "", None))  # type: ignore[arg-type]  # a scan needs no key
    samples: list[SamplePage] = [{"url": url, "scan_id": scan.id} for url in urls]
    finding = AuditFinding.objects.create(
        audit=audit,
        type="security",
        check_id=check,
        status="fail",
        severity="high",
        outcome=outcomes[0],
        outcomes=list(outcomes),
        title=f"{check} found",
        message="Seen.",
        pages_affected=pages or len(urls),
        points=len(urls),
        samples=samples,
    )
    for place in places:
        AuditPlace.objects.create(
            finding=finding,
            fingerprint=fingerprint(check, place),
            place=place,
            pages_affected=pages or len(urls),
            samples=samples,
        )
    return finding


def create_mute(member: Member, check: str, **changes: Any) -> None:
    body = {"check": check, "host": "example.com", "reason": REASON}
    assert member.api.post("/v1/mutes", body | changes).status_code == 201


def muted_by_check(member: Member, audit: Audit) -> dict[str, str]:
    """Return the API's value of `muted` by check."""
    findings = member.api.get(f"/v1/audits/{audit.id}/findings").json()["findings"]
    return {finding["check"]: finding["muted"] for finding in findings}


HOME, SHOP, SHOES = "https://example.com/", "https://example.com/shop", "https://example.com/shop/shoes"


def test_host_mute_covers_all_pages(home: Member, stranger: Member) -> None:
    audit = finished_audit(home, HOME, SHOP, SHOES)
    create_finding(audit, "hsts", HOME, SHOP, pages=400)
    create_finding(audit, "csp-present", HOME)
    create_mute(stranger, "hsts")
    assert set(muted_by_check(home, audit).values()) == {"none"}
    create_mute(home, "hsts")
    assert muted_by_check(home, audit) == {"hsts": "all", "csp-present": "none"}
    (muted,) = (
        finding
        for finding in home.api.get(f"/v1/audits/{audit.id}/findings").json()["findings"]
        if finding["muted"] == "all"
    )
    assert [(mute["check"], mute["reason"]) for mute in muted["mutes"]] == [("hsts", REASON)]


@pytest.mark.parametrize(
    ("urls", "pages", "expected"),
    [
        ((SHOP, SHOES), 0, "all"),
        ((HOME, SHOP), 0, "some"),
        ((SHOP, SHOES), 7, "some"),  # Only two of the seven affected pages are stored as samples.
        ((HOME,), 0, "none"),
    ],
)
def test_path_mute_covers_all_pages_below(home: Member, urls: tuple[str, ...], pages: int, expected: str) -> None:
    audit = finished_audit(home, HOME, SHOP, SHOES)
    create_finding(audit, "hsts", *urls, pages=pages)
    create_mute(home, "hsts", path_prefix="/shop")
    assert list(muted_by_check(home, audit).values()) == [expected]


def test_mute_covers_pages_on_its_host_only(home: Member) -> None:
    audit = finished_audit(home, HOME, "https://other.example.com/", kind="pages")
    create_finding(audit, "hsts", HOME, "https://other.example.com/", pages=9)
    create_mute(home, "hsts")
    assert list(muted_by_check(home, audit).values()) == ["some"]
    create_mute(home, "hsts", host="other.example.com")
    assert list(muted_by_check(home, audit).values()) == ["all"]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [(("short",), "all"), (("missing",), "none"), (("short", "missing"), "none")],
)
def test_mute_with_an_outcome_covers_only_it(home: Member, outcomes: tuple[str, ...], expected: str) -> None:
    audit = finished_audit(home, HOME, SHOP)
    create_finding(audit, "hsts", HOME, SHOP, outcomes=outcomes)
    create_mute(home, "hsts", outcome="short")
    assert muted_by_check(home, audit) == {"hsts": expected}
    create_mute(home, "hsts")
    assert muted_by_check(home, audit) == {"hsts": "all"}


def test_findings_are_filtered_by_outcome(home: Member) -> None:
    audit = finished_audit(home, HOME, SHOP)
    create_finding(audit, "hsts", HOME, SHOP, outcomes=("missing", "short"))
    create_finding(audit, "title", HOME, outcomes=("short",))
    address = f"/v1/audits/{audit.id}/findings?outcome="
    for outcome, checks in (("hsts.short", ["hsts"]), ("hsts.missing", ["hsts"]), ("title.long", []), ("short", [])):
        answer = home.api.get(address + outcome).json()
        assert ([finding["check"] for finding in answer["findings"]], answer["total"]) == (checks, len(checks)), outcome
    assert [finding["outcome"] for finding in home.api.get(address + "hsts.short").json()["findings"]] == ["missing"]


def test_place_mute_does_not_cover_other_places(home: Member) -> None:
    audit = finished_audit(home, HOME)
    create_finding(audit, "cookie-secure", HOME, places=("session", "lang"))
    create_mute(home, "cookie-secure", fingerprint=fingerprint("cookie-secure", "session"))
    assert muted_by_check(home, audit) == {"cookie-secure": "some"}
    (listed,) = home.api.get(f"/v1/audits/{audit.id}/findings").json()["findings"]
    assert {place["place"]: place["muted"] for place in listed["places"]} == {"session": "all", "lang": "none"}
    create_mute(home, "cookie-secure", fingerprint=fingerprint("cookie-secure", "lang"))
    assert muted_by_check(home, audit) == {"cookie-secure": "all"}


def test_unstored_places_are_not_muted(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AuditPlace, "MOST", 2)
    audit = finished_audit(home, HOME)
    create_finding(audit, "cookie-secure", HOME, places=("session", "lang"))
    for place in ("session", "lang"):
        create_mute(home, "cookie-secure", fingerprint=fingerprint("cookie-secure", place))
    assert muted_by_check(home, audit) == {"cookie-secure": "some"}
    create_mute(home, "cookie-secure")
    assert muted_by_check(home, audit) == {"cookie-secure": "all"}


def test_unmuted_audit_needs_no_extra_queries(home: Member, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    audit = finished_audit(home, HOME, kind="pages")
    create_finding(audit, "hsts", HOME)
    mutes = AuditMutes(audit, active_mutes(home.organization.id, timezone.now()))
    with django_assert_num_queries(1):
        assert [finding_mutes.pages for finding_mutes in mutes.of(AuditFinding.objects.all()).values()] == ["none"]


def test_many_mutes_need_few_queries(home: Member, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    audit = finished_audit(home, HOME, SHOP)
    for check in ("hsts", "csp-present", "clickjacking"):
        create_finding(audit, check, SHOP)
        create_mute(home, check, path_prefix="/shop")
    mutes = AuditMutes(audit, active_mutes(home.organization.id, timezone.now()))
    with django_assert_num_queries(2):
        assert [finding_mutes.pages for finding_mutes in mutes.of(AuditFinding.objects.all()).values()] == ["all"] * 3


def test_strangers_do_not_see_mute_reasons(home: Member) -> None:
    audit = finished_audit(home, HOME, SHOP)
    create_finding(audit, "hsts", HOME, SHOP)
    create_finding(audit, "csp-present", HOME)
    create_mute(home, "hsts")
    Audit.objects.update(shared_at=timezone.now())
    for reader, is_member in ((person(home.organization), True), (Client(), False)):
        response = reader.get(f"/audit/{audit.id}")
        page = page_of(response)
        assert page.xpath('//ol[@class="findings"]//h3/text()') == ["csp-present found"]
        assert page.xpath('//details[contains(@class, "muted-findings")]//strong/text()') == ["hsts found"]
        assert (REASON in text_of(response)) == is_member


def test_muted_findings_do_not_count_as_success(home: Member) -> None:
    audit = finished_audit(home, HOME)
    create_finding(audit, "hsts", HOME)
    create_mute(home, "hsts")
    page_text = text_of(person(home.organization).get(f"/audit/{audit.id}"))
    assert "All findings are muted." in page_text
    assert "No check found anything wrong" not in page_text


def test_sarif_suppresses_muted_findings(home: Member) -> None:
    audit = finished_audit(home, HOME, SHOP)
    create_finding(audit, "hsts", HOME, SHOP)
    create_finding(audit, "csp-present", HOME)
    address = f"/v1/audits/{audit.id}/export?format=sarif"
    plain = export_sarif(home, address)
    assert all("suppressions" not in result for result in plain["runs"][0]["results"])
    create_mute(home, "hsts")
    results = export_sarif(home, address)["runs"][0]["results"]
    assert {result["ruleId"]: result["suppressions"] for result in results} == {
        "hsts": [{"kind": "external", "status": "accepted", "justification": REASON}],
        "csp-present": [],
    }
    # CSV has no column for mutes.
    raw = b"".join(home.api.get(f"/v1/audits/{audit.id}/export?format=csv")).decode()
    assert "muted" not in next(csv.reader(io.StringIO(raw)))


def export_sarif(member: Member, address: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(b"".join(member.api.get(address)))
    assert_sarif(document)
    return document
