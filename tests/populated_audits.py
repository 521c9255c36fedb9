"""Audits in every state, created by the service's own functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from accounts.usage import month_of
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.audits.services import add_pages
from sites.models import Audit, AuditPage
from tests.factories import Member, make_result
from tests.results import Named, check_of, elements
from website_scan.findings import CRITICAL, HIGH, ScanType
from website_scan.result import ScanError, ScanResult

TYPES = [str(each) for each in ScanType]
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
    """Create an accepted audit; a site's discovery has not begun."""
    values = {"kind": "page", "url": SITE, "types": TYPES, "max_pages": 1} | columns
    return Audit.objects.create(organization=member.organization, api_key=member.key, **values)


def make_pages(audit: Audit, urls: Sequence[str]) -> list[AuditPage]:
    """Add found pages to an audit; they wait."""
    add_pages(audit, [(url, url.rpartition("/")[0]) for url in urls])
    audit.save()
    return list(AuditPage.objects.filter(audit=audit).order_by("position"))


def release(page: AuditPage, at: datetime) -> list[Scan]:
    """Release a page; return its queued scans, of which the first leads."""
    audit = page.audit
    AuditPage.objects.filter(id=page.id).update(status="released")
    Audit.objects.filter(id=audit.id).update(released_at=at, started_at=at)
    made: list[Scan] = []
    for each in audit.types:
        lead = made[0] if made else None
        made.append(
            Scan.objects.create(
                organization=audit.organization,
                type=each,
                url=page.url,
                audit_page=page,
                lead=lead,
                is_background=audit.is_background,
                created_at=at,
                period=month_of(at),
            )
        )
    return made


def look_at(page: AuditPage, at: datetime, results: Mapping[str, ScanResult] | None = None, **columns: Any) -> None:
    """Release a page and finish its visit, with these results or the tests' usual small ones."""
    scans = release(page, at)
    claim = claim_scan(scans[0].id)
    assert claim is not None
    assert finish_scan(claim, *((results or {}).get(each.type) or make_result(each, **columns) for each in scans))


def furnish_audits(
    home: Member, rows: int, now: datetime, results: Mapping[ScanType, ScanResult] | None
) -> dict[str, str]:
    """Create audits of each kind; return their IDs by name."""
    known = {str(each): result for each, result in (results or {}).items()}
    last_week = now - timedelta(days=7)
    for_page = make_audit(home, created_at=last_week)
    look_at(make_pages(for_page, [SITE])[0], last_week, score=78)
    done = make_audit(home)
    look_at(make_pages(done, [SITE])[0], now - timedelta(minutes=5), known)
    shared = make_audit(home, shared_at=now)
    mixed = {"seo": _failed("seo", SITE), "accessibility": _partial("accessibility", SITE)}
    look_at(make_pages(shared, [SITE])[0], now - timedelta(minutes=9), known | mixed)
    running = make_audit(home, created_at=now)
    scans = release(make_pages(running, [f"{SITE}opening-hours"])[0], now)
    claim_scan(scans[0].id)
    Scan.objects.filter(audit_page__audit=running).update(percent=37, phase="collecting")
    waiting = make_audit(home, created_at=now)
    make_pages(waiting, [f"{SITE}waits"])
    failed = make_audit(home)
    look_at(make_pages(failed, [f"{SITE}gone"])[0], now - timedelta(hours=3), **_columns_of_failure())

    site = {"kind": "site", "max_pages": 100, "discover": ["sitemap", "links"]}
    discovering = make_audit(home, **site, created_at=now, status="discovering", pages_found=23)
    pages = [f"{SITE}{path}" for path in PATHS] + [f"{SITE}menu/{n}" for n in range(rows)]
    for_site = make_audit(home, **site, exclude=["*?print=*"], created_at=last_week)
    look_at(make_pages(for_site, [SITE])[0], last_week, score=78)
    whole = make_audit(
        home, **site, exclude=["*?print=*"], notes=["The site has no sitemap.", "robots.txt forbids 3 addresses."]
    )
    found = make_pages(whole, pages)
    for page in found[:-1]:
        look_at(page, now - timedelta(hours=1), known, **_findings(page.position))
    look_at(found[-1], now - timedelta(hours=1), **_columns_of_failure())
    ahead = make_audit(home, **site, created_at=now)
    for page in make_pages(ahead, pages)[:2]:
        look_at(page, now, **_findings(page.position))
    cancelled = make_audit(home, **site, created_at=now - timedelta(hours=5))
    first, *rest = make_pages(cancelled, pages[:5])
    look_at(first, now - timedelta(hours=5))
    AuditPage.objects.filter(id__in=[each.id for each in rest]).update(status="left_out")
    Audit.objects.filter(id=cancelled.id).update(status="cancelled", completed_at=now, pages_planned=1)
    listed = make_audit(home, kind="pages", shared_at=now, types=["security", "seo"], max_pages=2)
    for page in make_pages(listed, pages[:2]):
        look_at(page, now - timedelta(hours=4))
    expired = make_audit(home, created_at=now - timedelta(days=31), status="completed")
    named = {
        "audit": done,
        "shared_audit": shared,
        "running_audit": running,
        "waiting_audit": waiting,
        "failed_audit": failed,
        "discovering_audit": discovering,
        "site_audit": whole,
        "ahead_audit": ahead,
        "cancelled_audit": cancelled,
        "listed_audit": listed,
        "expired_audit": expired,
    }
    report = Scan.objects.get(audit_page=found[0], type="security")
    seen = Scan.objects.get(audit_page__audit=done, type="performance")
    return {f"{name}_id": audit.id for name, audit in named.items()} | {
        "report_of_audit_id": report.id,
        "audit_performance_id": seen.id,
    }


def _columns_of_failure() -> dict[str, Any]:
    return {"status": "failed", "score": None, "grade": None, "categories": (), "error": FAILED}


def _failed(type: str, url: str) -> ScanResult:
    return make_result(Scan(type=type, url=url), **_columns_of_failure())


def _partial(type: str, url: str) -> ScanResult:
    return make_result(Scan(type=type, url=url), "partial")


def _findings(position: int) -> dict[str, Any]:
    """Return a result with a critical failure, and one more fault on every second page, so that they are not on all."""
    result = make_result(Scan(type="seo", url=SITE))
    (category,) = result.categories
    more = check_of(
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
    secret = check_of(
        "exposed-git",
        "Secret thing",
        "The Git repository is public",
        "fail",
        CRITICAL,
        CRITICAL,
        "/.git/config answers with its content.",
        "Deny access to it.",
        [Named("/.git/config")],
    )
    checks = (*category.checks, secret, *([more] if position % 2 else []))
    score = 95 - 7 * (position % 8)
    grade = "A" if score >= 90 else "B" if score >= 80 else "C" if score >= 70 else "D" if score >= 60 else "F"
    return {"categories": (replace(category, checks=checks),), "score": score, "grade": grade}
