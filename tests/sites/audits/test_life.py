"""Tests for the audit life cycle.

Each page takes a slot and is scanned once.
"""

from __future__ import annotations

from typing import Any

from accounts.models import MonthlyUsage, Tier
from scans.models import Scan
from scans.visits.claims import claim_next, finish_scan
from scans.visits.queue import Worker, running_visits
from sites.audits.dispatch import dispatch_pages
from sites.audits.sweeping import sweep_audits
from sites.models import Audit, AuditFinding, AuditPage
from tests.factories import Member, make_result, person_of
from website_scan.findings import ScanType
from website_scan.result import ScanError

ALL = ["security", "performance", "accessibility", "seo"]


def used_quota(member: Member) -> int:
    row = MonthlyUsage.objects.filter(organization=member.organization).first()
    return row.used if row else 0


def created(member: Member, body: dict[str, Any]) -> dict[str, Any]:
    response = member.api.post("/v1/audits", body)
    assert response.status_code == 202, response.content
    answer: dict[str, Any] = response.json()
    assert response["Location"] == f"/v1/audits/{answer['id']}"
    return answer


def get_audit(member: Member, audit: dict[str, Any], what: str = "") -> dict[str, Any]:
    response = member.api.get(f"/v1/audits/{audit['id']}{what}")
    assert response.status_code == 200
    answer: dict[str, Any] = response.json()
    return answer


def visit(member: Member, worker: str = "one", **columns: Any) -> Scan | None:
    """Claim and finish the next visit like a worker, then dispatch more pages.

    Return None if none is queued.
    """
    waiting = Scan.objects.visits().filter(status="queued").first()
    claim = claim_next(waiting.id, Worker(worker, 8)) if waiting else None
    if claim is None:
        return None
    scans = {ScanType(scan.type): scan for scan in Scan.objects.of_visit(claim.scan_id)}
    assert finish_scan(claim, *(make_result(scans[scan_type], **columns) for scan_type in claim.types))
    dispatch_pages(member.organization.id)
    return scans[claim.types[0]]


def page_urls(count: int) -> list[str]:
    return [f"https://example.com/{number}" for number in range(count)]


def test_all_types_of_a_page_take_one_slot(home: Member, target: str) -> None:
    audit = created(home, {"page": target})
    assert (audit["status"], audit["types"], audit["target"]) == ("running", ALL, target)
    assert audit["pages"] == {"found": 1, "planned": 1, "done": 0, "failed": 0}
    assert audit["scans"] == {"planned": 4, "done": 0}
    assert sorted(Scan.objects.values_list("type", flat=True)) == sorted(ALL)
    assert (running_visits(home.organization.id), used_quota(home)) == (1, 4)
    assert visit(home)
    ended = get_audit(home, audit)
    assert (ended["status"], ended["scans"]["done"], ended["pages"]["done"]) == ("completed", 4, 1)
    assert {scan_type: ended["results"][scan_type]["score"] for scan_type in ALL} == dict.fromkeys(ALL, 71)
    assert ended["results"]["seo"]["worst_pages"][0]["url"] == target
    assert ended["completed_at"]


def test_pages_leave_one_slot_free(home: Member) -> None:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    audit = created(home, {"pages": page_urls(9), "types": ["seo", "security"]})
    # The first page is scanned alone, because other pages reuse its evidence.
    assert (running_visits(home.organization.id), used_quota(home)) == (1, 2)
    assert visit(home)
    assert (running_visits(home.organization.id), used_quota(home)) == (3, 8)
    for _ in range(8):
        assert running_visits(home.organization.id) <= 3
        assert visit(home)
    assert visit(home) is None
    ended = get_audit(home, audit)
    assert (ended["status"], ended["pages"]["done"], ended["scans"]["done"], used_quota(home)) == (
        "completed",
        9,
        18,
        18,
    )
    assert [page["url"] for page in get_audit(home, audit, "/pages?limit=100")["pages"]] == page_urls(9)


def test_finding_on_several_pages_counts_once(home: Member) -> None:
    Tier.objects.update(pages_per_audit=100)
    audit = created(home, {"pages": page_urls(7), "types": ["seo"]})
    while visit(home):
        pass
    response = get_audit(home, audit, "/findings")
    assert [(finding["check"], finding["pages_affected"]) for finding in response["findings"]] == [
        ("meh", 7),
        ("bad", 7),
    ]
    meh = response["findings"][0]
    assert (meh["points"], meh["severity"], meh["status"], len(meh["sample_pages"])) == (1.5, "low", "warn", 5)
    assert [page["url"] for page in meh["sample_pages"]] == page_urls(5)
    assert get_audit(home, audit, "/findings?type=security")["findings"] == []


