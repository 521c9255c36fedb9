"""Helpers that insert snapshots into the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from msgspec import Struct, field

from sites.lists.conformance_counts import SiteConformance, add_site
from sites.lists.counting import LETTERS
from sites.models import ListCount, ListEntry, ListResult, ListRun, ListShare, SiteList
from sites.models.site_list import ListCounts
from tests.sites.lists.cast import make_entries
from tests.sites.lists.cast import make_list as make_list
from website_scan.scoring import mean_grade

STATUSES = {letter: status for status, letter in LETTERS.items()}
CHECKS = ("https-available", "http-to-https-redirect", "hsts", "title")


class SnapshotSite(Struct, frozen=True):
    """Site in a snapshot.

    `letters` has a status letter for each check. A site without scores has failed.
    """

    url: str
    scores: Mapping[str, int] = field(default_factory=dict)
    letters: str = ""
    tags: tuple[str, ...] = ()
    grades: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def grade(self, type: str) -> str:
        return self.grades.get(type) or mean_grade(self.scores[type], is_flawless=False)


def snapshot(
    site_list: SiteList,
    sites: Sequence[SnapshotSite],
    *,
    checks: Sequence[str] = CHECKS,
    at: datetime | None = None,
    **columns: Any,
) -> ListRun:
    """Create a finished run with these sites.

    Missing entries are added to the list.
    """
    at = at or timezone.now()
    judged = sum(bool(site.scores) for site in sites)
    values: dict[str, Any] = {
        "status": "completed",
        "started_at": at,
        "ended_at": at + timedelta(hours=1),
        "types": site_list.types,
        "pages_per_entry": 1,
        "window_hours": 24,
        "entries": len(sites),
        "done": judged,
        "failed": len(sites) - judged,
        "checks": list(checks),
    }
    run = ListRun.objects.create(site_list=site_list, **values | columns)
    entries_by_url = {entry.url: entry for entry in site_list.entries.all()}
    new = [{"url": site.url, "tags": list(site.tags)} for site in sites if site.url not in entries_by_url]
    entries_by_url |= {entry.url: entry for entry in make_entries(site_list, new)}
    results = ListResult.objects.bulk_create(
        _make_result(run, number, site, entries_by_url[site.url]) for number, site in enumerate(sites)
    )
    tags = {tag for site in sites for tag in site.tags}
    for tag in ("", *tags):
        counts = count_sites(run, [site for site in sites if not tag or tag in site.tags])
        row = ListCount(run=run, tag=tag, data=counts)
        for result in results:
            if result.accessibility_score is not None and (not tag or tag in result.tags):
                statuses = {
                    check: STATUSES[letter]
                    for check, letter in zip(run.checks, result.statuses, strict=False)
                    if letter in STATUSES
                }
                add_site(row.conformance, result.id, SiteConformance.of_statuses(statuses))
        row.save()
    return run


def count_sites(run: ListRun, sites: Sequence[SnapshotSite]) -> ListCounts:
    judged = [site for site in sites if site.scores]
    checks = {check: [0, 0, 0] for check in run.checks}
    for site in judged:
        for check, letter in zip(run.checks, site.letters, strict=False):
            if letter != "-":
                checks[check]["fwp".index(letter)] += 1
    result_with_score = {type: [site for site in judged if type in site.scores] for type in run.types}
    return {
        "sites": len(sites),
        "judged": len(judged),
        "scores": {
            type: dict(Counter(str(site.scores[type]) for site in sites_of_type))
            for type, sites_of_type in result_with_score.items()
        },
        "grades": {
            type: dict(Counter(site.grade(type) for site in sites_of_type))
            for type, sites_of_type in result_with_score.items()
        },
        "checks": {check: numbers for check, numbers in checks.items() if any(numbers)},
    }


def make_share(site_list: SiteList, run: ListRun | None = None, *, has_table: bool = False) -> ListShare:
    return ListShare.objects.create(site_list=site_list, run=run, has_table=has_table)


def _make_result(run: ListRun, number: int, site: SnapshotSite, entry: ListEntry) -> ListResult:
    values: dict[str, Any] = {
        "status": "done" if site.scores else "failed",
        "pages": 1 if site.scores else 0,
        "statuses": site.letters,
        "error_code": "" if site.scores else "TARGET_UNREACHABLE",
        "error_message": "" if site.scores else "The site cannot be reached.",
    }
    for type, score in site.scores.items():
        values |= {f"{type}_score": score, f"{type}_grade": site.grade(type)}
    return ListResult(
        site_list=run.site_list,
        run=run,
        entry=entry,
        position=number,
        starts_at=run.started_at,
        ended_at=run.ended_at,
        url=site.url,
        tags=list(site.tags),
        **values | dict(site.columns),
    )
