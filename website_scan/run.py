"""Scan of one page for one or more scan types.

It gathers evidence, runs the checks and computes the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from msgspec import Struct, field
from msgspec.structs import replace

from website_scan.browser.visit import Browser
from website_scan.catalogue import catalogue_version
from website_scan.errors import Refusal
from website_scan.evidence_cache import EvidenceCache
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import ScanType
from website_scan.gathering import Gathering
from website_scan.judging import Judgement
from website_scan.net.client import Network
from website_scan.net.errors import TooManyRedirects
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.plan import Plan
from website_scan.result import Budget, Checked, Phase, Progress, ScanError, ScanResult
from website_scan.security_categories import Categories
from website_scan.viewing import Viewing


def scan(  # noqa: PLR0913 -- the library's entry point: four arguments are required, seven optional
    target: Target,
    types: Iterable[ScanType],
    network: Network,
    budget: Budget,
    progress: Callable[[Progress], None] = lambda _: None,
    browser: Browser | None = None,
    shared: EvidenceCache | None = None,
    accept_page: Callable[[Page], None] = lambda _: None,
    viewing: Viewing | None = None,
    extension: Extension = NO_EXTENSION,
    categories: Categories | None = None,
) -> tuple[ScanResult, ...]:
    """Scan one page for these scan types.

    The results are in the order of the types. `browser` may be None. `viewing` is None if nobody has chosen one.
    `extension` has checks to run in addition to those of the catalogue. `categories` are those of security checks that
    are judged, None for all.

    Never raises for anything the site does. Evidence is gathered concurrently, once for all types, and only if a check
    of one of the types needs it. Evidence of the origin that an earlier visit stored in `shared` is not gathered again.
    If a refresh or script of the page leads to another page at once, that page is judged, as after a redirect. If a
    probe fails, its checks "could not run" (`partial`); if the page cannot be loaded, or `accept_page` raises a
    Refusal for the page, the scan is `failed`.
    """
    unique_types = tuple(dict.fromkeys(types))
    started_at = datetime.now(UTC)

    def gathering(page: Target, page_types: tuple[ScanType, ...], time_limit_s: float) -> Gathering:
        limits = replace(budget, time_limit_s=time_limit_s)
        return Gathering(
            page,
            page_types,
            network,
            limits,
            started_at,
            browser,
            shared,
            accept_page,
            viewing or Viewing(),
            extension,
            categories,
            follows_scripts=page is target,
        )

    first = gathering(target, unique_types, budget.time_limit_s)
    reporter = _ProgressReporter(first.plans, progress)
    reporter.report(2, "connecting")
    first.collect(lambda done: reporter.report(10 + int(30 * done), "collecting"))
    visits = dict.fromkeys(unique_types, first)
    if first.leads_to:
        visits |= _follow_lead(first, gathering, lambda done: reporter.report(40 + int(30 * done), "collecting"))
    reporter.report(70, "collecting")
    results = []
    for scan_type in unique_types:
        visit = visits[scan_type]
        judgement = Judgement(
            target,
            scan_type,
            visit.plans[scan_type],
            visit.evidence_for(scan_type),
            visit.remaining_s,
            visit.oldest_reused_at(scan_type),
        )
        error = visit.errors.get(scan_type) or judgement.judge(lambda done, of=scan_type: reporter.advance(of, done))  # type: ignore[misc]  # called with one argument
        reporter.advance(scan_type, len(judgement.results) if error is None else 0)
        results.append(replace(judgement.build_result(error), viewing=viewing))
    reporter.report(100, "done")
    return tuple(results)


def _follow_lead(
    first: Gathering,
    gathering: Callable[[Target, tuple[ScanType, ...], float], Gathering],
    report_progress: Callable[[float], None],
) -> Mapping[ScanType, Gathering]:
    """Gather evidence of the page behind an immediate redirect.

    The first page leads to this page. The result is by scan type.

    The address is refused like that of a redirect. Pages that lead on again are not followed, because nobody knows
    whether that ends: after another refresh, the scan fails; after another script, the markup alone is judged.
    """
    types = tuple(first.leads_to)
    address = next(iter(first.leads_to.values()))
    try:
        second = gathering(first.target.join(address), types, max(0.0, first.remaining_s()))
    except Refusal as refusal:
        first.errors |= dict.fromkeys(types, ScanError(refusal.code, f"The page leads to {address}. {refusal}"))
        return {}
    second.collect(report_progress)
    for scan_type, error in second.errors.items():
        second.errors[scan_type] = ScanError(error.code, f"The page leads to {address}. {error.message}")
    for scan_type, next_address in second.leads_to.items():
        message = f"The page leads to {address}, which leads to {next_address}. Only one of these is followed."
        second.errors.setdefault(scan_type, ScanError(TooManyRedirects.code, message))
    return dict.fromkeys(types, second)


def failed_result(scan_type: ScanType, url: str, started_at: datetime, error: ScanError) -> ScanResult:
    """Return the result of a scan that failed before its visit."""
    return ScanResult(
        type=scan_type,
        url=url,
        status="failed",
        started_at=started_at,
        completed_at=datetime.now(UTC),
        catalogue_version=catalogue_version(scan_type),
        error=error,
    )


class _ProgressReporter(Struct):
    """Reports a visit's progress.

    `checked` is the number of finished checks by scan type.
    """

    plans: Mapping[ScanType, Plan]
    progress: Callable[[Progress], None]
    percent: int = 0
    checked: dict[ScanType, int] = field(default_factory=dict)

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
