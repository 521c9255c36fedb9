"""One scan: `scan()` plans, gathers evidence, judges it and puts the result together."""

from __future__ import annotations

import concurrent.futures
import logging
import time
from collections.abc import Callable, Set
from datetime import UTC, datetime

from config.errors import Refusal
from scans.engine import scoring
from scans.engine.browser.evidence import BrowserLoad
from scans.engine.browser.visit import Browser
from scans.engine.browser.waterfall import waterfall
from scans.engine.catalogue import Category, Check, Probe, caps, catalogue_version
from scans.engine.catalogue import checks as checks_of
from scans.engine.findings import Fail, Finding, Fix, NotApplicable, Pass, ScanType, Server, Warn
from scans.engine.messages import excerpt, plain, plain_item
from scans.engine.page.evidence import Clock, Page, ServedContent
from scans.engine.page.server import server_of
from scans.engine.plan import COMPUTING_S, OUT_OF_TIME, TOO_SLOW, Missing, Plan, arguments, bring, plan
from scans.engine.result import (
    AppliedCap,
    Budget,
    CategoryResult,
    CheckResult,
    OmittedCheck,
    Outcome,
    Phase,
    Progress,
    ScanError,
    ScanResult,
    SkippedCheck,
)
from scans.engine.scoring import Cap
from scans.engine.time_limit import OutOfTime, alarm
from scans.net.client import Network
from scans.net.targets import Target

logger = logging.getLogger(__name__)

# The rest of the time is for judging what was collected: a slow probe must not cost the other checks.
COLLECTING_SHARE = 0.85

# Of one finding; its message counts all of them.
EVIDENCE_ITEMS = 20

NOT_HTML = NotApplicable("The page is not HTML.")
ERROR_PAGE = NotApplicable("The page answers with an error, so its content is not indexed.")
NO_CONTENT = "The page shows no content."
NO_CONTENT_YET = "The page shows no content until its scripts have run, and no browser ran them."
BUSY = "This service was too busy to look at this in time; the fault is ours, not the site's."
INTERNAL = "This part of the scanner failed; the fault is ours, not the site's."


def scan(
    target: Target,
    scan_type: ScanType,
    network: Network,
    budget: Budget,
    progress: Callable[[Progress], None] = lambda _: None,
    browser: Browser | None = None,
) -> ScanResult:
    """Scan one page and judge it, without a browser where there is none. Never raises for anything the site does.

    Evidence is gathered concurrently and only where a check of this type needs it. A probe that fails
    makes its checks "could not run" (`partial`); when the page itself can't be had, the scan is `failed`.
    """
    started_at = datetime.now(UTC)
    run = _Run(target, scan_type, network, budget, progress, started_at, browser)
    error = run.collect()
    if error is None:
        run.judge()
        if not run.results:
            error = _no_check_ran(run.skipped)
    return run.result(error)


def _no_check_ran(skipped: list[SkippedCheck]) -> ScanError:
    reason = skipped[0].reason if skipped else "No check of this type applies to what the site sent."
    return ScanError("NO_CHECK_RAN", f"No check could run. {reason}")


