"""Scan of one page: `scan()` plans, gathers evidence, lets each scan type judge it and returns the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from website_scan.browser.visit import Browser
from website_scan.catalogue import catalogue_version
from website_scan.evidence_cache import EvidenceCache
from website_scan.findings import ScanType
from website_scan.gathering import Gathering
from website_scan.judging import Judgement
from website_scan.net.client import Network
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.plan import Plan
from website_scan.result import Budget, Checked, Phase, Progress, ScanError, ScanResult


def scan(  # noqa: PLR0913 -- the library's entry point: four arguments are required, four optional
    target: Target,
    types: Iterable[ScanType],
    network: Network,
    budget: Budget,
    progress: Callable[[Progress], None] = lambda _: None,
    browser: Browser | None = None,
    shared: EvidenceCache | None = None,
    accept_page: Callable[[Page], None] = lambda _: None,
) -> tuple[ScanResult, ...]:
    """Visit one page and judge it for these types. Results are in the order of `types`; `browser` may be None.

    Never raises for anything the site does. Evidence is gathered concurrently, once for all types, and only if a check
    of one of the types needs it. Evidence of the origin that an earlier visit stored in `shared` is not gathered again.
    If a probe fails, its checks "could not run" (`partial`); if the page cannot be loaded, or `accept_page` raises a
    Refusal for the page, the scan is `failed`.
    """
    unique_types = tuple(dict.fromkeys(types))
    started_at = datetime.now(UTC)
    visit = Gathering(target, unique_types, network, budget, started_at, browser, shared, accept_page)
    reporter = _ProgressReporter(visit.plans, progress)
    reporter.report(2, "connecting")
    visit.collect(lambda done: reporter.report(10 + int(60 * done), "collecting"))
    results = []
    for scan_type in unique_types:
        judgement = Judgement(
            target,
            scan_type,
            visit.plans[scan_type],
            visit.evidence_for(scan_type),
            visit.remaining_s,
            visit.shared_since(scan_type),
        )
        error = visit.errors.get(scan_type) or judgement.judge(lambda done, of=scan_type: reporter.advance(of, done))  # type: ignore[misc]  # called with one argument
        reporter.advance(scan_type, len(judgement.results) if error is None else 0)
        results.append(judgement.build_result(error))
    reporter.report(100, "done")
    return tuple(results)


def failed_result(scan_type: ScanType, url: str, started_at: datetime, error: ScanError) -> ScanResult:
    """Return the result of a scan that had no visit."""
    return ScanResult(
        type=scan_type,
        url=url,
        status="failed",
        started_at=started_at,
        completed_at=datetime.now(UTC),
        catalogue_version=catalogue_version(scan_type),
        error=error,
    )


@dataclass
class _ProgressReporter:
    """Reporter of a visit's progress, which never decreases."""

    plans: Mapping[ScanType, Plan]
    progress: Callable[[Progress], None]
    percent: int = 0
    checked: dict[ScanType, int] = field(default_factory=dict)  # number of checks that have run

    def advance(self, scan_type: ScanType, done: int) -> None:
        self.checked[scan_type] = done
        total = sum(len(plan.checks) for plan in self.plans.values())
        self.report(70 + 29 * sum(self.checked.values()) // total, "checking")

    def report(self, percent: int, phase: Phase) -> None:
        self.percent = max(self.percent, percent)
        checks = {
            scan_type: Checked(self.checked.get(scan_type, 0), len(plan.checks))
            for scan_type, plan in self.plans.items()
        }
        self.progress(Progress(self.percent, phase, checks))
