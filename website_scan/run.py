"""One visit: `scan()` plans, gathers evidence, has each scan type judge it and combines the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from website_scan.browser.visit import Browser
from website_scan.catalogue import catalogue_version
from website_scan.findings import ScanType
from website_scan.gathering import Gathering
from website_scan.judging import Judgement
from website_scan.kept_evidence import KeptEvidence
from website_scan.net.client import Network
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.plan import Plan
from website_scan.result import Budget, Checked, Phase, Progress, ScanError, ScanResult


def scan(  # noqa: PLR0913 -- the library's entry: three arguments, and five for whoever needs them
    target: Target,
    types: Iterable[ScanType],
    network: Network,
    budget: Budget,
    progress: Callable[[Progress], None] = lambda _: None,
    browser: Browser | None = None,
    shared: KeptEvidence | None = None,
    admit: Callable[[Page], None] = lambda _: None,
) -> tuple[ScanResult, ...]:
    """Visit one page and judge it for these types. Results are in the order of `types`; `browser` may be None.

    Never raises for anything the site does. Evidence is gathered concurrently, once for all types, and only if a check
    of one of them needs it. Evidence of the origin that an earlier visit stored in `shared` is not gathered again. If a
    probe fails, its checks "could not run" (`partial`); if the page can't be loaded, or `admit` raises a Refusal for
    it, the scan is `failed`.
    """
    wanted = tuple(dict.fromkeys(types))
    started_at = datetime.now(UTC)
    visit = Gathering(target, wanted, network, budget, started_at, browser, shared, admit)
    told = _Told(visit.plans, progress)
    told.tell(2, "connecting")
    visit.collect(lambda done: told.tell(10 + int(60 * done), "collecting"))
    results = []
    for scan_type in wanted:
        judgement = Judgement(
            target,
            scan_type,
            visit.plans[scan_type],
            visit.evidence_for(scan_type),
            visit.remaining_s,
            visit.shared_since(scan_type),
        )
        error = visit.errors.get(scan_type) or judgement.judge(lambda done, of=scan_type: told.check(of, done))  # type: ignore[misc]  # one argument
        told.check(scan_type, len(judgement.results) if error is None else 0)
        results.append(judgement.result(error))
    told.tell(100, "done")
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
class _Told:
    """Reporter of progress that never goes backwards."""

    plans: Mapping[ScanType, Plan]
    progress: Callable[[Progress], None]
    percent: int = 0
    checked: dict[ScanType, int] = field(default_factory=dict)

    def check(self, scan_type: ScanType, done: int) -> None:
        self.checked[scan_type] = done
        total = sum(len(each.checks) for each in self.plans.values())
        self.tell(70 + 29 * sum(self.checked.values()) // total, "checking")

    def tell(self, percent: int, phase: Phase) -> None:
        self.percent = max(self.percent, percent)
        checks = {
            scan_type: Checked(self.checked.get(scan_type, 0), len(plan.checks))
            for scan_type, plan in self.plans.items()
        }
        self.progress(Progress(self.percent, phase, checks))