class _Run:
    """The state of one call of `scan()`."""

    def __init__(
        self,
        target: Target,
        scan_type: ScanType,
        network: Network,
        budget: Budget,
        progress: Callable[[Progress], None],
        started_at: datetime,
        browser: Browser | None,
    ) -> None:
        self.target = target
        self.type = scan_type
        self.network = network
        self.budget = budget
        self.started_at = started_at
        self.plan: Plan = plan(scan_type, has_browser=browser is not None)
        self.evidence: dict[type, object] = {
            Target: target,
            Network: network,
            Clock: Clock(started_at),
            ScanType: scan_type,
        }
        if browser is not None:
            self.evidence[Browser] = browser
        self.results: list[tuple[Check, CheckResult]] = []
        self.skipped: list[SkippedCheck] = []
        self._began = time.monotonic()
        self._progress = progress
        self._percent = 0

    def tell(self, percent: int, phase: Phase, checks_done: int = 0) -> None:
        """Report progress, never backwards."""
        self._percent = max(self._percent, percent)
        self._progress(Progress(self._percent, phase, checks_done, len(self.plan.checks)))

    def collect(self) -> ScanError | None:
        """Run the probes in dependency order, concurrently; an error means that there is nothing to judge."""
        self.tell(2, "connecting")
        sorter = self.plan.sorter()
        running: dict[concurrent.futures.Future[object], type] = {}
        pool = concurrent.futures.ThreadPoolExecutor(self.budget.workers, "probe")
        try:
            while sorter.is_active():
                for provides in sorter.get_ready():
                    self._start(pool, running, provides)
                if not running:
                    continue
                done, _ = concurrent.futures.wait(
                    running,
                    timeout=max(0.0, self._remaining_s(COLLECTING_SHARE)),
                    return_when=concurrent.futures.FIRST_COMPLETED,
                )
                if not done:
                    return self._give_up(running)
                for future in done:
                    provides = running.pop(future)
                    self.evidence[provides] = value = _outcome(self.plan.probes[provides], future)
                    if isinstance(value, ScanError):
                        return value
                    sorter.done(provides)
                known = sum(1 for each in self.plan.probes if each in self.evidence)
                self.tell(10 + 60 * known // len(self.plan.probes), "collecting")
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return None

    def _start(
        self,
        pool: concurrent.futures.Executor,
        running: dict[concurrent.futures.Future[object], type],
        provides: type,
    ) -> None:
        probe = self.plan.probes[provides]
        values = arguments(probe.needs, self.evidence)
        future: concurrent.futures.Future[object]
        if isinstance(values, Missing):
            future = concurrent.futures.Future()
            future.set_result(values)
        else:
            # A little longer than the scan waits for it, which has the better words.
            seconds = max(0.0, self._remaining_s(COLLECTING_SHARE)) + 1
            future = pool.submit(bring, probe, values, seconds)
        running[future] = provides

    def _give_up(self, running: dict[concurrent.futures.Future[object], type]) -> ScanError | None:
        self.network.close()
        for provides in self.plan.probes:
            self.evidence.setdefault(provides, Missing(OUT_OF_TIME))
        if any(self.plan.probes[provides].essential for provides in running.values()):
            limit = f"{self.budget.time_limit_s * COLLECTING_SHARE:.3g}"
            return ScanError("TIMEOUT", f"The page was not loaded within {limit} seconds.")
        return None

    def judge(self) -> None:
        """Run the checks, one after the other: they are pure, so their order does not matter.

        Each may take half of the time that is left, so that a slow one does not cost the others.
        """
        total = len(self.plan.checks)
        for done, each in enumerate(self.plan.checks):
            self.tell(70 + 29 * done // total, "checking", done)
            outcome = self._judge_one(each)
            if isinstance(outcome, CheckResult):
                self.results.append((each, outcome))
            elif outcome is not None:
                self.skipped.append(SkippedCheck(each.id, each.name, outcome.reason))

    def _judge_one(self, each: Check) -> CheckResult | Missing | None:
        if self._remaining_s() <= 0:
            return Missing(OUT_OF_TIME)
        limit_s = self._remaining_s() / 2
        began_s = time.thread_time()
        try:
            with alarm(limit_s, COMPUTING_S):
                finding = self._finding(each)
        except OutOfTime:
            # Whose processor time it was tells whose fault it is.
            return Missing(TOO_SLOW if time.thread_time() - began_s > min(COMPUTING_S, limit_s / 2) else BUSY)
        except Refusal as refusal:  # the evidence says by name why it is not enough
            return Missing(str(refusal))
        except Exception:
            logger.exception("check %s failed on %s", each.id, self.target.url)
            return Missing(INTERNAL)
        match finding:
            case Missing():
                return finding
            case NotApplicable():
                return None
            case Pass():
                status, severity, fix = "pass", None, None
            case Warn() | Fail():
                status = "warn" if isinstance(finding, Warn) else "fail"
                severity = finding.severity or each.severity
                fix = finding.fix or each.fix
                fix = fix.for_server(self._server) if isinstance(fix, Fix) else fix
        return CheckResult(
            id=each.id,
            name=each.name,
            title=each.name if status == "pass" else each.found,
            status=status,  # type: ignore[arg-type]  # one of the three literals above
            severity=severity,
            declared_severity=each.severity,
            message=plain(finding.message),
            fix=fix,
            evidence=tuple(plain_item(each) for each in finding.evidence[:EVIDENCE_ITEMS]),
            references=each.references,
            credit=finding.credit,
            weighs=not isinstance(finding, Warn) or finding.weighs,
            covers_category=isinstance(finding, Fail) and finding.covers_category,
        )

    def _finding(self, each: Check) -> Finding | Missing:
        """What the scan type's second judge says, else the check itself, if there is the evidence for it."""
        page = self.evidence.get(Page)
        if isinstance(page, Page) and each.html and not page.is_html:
            return NOT_HTML
        if isinstance(page, Page) and not each.error_pages and page.response.status >= 400:
            return ERROR_PAGE
        if each.verdict is not None:
            needs = arguments(each.verdict.needs, self.evidence)
            if not isinstance(needs, Missing) and (verdict := each.verdict.function(each, **needs)) is not None:
                return verdict
        values = arguments(each.needs, self.evidence)
        if isinstance(values, Missing):
            return values
        # Nothing to find fault with is not the same as nothing wrong.
        return Missing(self._unseen) if each.content and self._unseen else each.function(**values)

    @property
    def _server(self) -> Server | None:
        page = self.evidence.get(Page)
        return server_of(page.headers) if isinstance(page, Page) else None

    @property
    def _seen(self) -> BrowserLoad | None:
        """What the browser saw; None where there was none, or it failed."""
        found = self.evidence.get(BrowserLoad)
        return found if isinstance(found, BrowserLoad) else None

    @property
    def _is_static(self) -> bool:
        return self._seen is None

    @property
    def _unseen(self) -> str:
        """Why nobody saw what the page shows; empty where its markup shows something, or a browser looked at it."""
        served = self.evidence.get(ServedContent)
        if not isinstance(served, ServedContent) or not served.is_blank:
            return ""
        seen = self._seen
        if seen is not None and (seen.axe if self.type is ScanType.ACCESSIBILITY else seen.layout) is not None:
            return ""
        return NO_CONTENT_YET if served.has_scripts else NO_CONTENT

    def result(self, error: ScanError | None) -> ScanResult:
        """Score what ran and put everything together."""
        outcome: Outcome = "failed" if error else "partial" if self.skipped else "completed"
        score = None if error else scoring.score(self._categories(), self._caps())
        seen = None if error else self._seen
        completed_at = datetime.now(UTC)
        self.tell(100, "done", len(self.plan.checks) - len(self.skipped))
        return ScanResult(
            type=self.type,
            url=self.target.url,
            status=outcome,
            started_at=self.started_at,
            completed_at=completed_at,
            catalogue_version=catalogue_version(self.type),
            score=score.value if score else None,
            grade=score.grade if score else None,
            categories=score.categories if score else (),
            skipped_checks=() if error else tuple(self.skipped),
            caps=tuple(AppliedCap(cap.limit, cap.reason) for cap in score.held) if score else (),
            browser=(seen.product or None) if seen else None,
            omitted_checks=() if error else self._omitted(),
            error=error,
            facts=self._facts(completed_at),
            screenshot=seen.screenshot if seen else None,
            waterfall=waterfall(seen.first) if seen and self.type is ScanType.PERFORMANCE else None,
        )

    def _categories(self) -> list[CategoryResult]:
        grouped: dict[str, list[CheckResult]] = {}
        categories = {each.category_id: each.category for each, _ in self.results}
        for each, check_result in self.results:
            grouped.setdefault(each.category_id, []).append(check_result)
        return [
            CategoryResult(
                id,
                categories[id].name,
                self._weight(categories[id]),
                tuple(check_results),
                absent_weight=self._absent_weight(id, {result.id for result in check_results}),
            )
            for id, check_results in grouped.items()
        ]

    def _absent_weight(self, category_id: str, judged: Set[str]) -> int:
        """What the planned checks of a category weigh that said nothing."""
        planned = [each for each in self.plan.checks if each.category_id == category_id]
        return sum(scoring.SEVERITY_WEIGHT[each.severity] for each in planned if each.id not in judged)

    def _omitted(self) -> tuple[OmittedCheck, ...]:
        planned = set(self.plan.checks)
        return tuple(OmittedCheck(each.id, each.name) for each in checks_of(self.type) if each not in planned)

    def _weight(self, category: Category) -> int:
        if self._is_static and category.static_weight is not None:
            return category.static_weight
        return category.weight

    def _caps(self) -> tuple[Cap, ...]:
        return tuple(
            cap
            for cap in caps(self.type)
            if (self._is_static or not cap.is_static) and (self._unseen or not cap.is_unseen)
        )

    def _facts(self, completed_at: datetime) -> dict[str, str | int | float]:
        facts: dict[str, str | int | float] = {"duration_s": round((completed_at - self.started_at).total_seconds(), 3)}
        page = self.evidence.get(Page)
        if isinstance(page, Page):
            facts |= {
                "final_url": page.target.url,
                "status": page.response.status,
                "address": page.response.address,
                "redirects": len(page.hops) - 1,
                "document_bytes": len(page.response.body),
            }
        if isinstance(page, Page) and not page.is_html and any(each.html for each in self.plan.checks):
            kind = f" but {excerpt(page.media_type, 60)}" if page.media_type else ""
            facts["notice"] = f"The page is not HTML{kind}, so the checks of HTML do not apply."
        if self._unseen:
            facts["notice"] = f"{self._unseen} What depends on its content was not judged."
        facts |= {"checks_planned": len(self.plan.checks), "checks_known": len(checks_of(self.type))}
        if self._seen is not None and self._seen.product:
            facts["browser"] = self._seen.product
            if self._seen.axe is not None:
                facts["axe_core"] = self._seen.axe.version
                if self._seen.axe.frames_left_out:
                    facts["frames_not_judged"] = self._seen.axe.frames_left_out
            if self._seen.console_errors:
                facts["console_errors"] = len(self._seen.console_errors)
        return facts

    def _remaining_s(self, share: float = 1.0) -> float:
        return self.budget.time_limit_s * share - (time.monotonic() - self._began)


def _outcome(probe: Probe, future: concurrent.futures.Future[object]) -> object:
    """A finished probe's evidence, `Missing` where it failed, `ScanError` where the scan fails with it."""
    try:
        value = future.result()
    except Refusal as refusal:
        if probe.essential:
            return ScanError(refusal.code, str(refusal))
        return Missing(str(refusal))
    except Exception:
        logger.exception("probe %s failed", probe.name)
        if probe.essential:
            return ScanError("INTERNAL_ERROR", INTERNAL)
        return Missing(INTERNAL)
    return ScanError("TIMEOUT", value.reason) if isinstance(value, Missing) and probe.essential else value
