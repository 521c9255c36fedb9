"""Helpers that run lists in the test process: entries on fictitious hosts, a resolver, and a scripted worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.audits.dispatch import dispatch_pages
from sites.lists import counting, runs, starting
from sites.models import ListEntry, ListResult, ListRun, SiteList
from tests.factories import Member, make_result
from tests.results import check_of
from website_scan.findings import HIGH, ScanType, Severity
from website_scan.net.deadline import Deadline
from website_scan.net.errors import NotReachable
from website_scan.result import CategoryResult, CheckResult, CheckStatus, ScanError, ScanResult
from website_scan.run import failed_result
from website_scan.scoring import mean_grade

UNREACHABLE = ScanError("URL_NOT_REACHABLE", "The site did not answer.")


def listed(member: Member, number: int = 3, *, tags: Sequence[str] = (), **columns: Any) -> SiteList:
    """Create a list with entries `https://site-0.example.com/`, `site-1` and so on, all due at once in a run."""
    values = {"name": "Towns", "types": ["security"], "window_hours": 0, "entries_count": number}
    made = SiteList.objects.create(organization=member.organization, **values | columns)
    hosts = [f"site-{each}.example.com" for each in range(number)]
    ListEntry.objects.bulk_create(
        ListEntry(site_list=made, url=f"https://{host}/", host=host, tags=list(tags)) for host in hosts
    )
    return made


def entry_of(site_list: SiteList, number: int) -> ListEntry:
    return site_list.entries.get(host=f"site-{number}.example.com")


def address_of(number: int) -> str:
    """Return another public IP address for each number."""
    return f"93.184.{number // 250}.{number % 250 + 1}"


class Names:
    """Resolver with fixed IP addresses; other hosts get one address each, an empty list means no address."""

    def __init__(self, addresses: Mapping[str, Sequence[str]] | None = None) -> None:
        self._addresses = dict(addresses or {})
        self.asked: list[str] = []

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        self.asked.append(host)
        found = self._addresses.setdefault(host, [address_of(10_000 + len(self._addresses))])
        if not found:
            raise NotReachable(f"{host} does not resolve to an address.")
        return tuple(found)


def check(id: str, status: CheckStatus = "fail", severity: Severity = HIGH, **columns: Any) -> CheckResult:
    """Return a check with this status."""
    shown = None if status == "pass" else severity
    return check_of(id, id.title(), f"{id} found", status, shown, severity, f"It is {id}.", "Mend it.", **columns)


Found = tuple[int, Sequence[CheckResult]] | ScanError


class Script:
    """Substitute for a worker: finishes visits with the score and checks, or the error, returned by `found`."""

    def __init__(self, found: Callable[[Scan], Found], names: Names | None = None, **columns: Any) -> None:
        self._found, self._columns = found, columns
        self.names = names or Names()
        self.visited: list[str] = []

    def start(self, site_list: SiteList, now: datetime | None = None) -> int:
        return starting.start_entries(site_list.organization_id, now or timezone.now(), resolver=self.names)

    def visit(self, organization_id: int) -> str | None:
        """Finish one queued visit; return the URL of its page."""
        waiting = Scan.objects.visits().filter(organization=organization_id, status="queued").order_by("created_at")
        scan = waiting.first()
        if scan is None:
            return None
        claim = claim_scan(scan.id)
        assert claim is not None
        scans = {ScanType(each.type): each for each in Scan.objects.of_visit(claim.scan_id)}
        assert finish_scan(claim, *(self._result(scans[each]) for each in claim.types))
        dispatch_pages(organization_id)
        self.visited.append(scan.url)
        return scan.url

    def work_off(self, site_list: SiteList, now: datetime | None = None) -> None:
        """Start, visit and count until all results of the list are finished."""
        now = now or timezone.now()
        while self.start(site_list, now) or self.visit(site_list.organization_id):
            pass
        counting.count_missed(now, lambda: True)

    def run(self, site_list: SiteList, now: datetime | None = None) -> ListRun:
        """Begin a run of a list and complete it."""
        run = runs.begin_run(list_id=site_list.id)
        self.work_off(site_list, now)
        run.refresh_from_db()
        return run

    def _result(self, scan: Scan) -> ScanResult:
        found = self._found(scan)
        if isinstance(found, ScanError):
            return failed_result(ScanType(scan.type), scan.url, datetime.now(UTC), found)
        score, checks = found
        values: dict[str, Any] = {
            "categories": (CategoryResult("things", "Things", 10, tuple(checks), score),) if checks else (),
            "score": score,
            "grade": mean_grade(score, is_flawless=False),
        }
        return make_result(scan, **values | self._columns)


def usual(scan: Scan) -> Found:
    """Return one passed and one failed check."""
    return 80, [check("hsts"), check("caa", "warn"), check("https-available", "pass")]


def scored(score: int) -> Callable[[Scan], Found]:
    """Return a scripted result with a score and one failed check."""
    return lambda _: (score, [check("hsts")])


def statuses(run: ListRun) -> list[str]:
    """Return the statuses of a run's results in the order of its entries' hosts."""
    rows = ListResult.objects.filter(run=run).values_list("url", "status")
    return [status for _, status in sorted((urlsplit(url).netloc, status) for url, status in rows)]


HOUR = timedelta(hours=1)
