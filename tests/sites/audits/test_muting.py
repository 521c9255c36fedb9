"""Muted findings of an audit: listed apart if muted everywhere, kept in the list if only on some pages or places."""

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


def audit_of(member: Member, *urls: str, kind: str = "site") -> Audit:
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


def found(
    audit: Audit,
    check: str,
    *urls: str,
    pages: int = 0,
    places: tuple[str, ...] = ("",),
    outcomes: tuple[str, ...] = ("faulty",),
) -> AuditFinding:
    """Create a finding with places that are all on these sample pages; `pages` is the number of all affected pages.

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


def mute(member: Member, check: str, **changes: Any) -> None:
    body = {"check": check, "host": "example.com", "reason": REASON}
    assert member.api.post("/v1/mutes", body | changes).status_code == 201


def told(member: Member, audit: Audit) -> dict[str, str]:
    """Return the API's `muted` of each finding."""
    findings = member.api.get(f"/v1/audits/{audit.id}/findings").json()["findings"]
    return {each["check"]: each["muted"] for each in findings}


HOME, SHOP, SHOES = "https://example.com/", "https://example.com/shop", "https://example.com/shop/shoes"


def test_mute_of_a_host_covers_all_pages_of_the_site(home: Member, stranger: Member) -> None:
    audit = audit_of(home, HOME, SHOP, SHOES)
    found(audit, "hsts", HOME, SHOP, pages=400)
    found(audit, "csp-present", HOME)
    mute(stranger, "hsts")
    assert set(told(home, audit).values()) == {"none"}
    mute(home, "hsts")
    assert told(home, audit) == {"hsts": "all", "csp-present": "none"}
    (muted,) = (
        each for each in home.api.get(f"/v1/audits/{audit.id}/findings").json()["findings"] if each["muted"] == "all"
    )
    assert [(each["check"], each["reason"]) for each in muted["mutes"]] == [("hsts", REASON)]


@pytest.mark.parametrize(
    ("urls", "pages", "expected"),
    [
        ((SHOP, SHOES), 0, "all"),
        ((HOME, SHOP), 0, "some"),
        ((SHOP, SHOES), 7, "some"),  # the other five pages are not stored
        ((HOME,), 0, "none"),
    ],
)
def test_mute_of_a_path_covers_the_pages_below_the_path(
    home: Member, urls: tuple[str, ...], pages: int, expected: str
) -> None:
    audit = audit_of(home, HOME, SHOP, SHOES)
    found(audit, "hsts", *urls, pages=pages)
    mute(home, "hsts", path_prefix="/shop")
    assert list(told(home, audit).values()) == [expected]


def test_mute_covers_pages_on_its_host_only(home: Member) -> None:
    audit = audit_of(home, HOME, "https://other.example.com/", kind="pages")
    found(audit, "hsts", HOME, "https://other.example.com/", pages=9)
    mute(home, "hsts")
    assert list(told(home, audit).values()) == ["some"]
    mute(home, "hsts", host="other.example.com")
    assert list(told(home, audit).values()) == ["all"]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [(("short",), "all"), (("missing",), "none"), (("short", "missing"), "none")],
)
def test_mute_of_an_outcome_covers_findings_with_this_outcome_only(
    home: Member, outcomes: tuple[str, ...], expected: str
) -> None:
    audit = audit_of(home, HOME, SHOP)
    found(audit, "hsts", HOME, SHOP, outcomes=outcomes)
    mute(home, "hsts", outcome="short")
    assert told(home, audit) == {"hsts": expected}
    mute(home, "hsts")
    assert told(home, audit) == {"hsts": "all"}


def test_findings_are_filtered_by_an_outcome_on_any_page(home: Member) -> None:
    audit = audit_of(home, HOME, SHOP)
    found(audit, "hsts", HOME, SHOP, outcomes=("missing", "short"))
    found(audit, "title", HOME, outcomes=("short",))
    address = f"/v1/audits/{audit.id}/findings?outcome="
    for wanted, checks in (("hsts.short", ["hsts"]), ("hsts.missing", ["hsts"]), ("title.long", []), ("short", [])):
        answer = home.api.get(address + wanted).json()
        assert ([each["check"] for each in answer["findings"]], answer["total"]) == (checks, len(checks)), wanted
    assert [each["outcome"] for each in home.api.get(address + "hsts.short").json()["findings"]] == ["missing"]


