"""Life cycle of an audit: pages wait, are released into slots and judged once; then the audit ends."""

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


def used(member: Member) -> int:
    row = MonthlyUsage.objects.filter(organization=member.organization).first()
    return row.used if row else 0


def created(member: Member, body: dict[str, Any]) -> dict[str, Any]:
    response = member.api.post("/v1/audits", body)
    assert response.status_code == 202, response.content
    answer: dict[str, Any] = response.json()
    assert response["Location"] == f"/v1/audits/{answer['id']}"
    return answer


def shown(member: Member, audit: dict[str, Any], what: str = "") -> dict[str, Any]:
    response = member.api.get(f"/v1/audits/{audit['id']}{what}")
    assert response.status_code == 200
    answer: dict[str, Any] = response.json()
    return answer


def visit(member: Member, worker: str = "one", **columns: Any) -> Scan | None:
    """Claim and finish the next visit like a worker, and release pages into its slot; None if nothing waits."""
    waiting = Scan.objects.visits().filter(status="queued").first()
    claim = claim_next(waiting.id, Worker(worker, 8)) if waiting else None
    if claim is None:
        return None
    scans = {ScanType(each.type): each for each in Scan.objects.of_visit(claim.scan_id)}
    assert finish_scan(claim, *(make_result(scans[each], **columns) for each in claim.types))
    dispatch_pages(member.organization.id)
    return scans[claim.types[0]]


def pages(count: int) -> list[str]:
    return [f"https://example.com/{number}" for number in range(count)]


def test_page_is_scanned_for_all_types_in_one_slot(home: Member, target: str) -> None:
    audit = created(home, {"page": target})
    assert (audit["status"], audit["types"], audit["target"]) == ("running", ALL, target)
    assert audit["pages"] == {"found": 1, "planned": 1, "done": 0, "failed": 0}
    assert audit["scans"] == {"planned": 4, "done": 0}
    assert sorted(Scan.objects.values_list("type", flat=True)) == sorted(ALL)
    assert (running_visits(home.organization.id), used(home)) == (1, 4)
    assert visit(home)
    ended = shown(home, audit)
    assert (ended["status"], ended["scans"]["done"], ended["pages"]["done"]) == ("completed", 4, 1)
    assert {each: ended["results"][each]["score"] for each in ALL} == dict.fromkeys(ALL, 71)
    assert ended["results"]["seo"]["worst_pages"][0]["url"] == target
    assert ended["completed_at"]


def test_pages_use_free_slots_but_leave_one_for_single_scans(home: Member) -> None:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    audit = created(home, {"pages": pages(9), "types": ["seo", "security"]})
    # The first page goes ahead, because the others share its evidence of the origin.
    assert (running_visits(home.organization.id), used(home)) == (1, 2)
    assert visit(home)
    assert (running_visits(home.organization.id), used(home)) == (3, 8)
    for _ in range(8):
        assert running_visits(home.organization.id) <= 3
        assert visit(home)
    assert visit(home) is None
    ended = shown(home, audit)
    assert (ended["status"], ended["pages"]["done"], ended["scans"]["done"], used(home)) == ("completed", 9, 18, 18)
    assert [each["url"] for each in shown(home, audit, "/pages?limit=100")["pages"]] == pages(9)


def test_same_finding_on_several_pages_is_one_finding(home: Member) -> None:
    Tier.objects.update(pages_per_audit=100)
    audit = created(home, {"pages": pages(7), "types": ["seo"]})
    while visit(home):
        pass
    found = shown(home, audit, "/findings")
    assert [(each["check"], each["pages_affected"]) for each in found["findings"]] == [("meh", 7), ("bad", 7)]
    meh = found["findings"][0]
    assert (meh["points"], meh["severity"], meh["status"], len(meh["sample_pages"])) == (1.5, "low", "warn", 5)
    assert [each["url"] for each in meh["sample_pages"]] == pages(5)
    assert shown(home, audit, "/findings?type=security")["findings"] == []


