"""Site lists in each state.

One has weekly snapshots with changing figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from accounts.models import User
from scans.check_catalogue import entries
from sites.models import ListEntry, ListResult, ListRun, SiteList
from sites.models.site_list import ResultFinding
from tests.factories import Member
from tests.populated_audits import TYPES, look_at, make_audit, make_pages
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, make_share, snapshot
from website_scan.scoring import mean_grade

MIN_SITES = 12
WEEKS = 9
CHECKS = (
    *("https-available", "http-to-https-redirect", "hsts", "csp-present", "security-txt", "tls-legacy-protocols"),
    *("text-compressed", "image-format", "lcp", "image-alt", "color-contrast", "link-name", "title", "sitemap-found"),
)
TAGS = ("north", "south", "clinics", "schools and kindergartens")
NAMES = ("town-hall", "library", "clinic", "school", "museum", "theatre", "water-and-energy-supply", "bücherei")


def site_address(number: int) -> str:
    path = "en/start" if number % 9 == 4 else ""
    name = NAMES[number % len(NAMES)].replace("ü", "ue")
    return f"https://{name}-{number}.{'example.org' if number % 3 else 'example.net'}/{path}"


def status_letters(site: int, age: int) -> str:
    """Return a site's check statuses `age` weeks ago, as letters.

    More checks failed in the past.
    """

    def letter(check: int) -> str:
        position = (site * 7 + check * 11) % 20
        if (site + check) % 17 == 0:
            return "-"
        limit = 3 + check // 2 + age // 2
        return "f" if position < limit else "w" if position == limit else "p"

    return "".join(map(letter, range(len(CHECKS))))


def score(site: int, type: int, age: int) -> int:
    return max(8, 99 - (site * 13 + type * 17) % 55 - (age * (1 + (site + type) % 3) if site % 4 else (8 - age) % 9))


def scanned_site(site: int, age: int) -> SnapshotSite:
    tags = tuple(tag for number, tag in enumerate(TAGS) if (site + number) % 3 == 0)
    if site % 11 == 10 and age < 2:
        return SnapshotSite(site_address(site), tags=tags)
    scores = {type: score(site, number, age) for number, type in enumerate(TYPES)}
    letters = status_letters(site, age)
    columns = {"findings": findings(letters), "severities": {"high": letters.count("f"), "medium": letters.count("w")}}
    return SnapshotSite(site_address(site), scores, letters, tags, columns=columns)


def findings(letters: str) -> list[ResultFinding]:
    result_findings: list[ResultFinding] = []
    for check, letter in zip(CHECKS, letters, strict=True):
        if letter in "fw":
            entry = entries()[check]
            result_findings.append(
                {
                    "type": str(entry.type),
                    "check": check,
                    "status": "fail" if letter == "f" else "warn",
                    "severity": entry.severity,
                    "outcome": entry.outcomes[0].name,
                    "title": entry.found,
                    "message": f"{entry.found}, as a look at the site's first page shows.",
                }
            )
    return result_findings


def populate_lists(home: Member, rows: int, now: datetime, owner: User) -> dict[str, Any]:
    """Create lists in each state, and return their IDs by name."""
    at = now.replace(minute=0, second=0, microsecond=0)
    number = max(rows, MIN_SITES)
    watched = make_list(
        home, name="Municipal sites", types=TYPES, every="week", recipients=[owner.id],
        next_run_at=at + timedelta(days=5), created_at=at - timedelta(weeks=WEEKS), timezone="Europe/Berlin",
    )  # fmt: skip
    runs = [
        snapshot(
            watched, [scanned_site(n, age) for n in range(number - age % 2)], checks=CHECKS,
            at=at - timedelta(days=2) - timedelta(weeks=age),
        )
        for age in reversed(range(WEEKS))
    ]  # fmt: skip
    _update_entries(runs)
    _add_reports(home, runs[-1], at)
    ListRun.objects.filter(id=runs[2].id).update(
        status="partial", left_out=3, error_code="QUOTA_EXCEEDED", error_message="The scans of the month were used up."
    )
    fresh = _create_list_with_sites(
        make_list(home, name="Customers, not judged yet", types=TYPES, window_hours=0), number
    )
    empty = make_list(home, name="Agencies")
    running = _create_list_with_sites(make_list(home, name="Universities", types=TYPES, every="month"), number)
    snapshot(running, [scanned_site(n, 3) for n in range(number)], checks=CHECKS, at=at - timedelta(days=29))
    run = _create_unfinished_run(running, at)
    cancelled = _create_list_with_sites(make_list(home, name="Clinics", types=TYPES[:2], every="quarter"), number)
    snapshot(
        cancelled, [scanned_site(n, 1) for n in range(2)], checks=CHECKS, at=at - timedelta(days=3), status="cancelled",
        left_out=number - 2, entries=number,
    )  # fmt: skip
    _add_single_result(watched, at)
    share = make_share(watched, has_table=True)
    other_share = make_share(watched, runs[-2])
    return {
        "list_id": watched.id,
        "entry_id": watched.entries.order_by("host").values_list("id", flat=True)[0],
        "run_id": runs[-1].id,
        "snapshot_id": runs[-1].id,
        "list_run_before_id": runs[-2].id,
        "fresh_list_id": fresh.id,
        "empty_list_id": empty.id,
        "running_list_id": running.id,
        "running_list_run_id": run.id,
        "cancelled_list_id": cancelled.id,
        "share_id": share.id,
        "other_share_id": other_share.id,
    }


def _add_single_result(site_list: SiteList, at: datetime) -> None:
    """Add a result outside any run for the first site."""
    entry = site_list.entries.earliest("host")
    ListResult.objects.create(
        site_list=site_list, entry=entry, url=entry.url, tags=entry.tags, starts_at=at, ended_at=at, status="done",
        pages=1, seo_score=91, seo_grade="A",
    )  # fmt: skip


def _create_list_with_sites(site_list: SiteList, number: int) -> SiteList:
    sites = [SnapshotSite(site_address(n)) for n in range(number)]
    ListEntry.objects.bulk_create(
        ListEntry(site_list=site_list, url=site.url, host=site.url.split("/")[2]) for site in sites
    )
    site_list.entries_count = number
    site_list.save(update_fields=["entries_count"])
    return site_list


def _update_entries(runs: Sequence[ListRun]) -> None:
    """Set the columns of entries to their values after the last run."""
    previous_results = {result.url: result for result in runs[-2].results.all()}
    history: dict[str, list[int]] = {}
    for run in runs:
        for result in run.results.all():
            if result.security_score is not None:
                mean = sum(result.score_of(type) or 0 for type in TYPES) // len(TYPES)
                history.setdefault(result.url, []).append(mean)
    for result in runs[-1].results.select_related("entry"):
        entry = result.entry
        assert entry is not None
        entry.result, entry.judged_at, entry.tags = result, result.ended_at, result.tags
        entry.history = history.get(entry.url, [])[-ListEntry.HISTORY :]
        entry.state = "judged" if result.status == "done" else "failed"
        entry.error_code, entry.error_message = result.error_code, result.error_message
        entry.note = "Redesign planned" if result.position % 8 == 3 else ""
        entry.moved_to = "new.example.org" if result.position % 13 == 6 else ""
        entry.failing = [check for check, letter in zip(CHECKS, result.statuses, strict=False) if letter == "f"]
        for type in TYPES:
            current_score, previous_result = result.score_of(type), previous_results.get(entry.url)
            if current_score is not None:
                setattr(entry, f"{type}_score", current_score)
                setattr(entry, f"{type}_grade", mean_grade(current_score, is_flawless=False))
                previous_score = previous_result.score_of(type) if previous_result else None
                setattr(entry, f"{type}_change", None if previous_score is None else current_score - previous_score)
        entry.save()


def _add_reports(home: Member, run: ListRun, at: datetime) -> None:
    """Create audits with reports for the first results of a run."""
    for result in run.results.order_by("position")[:3]:
        audit = make_audit(home, run_of="list", url=result.url, created_at=at)
        look_at(make_pages(audit, [result.url])[0], at)
        ListResult.objects.filter(id=result.id).update(audit=audit)


def _create_unfinished_run(site_list: SiteList, at: datetime) -> ListRun:
    """Create a run in which some sites have been judged."""
    entries_by_site = list(site_list.entries.order_by("id"))
    run = ListRun.objects.create(
        site_list=site_list, types=site_list.types, pages_per_entry=1, window_hours=24, entries=len(entries_by_site),
        started_at=at - timedelta(hours=6), done=3, failed=1,
    )  # fmt: skip
    ListResult.objects.bulk_create(
        ListResult(
            site_list=site_list, run=run, entry=entry, position=n, url=entry.url,
            starts_at=run.started_at + timedelta(hours=2 * n),
            status="done" if n < 3 else "failed" if n == 3 else "waiting",
        )
        for n, entry in enumerate(entries_by_site)
    )  # fmt: skip
    return run
