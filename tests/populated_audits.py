"""Audits in each state, created with the service's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from accounts.usage import month_of
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.audits.services import add_pages
from sites.models import Audit, AuditPage
from tests.factories import Member, make_result
from tests.results import Named, check_of, elements
from website_scan.findings import CRITICAL, HIGH, ScanType
from website_scan.result import ScanError, ScanResult

TYPES = [str(scan_type) for scan_type in ScanType]
SITE = "https://bakery.example.com/"
PATHS = (
    "",
    "bread",
    "bread/rye",
    "bread/sourdough-with-a-long-name-that-somebody-has-thought-of?page=2",
    "order",
    "cakes",
)
FAILED = ScanError("TARGET_STATUS", "The page answers with status 404.")


def make_audit(member: Member, **columns: Any) -> Audit:
    """Create an accepted audit whose discovery has not started."""
    values = {"kind": "page", "url": SITE, "types": TYPES, "max_pages": 1} | columns
    return Audit.objects.create(organization=member.organization, api_key=member.key, **values)


def make_pages(audit: Audit, urls: Sequence[str]) -> list[AuditPage]:
    """Add pages to an audit as if they had been discovered.

    The pages wait for a slot.
    """
    add_pages(audit, [(url, url.rpartition("/")[0]) for url in urls])
    audit.save()
    return list(AuditPage.objects.filter(audit=audit).order_by("position"))


def release(page: AuditPage, at: datetime) -> list[Scan]:
    """Dispatch a page and return its queued scans.

    The first scan is the lead scan.
    """
    audit = page.audit
    AuditPage.objects.filter(id=page.id).update(status="released")
    Audit.objects.filter(id=audit.id).update(released_at=at, started_at=at)
    scans: list[Scan] = []
    for scan_type in audit.types:
        lead = scans[0] if scans else None
        scans.append(
            Scan.objects.create(
                organization=audit.organization,
                type=scan_type,
                url=page.url,
                audit_page=page,
                lead=lead,
                is_background=audit.is_background,
                created_at=at,
                period=month_of(at),
            )
        )
    return scans


def look_at(page: AuditPage, at: datetime, results: Mapping[str, ScanResult] | None = None, **columns: Any) -> None:
    """Dispatch a page and finish its visit.

    The scans have these results, or small default results.
    """
    scans = release(page, at)
    claim = claim_scan(scans[0].id)
    assert claim is not None
    assert finish_scan(claim, *((results or {}).get(scan.type) or make_result(scan, **columns) for scan in scans))


def populate_audits(
    home: Member, rows: int, now: datetime, results: Mapping[ScanType, ScanResult] | None
) -> dict[str, str]:
    """Create audits of each kind and state, and return their IDs by name."""
    results_by_type = {str(scan_type): result for scan_type, result in (results or {}).items()}
    last_week = now - timedelta(days=7)
    page_audit = make_audit(home, created_at=last_week)
    look_at(make_pages(page_audit, [SITE])[0], last_week, score=78)
    done = make_audit(home)
    look_at(make_pages(done, [SITE])[0], now - timedelta(minutes=5), results_by_type)
    shared = make_audit(home, shared_at=now)
    mixed_results = {"seo": _failed_result("seo", SITE), "accessibility": _partial_result("accessibility", SITE)}
    look_at(make_pages(shared, [SITE])[0], now - timedelta(minutes=9), results_by_type | mixed_results)
    running = make_audit(home, created_at=now)
    scans = release(make_pages(running, [f"{SITE}opening-hours"])[0], now)
    claim_scan(scans[0].id)
    Scan.objects.filter(audit_page__audit=running).update(percent=37, phase="collecting")
    waiting = make_audit(home, created_at=now)
    make_pages(waiting, [f"{SITE}waits"])
    failed = make_audit(home)
    look_at(make_pages(failed, [f"{SITE}gone"])[0], now - timedelta(hours=3), **_failed_columns())

    site = {"kind": "site", "max_pages": 100, "discover": ["sitemap", "links"]}
    discovering = make_audit(home, **site, created_at=now, status="discovering", pages_found=23)
    pages = [f"{SITE}{path}" for path in PATHS] + [f"{SITE}menu/{n}" for n in range(rows)]
    earlier_site_audit = make_audit(home, **site, exclude=["*?print=*"], created_at=last_week)
    earlier_results = {type: replace(result, score=78) for type, result in results_by_type.items()}
    look_at(make_pages(earlier_site_audit, [SITE])[0], last_week, earlier_results, score=78)
    whole_site = make_audit(
        home, **site, exclude=["*?print=*"], notes=["The site has no sitemap.", "robots.txt forbids 3 addresses."]
    )
    site_pages = make_pages(whole_site, pages)
    for page in site_pages[:-1]:
        look_at(page, now - timedelta(hours=1), results_by_type, **_findings(page.position))
    look_at(site_pages[-1], now - timedelta(hours=1), **_failed_columns())
    ahead = make_audit(home, **site, created_at=now)
    for page in make_pages(ahead, pages)[:2]:
        look_at(page, now, **_findings(page.position))
    cancelled = make_audit(home, **site, created_at=now - timedelta(hours=5))
    first, *rest = make_pages(cancelled, pages[:5])
    look_at(first, now - timedelta(hours=5))
    AuditPage.objects.filter(id__in=[page.id for page in rest]).update(status="left_out")
    Audit.objects.filter(id=cancelled.id).update(status="cancelled", completed_at=now, pages_planned=1)
    listed = make_audit(home, kind="pages", shared_at=now, types=["security", "seo"], max_pages=2)
    for page in make_pages(listed, pages[:2]):
        look_at(page, now - timedelta(hours=4))
    expired = make_audit(home, created_at=now - timedelta(days=31), status="completed")
    audits_by_name = {
        "audit": done,
        "shared_audit": shared,
        "running_audit": running,
        "waiting_audit": waiting,
        "failed_audit": failed,
        "discovering_audit": discovering,
        "site_audit": whole_site,
        "ahead_audit": ahead,
        "cancelled_audit": cancelled,
        "listed_audit": listed,
        "expired_audit": expired,
    }
    security_scan = Scan.objects.get(audit_page=site_pages[0], type="security")
    performance_scan = Scan.objects.get(audit_page__audit=done, type="performance")
    return {f"{name}_id": audit.id for name, audit in audits_by_name.items()} | {
        "report_of_audit_id": security_scan.id,
        "audit_performance_id": performance_scan.id,
    }


def _failed_columns() -> dict[str, Any]:
    return {"status": "failed", "score": None, "grade": None, "categories": (), "error": FAILED}


def _failed_result(type: str, url: str) -> ScanResult:
    return make_result(Scan(type=type, url=url), **_failed_columns())


def _partial_result(type: str, url: str) -> ScanResult:
    return make_result(Scan(type=type, url=url), "partial")


def _findings(position: int) -> dict[str, Any]:
    """Return a result with a critical failure.

    On every second page, it also has a different fault.
    """
    result = make_result(Scan(type="seo", url=SITE))
    (category,) = result.categories
    finding_of_odd_pages = check_of(
        f"odd-{position % 4}",
        "Odd thing",
        "Images have no text alternative that says what they show",
        "fail",
        HIGH,
        HIGH,
        "3 images have none, such as /rolls.png.",
        "Give each image an alt attribute with what it shows.",
        elements(f"#rolls > img.odd-{position % 4}"),
        (),
        3.5,
    )
    critical_finding = check_of(
        "exposed-git",
        "Secret thing",
        "The Git repository is public",
        "fail",
        CRITICAL,
        CRITICAL,
        "/.git/config answers with its content.",
        "Deny access to it.",
        [Named("/.git/config")],
        consequence="Anyone can download your site's program code and its history, with any passwords saved there.",
    )
    checks = (*category.checks, critical_finding, *([finding_of_odd_pages] if position % 2 else []))
    score = 95 - 7 * (position % 8)
    grade = "A" if score >= 90 else "B" if score >= 80 else "C" if score >= 70 else "D" if score >= 60 else "F"
    return {"categories": (replace(category, checks=checks),), "score": score, "grade": grade}
