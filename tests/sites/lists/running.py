"""Helpers that run lists in the test process.

They have a fake resolver and a fake worker.
"""

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


def make_numbered_list(member: Member, number: int = 3, *, tags: Sequence[str] = (), **columns: Any) -> SiteList:
    """Create a list of numbered sites.

    A run starts entries such as `https://site-0.example.com/` all at once.
    """
    values = {"name": "Towns", "types": ["security"], "window_hours": 0, "entries_count": number}
    site_list = SiteList.objects.create(organization=member.organization, **values | columns)
    hosts = [f"site-{index}.example.com" for index in range(number)]
    ListEntry.objects.bulk_create(
        ListEntry(site_list=site_list, url=f"https://{host}/", host=host, tags=list(tags)) for host in hosts
    )
    return site_list


def get_entry(site_list: SiteList, number: int) -> ListEntry:
    return site_list.entries.get(host=f"site-{number}.example.com")


def make_ip_address(number: int) -> str:
    """Return a different public IP address for each number."""
    return f"93.184.{number // 250}.{number % 250 + 1}"


class Names:
    """Fake resolver with fixed IP addresses.

    An unlisted host gets a new address.

    A host with an empty list has no address.
    """

    def __init__(self, addresses: Mapping[str, Sequence[str]] | None = None) -> None:
        self._addresses = dict(addresses or {})
        self.resolved_hosts: list[str] = []

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        self.resolved_hosts.append(host)
        ip_addresses = self._addresses.setdefault(host, [make_ip_address(10_000 + len(self._addresses))])
        if not ip_addresses:
            raise NotReachable(f"{host} does not resolve to an address.")
        return tuple(ip_addresses)


def make_check(id: str, status: CheckStatus = "fail", severity: Severity = HIGH, **columns: Any) -> CheckResult:
    """Return a check with this status. By default, it has failed."""
    found_severity = None if status == "pass" else severity
    return check_of(
        id, id.title(), f"{id} found", status, found_severity, severity, f"It is {id}.", "Mend it.", **columns
    )


ScriptedResult = tuple[int, Sequence[CheckResult]] | ScanError


class FakeWorker:
    """Fake worker that finishes visits.

    `result_for` returns the score and checks, or the error.
    """

    def __init__(
        self, result_for: Callable[[Scan], ScriptedResult], names: Names | None = None, **columns: Any
    ) -> None:
        self._result_for, self._columns = result_for, columns
        self.names = names or Names()
        self.visited: list[str] = []

    def start_entries(self, site_list: SiteList, now: datetime | None = None) -> int:
        return starting.start_entries(site_list.organization_id, now or timezone.now(), resolver=self.names)

    def visit(self, organization_id: int) -> str | None:
        """Finish one queued visit. Return the URL of its page."""
        waiting = Scan.objects.visits().filter(organization=organization_id, status="queued").order_by("created_at")
        scan = waiting.first()
        if scan is None:
            return None
        claim = claim_scan(scan.id)
        assert claim is not None
        scans = {ScanType(scan.type): scan for scan in Scan.objects.of_visit(claim.scan_id)}
        assert finish_scan(claim, *(self._make_result(scans[scan_type]) for scan_type in claim.types))
        dispatch_pages(organization_id)
        self.visited.append(scan.url)
        return scan.url

    def run_all_work(self, site_list: SiteList, now: datetime | None = None) -> None:
        """Finish all visits, then count the list's results."""
        now = now or timezone.now()
        while self.start_entries(site_list, now) or self.visit(site_list.organization_id):
            pass
        counting.count_missed_results(now, lambda: True)

    def run(self, site_list: SiteList, now: datetime | None = None) -> ListRun:
        """Begin a run of the list and finish all its visits."""
        run = runs.begin_run(list_id=site_list.id)
        self.run_all_work(site_list, now)
        run.refresh_from_db()
        return run

    def _make_result(self, scan: Scan) -> ScanResult:
        result = self._result_for(scan)
        if isinstance(result, ScanError):
            return failed_result(ScanType(scan.type), scan.url, datetime.now(UTC), result)
        score, checks = result
        values: dict[str, Any] = {
            "categories": (CategoryResult("things", "Things", 10, tuple(checks), score),) if checks else (),
            "score": score,
            "grade": mean_grade(score, is_flawless=False),
        }
        return make_result(scan, **values | self._columns)


def usual_result(scan: Scan) -> ScriptedResult:
    """Return the score 80 with a failed, a warned and a passed check."""
    return 80, [make_check("hsts"), make_check("caa", "warn"), make_check("https-available", "pass")]


def result_with_score(score: int) -> Callable[[Scan], ScriptedResult]:
    """Return a function that gives scans one score.

    It also gives them one failed check.
    """
    return lambda _: (score, [make_check("hsts")])


def result_statuses(run: ListRun) -> list[str]:
    """Return the statuses of a run's results, sorted by host."""
    rows = ListResult.objects.filter(run=run).values_list("url", "status")
    return [status for _, status in sorted((urlsplit(url).netloc, status) for url, status in rows)]


HOUR = timedelta(hours=1)
