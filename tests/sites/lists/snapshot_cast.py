"""Snapshots for tests: runs of lists with their results and counts, counted independently of the service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from sites.models import ListCount, ListEntry, ListResult, ListRun, ListShare, SiteList
from sites.models.site_list import ListCounts
from tests.sites.lists.cast import make_entries
from tests.sites.lists.cast import make_list as make_list
from website_scan.scoring import mean_grade

CHECKS = ("https-available", "http-to-https-redirect", "hsts", "title")


@dataclass(frozen=True)
class Looked:
    """Site of a snapshot: its scores by type, and a letter for each check. A site without scores has failed."""

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
    sites: Sequence[Looked],
    *,
    checks: Sequence[str] = CHECKS,
    at: datetime | None = None,
    **columns: Any,
) -> ListRun:
    """Create a run that has ended, with an entry for each address that the list does not have yet."""
    at = at or timezone.now()
    judged = sum(bool(each.scores) for each in sites)
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
    known = {each.url: each for each in site_list.entries.all()}
    new = [{"url": each.url, "tags": list(each.tags)} for each in sites if each.url not in known]
    known |= {each.url: each for each in make_entries(site_list, new)}
    ListResult.objects.bulk_create(_result(run, number, each, known[each.url]) for number, each in enumerate(sites))
    tags = {tag for each in sites for tag in each.tags}
    for tag in ("", *tags):
        counts = counted(run, [each for each in sites if not tag or tag in each.tags])
        ListCount.objects.create(run=run, tag=tag, data=counts)
    return run


def counted(run: ListRun, sites: Sequence[Looked]) -> ListCounts:
    judged = [each for each in sites if each.scores]
    checks = {check: [0, 0, 0] for check in run.checks}
    for each in judged:
        for check, letter in zip(run.checks, each.letters, strict=False):
            if letter != "-":
                checks[check]["fwp".index(letter)] += 1
    scored = {type: [each for each in judged if type in each.scores] for type in run.types}
    return {
        "sites": len(sites),
        "judged": len(judged),
        "scores": {type: dict(Counter(str(each.scores[type]) for each in those)) for type, those in scored.items()},
        "grades": {type: dict(Counter(each.grade(type) for each in those)) for type, those in scored.items()},
        "checks": {check: numbers for check, numbers in checks.items() if any(numbers)},
    }


def share_of(site_list: SiteList, run: ListRun | None = None, *, has_table: bool = False) -> ListShare:
    return ListShare.objects.create(site_list=site_list, run=run, has_table=has_table)


def _result(run: ListRun, number: int, site: Looked, entry: ListEntry) -> ListResult:
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