def test_audit_stops_when_the_quota_is_used_up(home: Member) -> None:
    Tier.objects.update(scans_per_month=10, pages_per_audit=100)
    audit = created(home, {"pages": page_urls(3), "types": ["seo", "security"]})
    MonthlyUsage.objects.update(used=7)  # Other scans have used most of the quota.
    while visit(home):
        pass
    ended = get_audit(home, audit)
    assert (ended["status"], ended["error"]["code"], used_quota(home)) == ("partial", "QUOTA_EXCEEDED", 9)
    assert ended["pages"] == {"found": 3, "planned": 2, "done": 2, "failed": 0}
    assert ended["error"]["message"].startswith("1 page was not checked.")


def test_audit_beyond_the_quota_is_refused(home: Member) -> None:
    Tier.objects.update(scans_per_month=5, pages_per_audit=100)
    response = home.api.post("/v1/audits", {"pages": page_urls(3), "types": ["seo", "security"]})
    assert (response.status_code, response.json()["code"]) == (429, "QUOTA_EXCEEDED")
    assert "6 scans, and 5 are left" in response.json()["error"]
    assert not Audit.objects.exists()


def test_cancelled_pages_do_not_begin(home: Member) -> None:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    audit = created(home, {"pages": page_urls(9), "types": ["seo", "security"]})
    assert visit(home)
    waiting = Scan.objects.visits().filter(status="queued").first()
    assert waiting
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim
    answer = home.api.delete(f"/v1/audits/{audit['id']}")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["completed_at"] is not None) == ("cancelled", True)
    assert (running_visits(home.organization.id), used_quota(home)) == (1, 4)
    scans = {ScanType(scan.type): scan for scan in Scan.objects.of_visit(claim.scan_id)}
    assert finish_scan(claim, *(make_result(scans[scan_type]) for scan_type in claim.types))
    assert dispatch_pages(home.organization.id) == 0
    ended = get_audit(home, audit)
    assert (ended["status"], ended["pages"]["done"], used_quota(home)) == ("cancelled", 2, 4)
    assert home.api.delete(f"/v1/audits/{audit['id']}").json()["status"] == "cancelled"
    assert set(AuditPage.objects.values_list("status", flat=True)) == {"done", "failed", "left_out"}


def test_audit_fails_if_no_page_can_be_scanned(home: Member) -> None:
    audit = created(home, {"pages": page_urls(2), "types": ["seo"]})
    error = ScanError("TARGET_STATUS", "The page answers with status 404.")
    while visit(home, status="failed", score=None, grade=None, categories=(), error=error):
        pass
    ended = get_audit(home, audit)
    assert (ended["status"], ended["pages"]["failed"]) == ("failed", 2)
    assert ended["error"] == {
        "code": "TARGET_STATUS",
        "message": "No page could be judged. The page answers with status 404.",
    }
    assert AuditFinding.objects.count() == 0


def test_sweeper_resumes_an_audit(home: Member) -> None:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    created(home, {"pages": page_urls(4), "types": ["seo"]})
    waiting = Scan.objects.visits().get(status="queued")
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim
    assert finish_scan(claim, make_result(waiting))
    # The worker died before it dispatched other pages.
    assert running_visits(home.organization.id) == 0
    sweep_audits()
    assert running_visits(home.organization.id) == 3


def test_cancelled_discoveries_count_for_the_limit(home: Member, target: str) -> None:
    Tier.objects.update(concurrent_scans=1)
    for _ in range(10):
        audit = created(home, {"site": target})
        home.api.delete(f"/v1/audits/{audit['id']}")
    response = home.api.post("/v1/audits", {"site": target})
    assert (response.status_code, response.json()["code"]) == (429, "CONCURRENT_LIMIT")
    created(home, {"page": target})


def test_owner_has_one_discovery_limit(home: Member, stranger: Member, target: str) -> None:
    Tier.objects.update(concurrent_scans=1)
    for member, email in ((home, "ada@people.test"), (stranger, "ada+2@people.test")):
        person_of(member, "owner", email)
    for number in range(10):
        created(home if number % 2 else stranger, {"site": target})
    response = home.api.post("/v1/audits", {"site": target})
    assert (response.status_code, response.json()["code"]) == (429, "CONCURRENT_LIMIT")


def test_number_of_running_audits_is_limited(home: Member) -> None:
    Tier.objects.update(concurrent_scans=1)
    for _ in range(5):
        created(home, {"pages": page_urls(1)})
    response = home.api.post("/v1/audits", {"pages": page_urls(1)})
    assert (response.status_code, response.json()["code"]) == (429, "CONCURRENT_LIMIT")
    assert "5 audits are in progress" in response.json()["error"]