def test_audit_stops_when_the_quota_is_used_up(home: Member) -> None:
    Tier.objects.update(scans_per_month=10, pages_per_audit=100)
    audit = created(home, {"pages": pages(3), "types": ["seo", "security"]})
    MonthlyUsage.objects.update(used=7)  # used by other scans
    while visit(home):
        pass
    ended = shown(home, audit)
    assert (ended["status"], ended["error"]["code"], used(home)) == ("partial", "QUOTA_EXCEEDED", 9)
    assert ended["pages"] == {"found": 3, "planned": 2, "done": 2, "failed": 0}
    assert ended["error"]["message"].startswith("1 page was not checked.")


def test_audit_beyond_the_remaining_quota_is_refused(home: Member) -> None:
    Tier.objects.update(scans_per_month=5, pages_per_audit=100)
    response = home.api.post("/v1/audits", {"pages": pages(3), "types": ["seo", "security"]})
    assert (response.status_code, response.json()["code"]) == (429, "QUOTA_EXCEEDED")
    assert "6 scans, and 5 are left" in response.json()["error"]
    assert not Audit.objects.exists()


def test_waiting_pages_of_a_cancelled_audit_do_not_begin(home: Member) -> None:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    audit = created(home, {"pages": pages(9), "types": ["seo", "security"]})
    assert visit(home)
    waiting = Scan.objects.visits().filter(status="queued").first()
    assert waiting
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim
    answer = home.api.delete(f"/v1/audits/{audit['id']}")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["completed_at"] is not None) == ("cancelled", True)
    assert (running_visits(home.organization.id), used(home)) == (1, 4)
    scans = {ScanType(each.type): each for each in Scan.objects.of_visit(claim.scan_id)}
    assert finish_scan(claim, *(make_result(scans[each]) for each in claim.types))
    assert dispatch_pages(home.organization.id) == 0
    ended = shown(home, audit)
    assert (ended["status"], ended["pages"]["done"], used(home)) == ("cancelled", 2, 4)
    assert home.api.delete(f"/v1/audits/{audit['id']}").json()["status"] == "cancelled"
    assert set(AuditPage.objects.values_list("status", flat=True)) == {"done", "failed", "left_out"}


def test_audit_fails_if_no_page_can_be_scanned(home: Member) -> None:
    audit = created(home, {"pages": pages(2), "types": ["seo"]})
    error = ScanError("TARGET_STATUS", "The page answers with status 404.")
    while visit(home, status="failed", score=None, grade=None, categories=(), error=error):
        pass
    ended = shown(home, audit)
    assert (ended["status"], ended["pages"]["failed"]) == ("failed", 2)
    assert ended["error"] == {
        "code": "TARGET_STATUS",
        "message": "No page could be judged. The page answers with status 404.",
    }
    assert AuditFinding.objects.count() == 0


def test_sweeper_resumes_pages_whose_message_was_lost(home: Member) -> None:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    created(home, {"pages": pages(4), "types": ["seo"]})
    waiting = Scan.objects.visits().get(status="queued")
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim
    assert finish_scan(claim, make_result(waiting))
    # The worker died before it released other pages into the slots.
    assert running_visits(home.organization.id) == 0
    sweep_audits()
    assert running_visits(home.organization.id) == 3


def test_number_of_discoveries_is_limited_even_if_they_are_cancelled(home: Member, target: str) -> None:
    Tier.objects.update(concurrent_scans=1)
    for _ in range(10):
        audit = created(home, {"site": target})
        home.api.delete(f"/v1/audits/{audit['id']}")
    response = home.api.post("/v1/audits", {"site": target})
    assert (response.status_code, response.json()["code"]) == (429, "CONCURRENT_LIMIT")
    created(home, {"page": target})


def test_organizations_of_one_owner_share_the_discovery_limit(home: Member, stranger: Member, target: str) -> None:
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
        created(home, {"pages": pages(1)})
    response = home.api.post("/v1/audits", {"pages": pages(1)})
    assert (response.status_code, response.json()["code"]) == (429, "CONCURRENT_LIMIT")
    assert "5 audits are in progress" in response.json()["error"]
