"""Answers of the audit endpoints: every fault is named, and one thing has one name."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.models import Tier
from scans.models import Scan
from tests.factories import Member, browser_of, person_of
from tests.generated import assert_described
from tests.sites.audits.test_life import created, pages, shown, visit
from webhooks.models import Event
from website_scan.result import AppliedCap, ScanError, SkippedCheck

FAILED = ScanError("TARGET_STATUS", "The page answers with status 404.")
NOT_JUDGED: dict[str, Any] = {"status": "failed", "score": None, "grade": None, "categories": (), "error": FAILED}


@pytest.fixture
def roomy(home: Member) -> Member:
    Tier.objects.update(pages_per_audit=1000, concurrent_scans=4, scans_per_month=10_000)
    return home


def test_refusal_names_all_invalid_pages_of_a_request(roomy: Member) -> None:
    named = ["https://example.com/", *["nonsense"] * 30, "http://localhost/"]
    response = roomy.api.post("/v1/audits", {"pages": named})
    assert response.status_code == 400
    body = response.json()
    assert (body["code"], [each["position"] for each in body["pages"]]) == ("INVALID_PAGES", list(range(2, 33)))
    assert {each["code"] for each in body["pages"]} == {"INVALID_URL", "DOMAIN_BLOCKED"}
    assert body["pages"][-1] == {
        "position": 32,
        "code": "DOMAIN_BLOCKED",
        "error": "localhost is a reserved name, not a public site.",
    }
    assert body["error"].startswith("31 of the pages cannot be scanned. 2: ")


@pytest.mark.parametrize("types", [["seo", "design"], [], "seo", [5], None])
@pytest.mark.parametrize("path", ["audits", "monitors"])
def test_unknown_scan_type_is_refused_with_INVALID_TYPE(roomy: Member, target: str, path: str, types: object) -> None:
    body = {"page": target, "types": types} | ({"name": "Shop", "every": "day"} if path == "monitors" else {})
    response = roomy.api.post(f"/v1/{path}", body)
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_TYPE")


def test_partial_audit_and_its_failed_page_have_the_reason(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(3), "types": ["seo"]})
    assert visit(roomy)
    assert visit(roomy, **NOT_JUDGED)
    assert visit(roomy)
    ended = shown(roomy, audit)
    assert (ended["status"], ended["error"]) == (
        "partial",
        {"code": "TARGET_STATUS", "message": "1 of 3 pages could not be judged. The page answers with status 404."},
    )
    listed = shown(roomy, audit, "/pages")["pages"]
    (failed,) = (each for each in listed if each["status"] == "failed")
    assert failed["error"] == {"code": "TARGET_STATUS", "message": "The page answers with status 404."}
    assert failed["results"]["seo"]["error"] == failed["error"]
    assert [each["error"] for each in listed if each != failed] == [None, None]


def test_partial_audit_names_a_check_that_could_not_run(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(1), "types": ["seo"]})
    skipped = (
        SkippedCheck("soft-404", "Successful answer is no error page", "The site did not answer in time.", "timeout"),
    )
    assert visit(roomy, status="partial", skipped_checks=skipped)
    error = shown(roomy, audit)["error"]
    assert error["code"] == "CHECKS_SKIPPED"
    assert error["message"] == (
        "Checks could not run in 1 of 1 scan. For example, “Successful answer is no error page” was not checked. "
        "The site did not answer in time."
    )


def test_omitted_pages_have_a_reason(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(3), "types": ["seo"]})
    assert roomy.api.delete(f"/v1/audits/{audit['id']}").status_code == 200
    assert {each["error"]["code"] for each in shown(roomy, audit, "/pages")["pages"]} == {"SCAN_CANCELLED"}


def test_scans_of_lists_send_audit_scan_events_only_to_subscribers(roomy: Member, target: str) -> None:
    roomy.api.post("/api/webhooks", {"url": target, "events": ["scan.completed", "audit.completed"]})
    audit = created(roomy, {"pages": pages(2), "types": ["seo"]})
    while visit(roomy):
        pass
    assert list(Event.objects.values_list("kind", flat=True)) == ["audit.completed"]
    answer = roomy.api.post("/api/webhooks", {"url": target, "events": ["audit.scan"]})
    assert answer.status_code == 201, answer.content
    second = created(roomy, {"pages": pages(2), "types": ["seo"]})
    while visit(roomy):
        pass
    bodies = [json.loads(bytes(each.body)) for each in Event.objects.filter(kind="audit.scan")]
    for body in bodies:
        assert_described(body)
    told = [each["data"] for each in bodies]
    assert {each["audit_id"] for each in told} == {second["id"]} != {audit["id"]}
    assert {each["status"] for each in told} == {"completed"}
    assert len(told) == 2


def test_scans_of_one_page_send_scan_events(roomy: Member, target: str) -> None:
    roomy.api.post("/api/webhooks", {"url": target, "events": ["scan.completed"]})
    created(roomy, {"page": target, "types": ["seo"]})
    assert visit(roomy)
    assert list(Event.objects.values_list("kind", flat=True)) == ["scan.completed"]


def test_listed_scan_has_its_audit_and_is_found_by_the_audit(roomy: Member, target: str) -> None:
    first, second = (created(roomy, {"pages": pages(2), "types": ["seo"]}) for _ in range(2))
    while visit(roomy):
        pass
    alone = roomy.api.post("/v1/scan", {"url": target, "type": "seo"}).json()
    listed = roomy.api.get("/v1/scans?limit=100").json()
    audits = {each["id"]: each["audit"] for each in listed["scans"]}
    assert audits[alone["id"]] is None
    for audit in (first, second):
        found = roomy.api.get(f"/v1/scans?audit={audit['id']}").json()
        assert (found["total"], {each["audit"] for each in found["scans"]}) == (2, {audit["id"]})
        later = roomy.api.get(f"/v1/scans?audit={audit['id']}&status=completed&limit=1&offset=1").json()
        assert (later["total"], len(later["scans"])) == (2, 1)
    assert roomy.api.get(f"/v1/scans?audit=aud_{'a' * 22}").json()["scans"] == []
    refused = roomy.api.get("/v1/scans?audit=1")
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_PARAMS")


def test_other_organizations_cannot_find_scans_by_the_audit(roomy: Member, stranger: Member) -> None:
    audit = created(roomy, {"pages": pages(1), "types": ["seo"]})
    assert stranger.api.get(f"/v1/scans?audit={audit['id']}").json()["total"] == 0


def test_scan_ids_are_called_scan_id_everywhere(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(1), "types": ["seo"]})
    assert visit(roomy)
    scan = Scan.objects.get()
    assert shown(roomy, audit, "/pages")["pages"][0]["results"]["seo"]["scan_id"] == scan.id
    assert shown(roomy, audit, "/findings")["findings"][0]["sample_pages"][0]["scan_id"] == scan.id
    assert shown(roomy, audit)["results"]["seo"]["worst_pages"][0]["scan_id"] == scan.id


@pytest.mark.parametrize("path", ["audits/aud_" + "a" * 22, "report/scan_" + "a" * 22])
def test_unknown_export_format_is_refused(home: Member, path: str) -> None:
    response = home.api.get(f"/v1/{path}/export/xml")
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMS")
    assert response.json()["error"].startswith("There is no such export format; there are json, ")


def test_audit_page_has_the_reason_of_a_cap(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(2), "types": ["seo"]})
    reason = "The site is not encrypted."
    caps = (AppliedCap(69, reason), AppliedCap(79, "Two high-severity checks failed."))
    while visit(roomy, score=69, categories=(), caps=caps):
        pass
    browser = browser_of(person_of(roomy, "viewer", "viewer@people.test"))
    page = browser.get(f"/audit/{audit['id']}").content.decode()
    assert "SEO scores are capped: the site is not encrypted (2 pages)." in page
    assert "high-severity" not in page, "only the lowest cap of a page counts"


def test_cap_of_several_types_for_one_reason_appears_once(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(1), "types": ["security", "performance", "accessibility", "seo"]})
    blank = (AppliedCap(40, "The page shows no content in a browser."),)
    while visit(roomy, score=40, categories=(), caps=blank):
        pass
    browser = browser_of(person_of(roomy, "viewer", "viewer@people.test"))
    page = browser.get(f"/audit/{audit['id']}").content.decode()
    reason = "scores are capped: the page shows no content in a browser (1 page)."
    assert f"Security, performance, accessibility and SEO {reason}" in page
    assert page.count("scores are capped") == 1
    assert f"SEO {reason}" in browser.get(f"/audit/{audit['id']}?type=seo").content.decode()


def test_export_has_the_time_of_shared_evidence(roomy: Member) -> None:
    created(roomy, {"pages": pages(2), "types": ["security"]})
    at = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
    assert visit(roomy)
    assert visit(roomy, facts={"site_evidence_at": f"{at:%Y-%m-%dT%H:%M:%SZ}"})
    first, second = Scan.objects.order_by("audit_page__position")
    exported = [roomy.api.get(f"/v1/report/{each.id}/export").json() for each in (first, second)]
    assert [each["site_evidence_at"] for each in exported] == [None, "2026-11-22T09:00:00Z"]
    log = roomy.api.get(f"/v1/report/{second.id}/export/sarif").json()
    assert log["runs"][0]["properties"]["site_evidence_at"] == "2026-11-22T09:00:00Z"
