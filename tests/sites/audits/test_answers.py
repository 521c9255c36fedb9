"""Tests for the responses of the audit API."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.models import Tier
from scans.models import Scan
from tests.factories import Member, browser_of, person_of
from tests.generated import assert_described
from tests.sites.audits.test_life import created, get_audit, page_urls, visit
from webhooks.models import Event
from website_scan.result import AppliedCap, ScanError, SkippedCheck

FAILED = ScanError("TARGET_STATUS", "The page answers with status 404.")
FAILED_COLUMNS: dict[str, Any] = {"status": "failed", "score": None, "grade": None, "categories": (), "error": FAILED}


@pytest.fixture
def paying_member(home: Member) -> Member:
    Tier.objects.update(pages_per_audit=1000, concurrent_scans=4, scans_per_month=10_000)
    return home


def test_refusal_names_all_invalid_pages(paying_member: Member) -> None:
    requested_urls = ["https://example.com/", *["nonsense"] * 30, "http://localhost/"]
    response = paying_member.api.post("/v1/audits", {"pages": requested_urls})
    assert response.status_code == 400
    body = response.json()
    assert (body["code"], [page["position"] for page in body["pages"]]) == ("INVALID_PAGES", list(range(2, 33)))
    assert {page["code"] for page in body["pages"]} == {"INVALID_URL", "DOMAIN_BLOCKED"}
    assert body["pages"][-1] == {
        "position": 32,
        "code": "DOMAIN_BLOCKED",
        "error": "localhost is this machine, not a public site. To scan a site on your own machine, use the "
        "command website-scan. An operator can allow it with SCAN_ALLOWED_NETWORKS=127.0.0.0/8.",
    }
    assert body["error"].startswith("31 of the pages cannot be scanned. 2: ")


@pytest.mark.parametrize("types", [["seo", "design"], [], "seo", [5], None])
@pytest.mark.parametrize("path", ["audits", "monitors"])
def test_unknown_scan_type_is_refused(paying_member: Member, target: str, path: str, types: object) -> None:
    body = {"page": target, "types": types} | ({"name": "Shop", "every": "day"} if path == "monitors" else {})
    response = paying_member.api.post(f"/v1/{path}", body)
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_TYPE")


def test_partial_audit_has_the_reason(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(3), "types": ["seo"]})
    assert visit(paying_member)
    assert visit(paying_member, **FAILED_COLUMNS)
    assert visit(paying_member)
    ended = get_audit(paying_member, audit)
    assert (ended["status"], ended["error"]) == (
        "partial",
        {"code": "TARGET_STATUS", "message": "1 of 3 pages could not be judged. The page answers with status 404."},
    )
    listed = get_audit(paying_member, audit, "/pages")["pages"]
    (failed,) = (page for page in listed if page["status"] == "failed")
    assert failed["error"] == {"code": "TARGET_STATUS", "message": "The page answers with status 404."}
    assert failed["results"]["seo"]["error"] == failed["error"]
    assert [page["error"] for page in listed if page != failed] == [None, None]


def test_partial_audit_names_a_skipped_check(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(1), "types": ["seo"]})
    skipped = (
        SkippedCheck("soft-404", "Successful answer is no error page", "The site did not answer in time.", "timeout"),
    )
    assert visit(paying_member, status="partial", skipped_checks=skipped)
    error = get_audit(paying_member, audit)["error"]
    assert error["code"] == "CHECKS_SKIPPED"
    assert error["message"] == (
        "Checks could not run in 1 of 1 scan. For example, “Successful answer is no error page” was not checked. "
        "The site did not answer in time."
    )


def test_omitted_pages_have_a_reason(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(3), "types": ["seo"]})
    assert paying_member.api.delete(f"/v1/audits/{audit['id']}").status_code == 200
    assert {page["error"]["code"] for page in get_audit(paying_member, audit, "/pages")["pages"]} == {"SCAN_CANCELLED"}


def test_only_subscribers_get_audit_scan_events(paying_member: Member, target: str) -> None:
    paying_member.api.post("/api/webhooks", {"url": target, "events": ["scan.completed", "audit.completed"]})
    audit = created(paying_member, {"pages": page_urls(2), "types": ["seo"]})
    while visit(paying_member):
        pass
    assert list(Event.objects.values_list("kind", flat=True)) == ["audit.completed"]
    answer = paying_member.api.post("/api/webhooks", {"url": target, "events": ["audit.scan"]})
    assert answer.status_code == 201, answer.content
    second = created(paying_member, {"pages": page_urls(2), "types": ["seo"]})
    while visit(paying_member):
        pass
    bodies = [json.loads(bytes(event.body)) for event in Event.objects.filter(kind="audit.scan")]
    for body in bodies:
        assert_described(body)
    scans = [body["data"] for body in bodies]
    assert {scan["audit_id"] for scan in scans} == {second["id"]} != {audit["id"]}
    assert {scan["status"] for scan in scans} == {"completed"}
    assert len(scans) == 2


def test_scans_of_one_page_send_scan_events(paying_member: Member, target: str) -> None:
    paying_member.api.post("/api/webhooks", {"url": target, "events": ["scan.completed"]})
    created(paying_member, {"page": target, "types": ["seo"]})
    assert visit(paying_member)
    assert list(Event.objects.values_list("kind", flat=True)) == ["scan.completed"]


def test_scans_can_be_listed_by_audit(paying_member: Member, target: str) -> None:
    first, second = (created(paying_member, {"pages": page_urls(2), "types": ["seo"]}) for _ in range(2))
    while visit(paying_member):
        pass
    alone = paying_member.api.post("/v1/scan", {"url": target, "type": "seo"}).json()
    listed = paying_member.api.get("/v1/scans?limit=100").json()
    audits = {scan["id"]: scan["audit"] for scan in listed["scans"]}
    assert audits[alone["id"]] is None
    for audit in (first, second):
        scans_of_audit = paying_member.api.get(f"/v1/scans?audit={audit['id']}").json()
        assert (scans_of_audit["total"], {scan["audit"] for scan in scans_of_audit["scans"]}) == (2, {audit["id"]})
        later = paying_member.api.get(f"/v1/scans?audit={audit['id']}&status=completed&limit=1&offset=1").json()
        assert (later["total"], len(later["scans"])) == (2, 1)
    assert paying_member.api.get(f"/v1/scans?audit=aud_{'a' * 22}").json()["scans"] == []
    refused = paying_member.api.get("/v1/scans?audit=1")
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_PARAMS")


def test_foreign_audit_reveals_no_scans(paying_member: Member, stranger: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(1), "types": ["seo"]})
    assert stranger.api.get(f"/v1/scans?audit={audit['id']}").json()["total"] == 0


def test_scan_ids_are_always_called_scan_id(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(1), "types": ["seo"]})
    assert visit(paying_member)
    scan = Scan.objects.get()
    assert get_audit(paying_member, audit, "/pages")["pages"][0]["results"]["seo"]["scan_id"] == scan.id
    assert get_audit(paying_member, audit, "/findings")["findings"][0]["sample_pages"][0]["scan_id"] == scan.id
    assert get_audit(paying_member, audit)["results"]["seo"]["worst_pages"][0]["scan_id"] == scan.id


@pytest.mark.parametrize("path", ["audits/aud_" + "a" * 22, "report/scan_" + "a" * 22])
def test_unknown_export_format_is_refused(home: Member, path: str) -> None:
    response = home.api.get(f"/v1/{path}/export/xml")
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMS")
    assert response.json()["error"].startswith("Unknown export format. Allowed: json, ")


def test_audit_page_has_the_reason_of_a_cap(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(2), "types": ["seo"]})
    reason = "The site is not encrypted."
    caps = (AppliedCap(69, reason), AppliedCap(79, "Two high-severity checks failed."))
    while visit(paying_member, score=69, categories=(), caps=caps):
        pass
    browser = browser_of(person_of(paying_member, "viewer", "viewer@people.test"))
    page = browser.get(f"/audit/{audit['id']}").content.decode()
    assert "SEO scores are capped: the site is not encrypted (2 pages)." in page
    assert "high-severity" not in page, "only the lowest cap of a page counts"


def test_shared_cap_is_shown_once(paying_member: Member) -> None:
    audit = created(
        paying_member, {"pages": page_urls(1), "types": ["security", "performance", "accessibility", "seo"]}
    )
    blank = (AppliedCap(40, "The page shows no content in a browser."),)
    while visit(paying_member, score=40, categories=(), caps=blank):
        pass
    browser = browser_of(person_of(paying_member, "viewer", "viewer@people.test"))
    page = browser.get(f"/audit/{audit['id']}").content.decode()
    reason = "scores are capped: the page shows no content in a browser (1 page)."
    assert f"Security, performance, accessibility and SEO {reason}" in page
    assert page.count("scores are capped") == 1
    assert f"SEO {reason}" in browser.get(f"/audit/{audit['id']}?type=seo").content.decode()


def test_export_has_the_time_of_shared_evidence(paying_member: Member) -> None:
    created(paying_member, {"pages": page_urls(2), "types": ["security"]})
    at = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
    assert visit(paying_member)
    assert visit(paying_member, facts={"site_evidence_at": f"{at:%Y-%m-%dT%H:%M:%SZ}"})
    first, second = Scan.objects.order_by("audit_page__position")
    exported = [paying_member.api.get(f"/v1/report/{scan.id}/export").json() for scan in (first, second)]
    assert [export["site_evidence_at"] for export in exported] == [None, "2026-11-22T09:00:00Z"]
    log = paying_member.api.get(f"/v1/report/{second.id}/export/sarif").json()
    assert log["runs"][0]["properties"]["site_evidence_at"] == "2026-11-22T09:00:00Z"