def test_mute_of_one_place_leaves_the_other_places(home: Member) -> None:
    audit = audit_of(home, HOME)
    found(audit, "cookie-secure", HOME, places=("session", "lang"))
    mute(home, "cookie-secure", fingerprint=fingerprint("cookie-secure", "session"))
    assert told(home, audit) == {"cookie-secure": "some"}
    (listed,) = home.api.get(f"/v1/audits/{audit.id}/findings").json()["findings"]
    assert {each["place"]: each["muted"] for each in listed["places"]} == {"session": "all", "lang": "none"}
    mute(home, "cookie-secure", fingerprint=fingerprint("cookie-secure", "lang"))
    assert told(home, audit) == {"cookie-secure": "all"}


def test_places_that_are_not_stored_count_as_unmuted(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AuditPlace, "MOST", 2)
    audit = audit_of(home, HOME)
    found(audit, "cookie-secure", HOME, places=("session", "lang"))
    for place in ("session", "lang"):
        mute(home, "cookie-secure", fingerprint=fingerprint("cookie-secure", place))
    assert told(home, audit) == {"cookie-secure": "some"}
    mute(home, "cookie-secure")
    assert told(home, audit) == {"cookie-secure": "all"}


def test_no_mutes_need_no_further_queries(home: Member, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    audit = audit_of(home, HOME, kind="pages")
    found(audit, "hsts", HOME)
    mutes = AuditMutes(audit, active_mutes(home.organization.id, timezone.now()))
    with django_assert_num_queries(1):
        assert [each.pages for each in mutes.of(AuditFinding.objects.all()).values()] == ["none"]


def test_mutes_of_many_findings_need_one_query(home: Member, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    audit = audit_of(home, HOME, SHOP)
    for check in ("hsts", "csp-present", "clickjacking"):
        found(audit, check, SHOP)
        mute(home, check, path_prefix="/shop")
    mutes = AuditMutes(audit, active_mutes(home.organization.id, timezone.now()))
    with django_assert_num_queries(2):
        assert [each.pages for each in mutes.of(AuditFinding.objects.all()).values()] == ["all"] * 3


def test_audit_page_lists_muted_findings_without_reasons_for_strangers(home: Member) -> None:
    audit = audit_of(home, HOME, SHOP)
    found(audit, "hsts", HOME, SHOP)
    found(audit, "csp-present", HOME)
    mute(home, "hsts")
    Audit.objects.update(shared_at=timezone.now())
    for reader, is_member in ((person(home.organization), True), (Client(), False)):
        shown = reader.get(f"/audit/{audit.id}")
        page = page_of(shown)
        assert page.xpath('//ol[@class="findings"]//h3/text()') == ["csp-present found"]
        assert page.xpath('//details[contains(@class, "muted-findings")]//strong/text()') == ["hsts found"]
        assert (REASON in text_of(shown)) == is_member


def test_page_with_only_muted_findings_does_not_claim_success(home: Member) -> None:
    audit = audit_of(home, HOME)
    found(audit, "hsts", HOME)
    mute(home, "hsts")
    said = text_of(person(home.organization).get(f"/audit/{audit.id}"))
    assert "All findings are muted." in said
    assert "No check found anything wrong" not in said


def test_sarif_suppresses_findings_that_are_muted_on_all_pages(home: Member) -> None:
    audit = audit_of(home, HOME, SHOP)
    found(audit, "hsts", HOME, SHOP)
    found(audit, "csp-present", HOME)
    address = f"/v1/audits/{audit.id}/export?format=sarif"
    plain = document_of(home, address)
    assert all("suppressions" not in each for each in plain["runs"][0]["results"])
    mute(home, "hsts")
    results = document_of(home, address)["runs"][0]["results"]
    assert {each["ruleId"]: each["suppressions"] for each in results} == {
        "hsts": [{"kind": "external", "status": "accepted", "justification": REASON}],
        "csp-present": [],
    }
    # CSV has no column for mutes.
    raw = b"".join(home.api.get(f"/v1/audits/{audit.id}/export?format=csv")).decode()
    assert "muted" not in next(csv.reader(io.StringIO(raw)))


def document_of(member: Member, address: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(b"".join(member.api.get(address)))
    assert_sarif(document)
    return document
